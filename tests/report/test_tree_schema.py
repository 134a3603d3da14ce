"""The JSON document of trees: exactly the fields of docs/trees.md, and a tree that can be built again from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tree_records as samples
from documented_fields import is_of, leaves

from temp0.core.reduction_tree import reduction_tree
from temp0.core.tree_record import TreesRecord
from temp0.report.tree_schema import trees_document, trees_json

PAGE = (Path(__file__).parents[2] / "docs" / "trees.md").read_text("utf-8")
ROWS = [row.strip("| ").split(" | ") for row in PAGE.split("\n## JSON\n")[1].splitlines() if row.startswith("| `")]
DOCUMENTED = {name.strip("`"): kind for name, kind, *_ in ROWS}
FREE = ("machine.thread_variables.", "machine.libraries.")
MIXING = samples.record(replace(samples.CHANGING, mixing=(4,)))
OTHERS = samples.record(samples.MIXED, samples.UNREPEATABLE)
RECORDS = [samples.WHOLE, samples.record(samples.CHANGING, finished=False), samples.record(), MIXING, OTHERS]


def told(record: TreesRecord) -> list[tuple[str, object]]:
    return [
        (next((prefix + "*" for prefix in FREE if path.startswith(prefix)), path), value)
        for path, value in leaves(trees_document(record), DOCUMENTED)
    ]


@pytest.mark.parametrize("record", RECORDS)
def test_every_field_is_documented_with_its_type(record: TreesRecord) -> None:
    for path, value in told(record):
        assert path in DOCUMENTED, path
        assert is_of(value, DOCUMENTED[path]), (path, value, DOCUMENTED[path])


def test_every_documented_field_occurs() -> None:
    seen = {path for record in RECORDS for path, _ in told(record)}
    assert set(DOCUMENTED) - seen == set()


def test_a_class_has_the_fields_of_the_contract() -> None:
    for kernel in trees_document(samples.WHOLE)["kernels"]:  # type: ignore[attr-defined]
        assert kernel.keys() >= {"name", "dtype", "k", "n", "classes"}
        for one in kernel["classes"]:
            assert one.keys() >= {"batch_sizes", "rows", "tree", "words", "replayed"}


def test_the_tree_can_be_built_again() -> None:
    document = json.loads(trees_json(samples.WHOLE))
    lanes, chains = document["kernels"][0]["classes"]
    for written, tree in ((lanes, samples.LANES), (chains, samples.CHAINS)):
        assert reduction_tree(written["tree"]["summands"], written["tree"]["nodes"]) == tree
        assert written["tree"]["depth"] == tree.depth


def test_places_are_first_and_last_of_each_run() -> None:
    lanes = json.loads(trees_json(samples.WHOLE))["kernels"][0]["classes"][0]
    assert lanes["batch_sizes"] == [1, 5]
    assert lanes["rows"] == [
        {"batch_size": 1, "rows": [[0, 0]], "columns": [[0, 3]]},
        {"batch_size": 5, "rows": [[4, 4]], "columns": [[0, 3]]},
    ]


def test_rows_that_are_apart_are_runs_of_their_own() -> None:
    apart = replace(samples.WIDER, classes=(samples.of(samples.CHAINS, samples.places(9, [0, 1, 2, 5, 8], [7])),))
    (one,) = json.loads(trees_json(samples.record(apart)))["kernels"][0]["classes"]
    assert one["rows"] == [{"batch_size": 9, "rows": [[0, 2], [5, 5], [8, 8]], "columns": [[7, 7]]}]


def test_what_has_no_tree_or_no_replay_is_null_with_the_reason() -> None:
    *_, exact, unreplayed = json.loads(trees_json(samples.WHOLE))["kernels"]
    (one,) = exact["classes"]
    assert (one["tree"], one["replayed"], one["absence"]) == (None, None, "exact")
    assert one["why"]
    (other,) = unreplayed["classes"]
    assert other["tree"] is not None
    assert (other["replayed"], other["why"]) == (None, "odd")


@pytest.mark.parametrize(
    ("record", "code"), [(RECORDS[0], 0), (RECORDS[1], 4), (RECORDS[2], 3), (samples.record(finished=False), 3)]
)
def test_the_exit_code_says_how_far_it_came(record: TreesRecord, code: int) -> None:
    assert trees_document(record)["exit_code"] == code
