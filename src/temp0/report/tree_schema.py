"""Found trees as a JSON document, for programs.

The field names are a contract (docs/trees.md): fields may be added, never renamed. What nobody could find out is
`null`.
"""

from __future__ import annotations

import json

from temp0.core.reduction_tree import ReductionTree
from temp0.core.tree_record import KernelTrees, Places, TreeClass, TreesRecord
from temp0.report.tree_finding import class_words
from temp0.report.tree_place import spans

SCHEMA = "temp0/trees"
VERSION = 1

Fields = dict[str, object]


def trees_document(record: TreesRecord) -> Fields:
    """The JSON document of a record as plain dictionaries, lists, strings and numbers."""
    machine = record.machine
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": record.exit_code,
        "finished": record.finished,
        "machine": {
            "processor": machine.processor,
            "features": list(machine.features),
            "cores": machine.cores,
            "thread_variables": dict(machine.thread_variables),
            "libraries": dict(machine.libraries),
        },
        "kernels": [_kernel(kernel) for kernel in record.kernels],
        "skipped": [{"name": one.name, "dtype": one.dtype, "why": one.why} for one in record.skipped],
    }


def trees_json(record: TreesRecord) -> str:
    """The document as one line of ASCII JSON."""
    return json.dumps(trees_document(record), allow_nan=False)


def _kernel(kernel: KernelTrees) -> Fields:
    return {
        "name": kernel.name,
        "dtype": kernel.dtype,
        "k": kernel.k,
        "n": kernel.n,
        "batch_sizes": list(kernel.batch_sizes),
        "invariant": kernel.is_invariant,
        "mixing": list(kernel.mixing),
        "classes": [tree_class_fields(one) for one in kernel.classes],
    }


def tree_class_fields(one: TreeClass) -> Fields:
    """One class of places that add alike."""
    return {
        "batch_sizes": list(one.batch_sizes),
        "rows": [_places(places) for places in one.places],
        "tree": None if one.tree is None else _tree(one.tree),
        "absence": one.absence,
        "words": class_words(one),
        "replayed": one.replayed,
        "accumulator": one.accumulator,
        "rounded": None if one.rounded is None else list(one.rounded),
        "products": one.products,
        "wide": None if one.wide is None else list(one.wide),
        "replays": one.replays,
        "bits": one.bits,
        "why": one.why,
    }


def _places(places: Places) -> Fields:
    return {
        "batch_size": places.batch_size,
        "rows": [list(span) for span in spans(places.rows)],
        "columns": [list(span) for span in spans(places.columns)],
    }


def _tree(tree: ReductionTree) -> Fields:
    return {"summands": tree.leaves, "depth": tree.depth, "nodes": [list(node) for node in tree.nodes]}
