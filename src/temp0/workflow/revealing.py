"""Looks into kernels for `temp0 trees`: which ones, in which sizes, and what is kept when it is interrupted.

However it ends, what was found is given back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from temp0.core.tree_record import KernelTrees, Skipped, TreesRecord
from temp0.engine.arithmetic import arithmetic
from temp0.errors import UsageError
from temp0.kernels import usable_cores
from temp0.lab.kernel import KERNELS, Kernel, kernel, prepared_kernel
from temp0.lab.machine import trees_machine
from temp0.lab.sweep import OnSummands, looked_into
from temp0.lab.torch_kernel import TORCH_KERNELS, has_torch, torch_kernel
from temp0.report import tree_sheet as sheet
from temp0.report.tree_group import tree_groups
from temp0.report.tree_schema import trees_json
from temp0.report.tree_screen import trees_terminal

__all__ = [
    "ALL",
    "OPS",
    "Look",
    "look_into",
    "looks",
    "make_folder",
    "trees_json",
    "trees_terminal",
    "write_sheet",
    "write_trees",
]

STOCK = "engine.stock"
OPS = (*KERNELS, STOCK, *TORCH_KERNELS)
ALL = "all"
_MOST_CELLS = 1 << 28
_PYTHON_DTYPE = "float64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One kernel to be looked into, at K = `k` and N = `n`, in batches of each of `batch_sizes`."""

    kernel: Kernel
    k: int
    n: int
    batch_sizes: tuple[int, ...]


def looks(
    ops: Sequence[str],
    *,
    dtypes: Sequence[str] = (),
    ks: Sequence[int],
    ns: Sequence[int],
    batch_sizes: Sequence[int],
    device: str = "cpu",
) -> tuple[tuple[Look, ...], tuple[Skipped, ...]]:
    """Every op in every dtype at every K and N, and what of that cannot be.

    Without `dtypes` each op is taken in its usual one. Raises `UsageError` where nothing is left, or an op has no such
    name, or the arrays would be too large.
    """
    if (cells := max(*ns, *batch_sizes) * max(ks)) > _MOST_CELLS:
        raise UsageError(
            f"a matrix of {cells:,} numbers is asked for, expected at most {_MOST_CELLS:,}; lower -k or -n"
        )
    names = [one for one in OPS if one not in TORCH_KERNELS or has_torch()] if ALL in ops else list(dict.fromkeys(ops))
    found: dict[tuple[str, str, int, int], Look] = {}
    refused: list[tuple[Skipped, UsageError]] = []
    for name in names:
        for dtype in dtypes or (_usual_dtype(name),):
            try:
                one = _kernel(name, dtype, device)
            except UsageError as error:
                refused.append((Skipped(name=name, dtype=dtype, why=str(error)), error))
                continue
            for k, n in product(ks, ns):
                columns = 1 if one.is_sum or one.is_lone else n
                found[name, dtype, k, columns] = Look(kernel=one, k=k, n=columns, batch_sizes=_sizes(one, batch_sizes))
    if not found or (len(refused) == len(names) == 1):
        raise refused[0][1]
    return tuple(found.values()), tuple(skipped for skipped, _ in refused)


def look_into(
    wanted: Sequence[Look],
    skipped: Sequence[Skipped] = (),
    *,
    seed: int = 0,
    on_look: Callable[[Look, int], None] | None = None,
    on_summands: OnSummands | None = None,
) -> TreesRecord:
    """Look into every kernel, batch size after batch size.

    `on_look` is told of each look and batch size before it begins. Ctrl-C ends the looking, not the caller: what was
    found by then is given, with `finished` false.
    """
    found: list[KernelTrees] = []
    finished = True
    try:
        for look in wanted:
            sizes = iter(look.batch_sizes)
            _tell(on_look, look, next(sizes))
            states = looked_into(
                look.kernel, k=look.k, n=look.n, batch_sizes=look.batch_sizes, seed=seed, on_summands=on_summands
            )
            for place, state in enumerate(states):
                found[len(found) - (place > 0) :] = [state]
                _tell(on_look, look, next(sizes, None))
    except KeyboardInterrupt:
        finished = False
    machine = trees_machine(cores=usable_cores())
    return TreesRecord(kernels=tuple(found), machine=machine, skipped=tuple(skipped), finished=finished)


def write_sheet(record: TreesRecord, path: Path) -> None:
    """Write all trees on one SVG sheet. Raises `UsageError` where that cannot be."""
    _write(path, sheet.tree_sheet(record))


def make_folder(folder: Path) -> None:
    """Make the folder that trees will be written into. Raises `UsageError` where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}; name another one") from error


def write_trees(record: TreesRecord, folder: Path) -> list[Path]:
    """Write trees.json, the sheet, and an SVG of each kind of tree into a folder that exists; gives the files."""
    texts = {"trees.json": trees_json(record) + "\n", "trees.svg": sheet.tree_sheet(record)}
    for group in tree_groups(record):
        first = group.kernels[0]
        for kind in group.kinds:
            texts[f"{first.name}-{first.dtype}-{first.k}-{kind.letter}.svg"] = sheet.kind_svg(group, kind)
    for name, text in texts.items():
        _write(folder / name, text)
    return [folder / name for name in texts]


def _kernel(name: str, dtype: str, device: str) -> Kernel:
    if name in TORCH_KERNELS:
        return torch_kernel(name, dtype, device=device)
    if name == STOCK:
        return _stock(dtype)
    if name not in KERNELS:
        raise UsageError(f"op is {name!r}, expected one of: {', '.join(OPS)}")
    return kernel(name, dtype)


def _stock(dtype: str) -> Kernel:
    """The linear of the built-in engine in stock arithmetic, in the layout it chooses by the shape of a weight."""
    if dtype != "float32":
        raise UsageError(f"{STOCK} has no {dtype}: stock arithmetic multiplies in float32")
    stock = arithmetic("stock", activations="fp32", threads=usable_cores())
    return prepared_kernel(STOCK, "float32", stock.linear)


def _usual_dtype(name: str) -> str:
    return _PYTHON_DTYPE if name.startswith("python.") else "float32"


def _sizes(one: Kernel, batch_sizes: Sequence[int]) -> tuple[int, ...]:
    return (1,) if one.is_lone else tuple(dict.fromkeys(batch_sizes))


def _tell(on_look: Callable[[Look, int], None] | None, look: Look, batch_size: int | None) -> None:
    if on_look and batch_size is not None:
        on_look(look, batch_size)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file") from error
