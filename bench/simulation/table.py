"""The tables of docs/measuring.md: what was named on simulated endpoints, and what the intervals held.

A percentage is 0 or 100 only where it is exact; what stands in brackets is its 95 % interval (Clopper-Pearson).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulation.catalogue import SHAPES
from simulation.coverage import INTERVALS, KNOWN, Cover
from simulation.requirement import Finding, tallies
from simulation.scene import Shape
from simulation.tally import Tally, interval, per_cent, total
from simulation.work import Results

BEGIN, END = "<!-- calibration:begin -->", "<!-- calibration:end -->"
PLANTED = ("company", "backend mix", "cache", "order", "observer", "response cache", "sampling")


def percent(count: int, n: int) -> str:
    """A share in whole per cent."""
    return per_cent(count / n, 0)


def cell(count: int, n: int) -> str:
    """A share and its interval."""
    low, high = interval(count, n)
    return f"{percent(count, n)} ({100 * low:.0f}-{100 * high:.0f})"


def page(results: Results, ns: Sequence[int], checked: Sequence[Finding]) -> str:
    """All tables, without the markers."""
    parts = [
        "#### Required\n\n" + _required(checked),
        "#### Chance\n\n" + _chance(results, ns),
        "#### Planted\n\n" + _planted(results, ns),
        "#### Intervals\n\n" + _intervals(results, ns),
    ]
    return "\n\n".join(parts)


def written(document: str, text: str) -> str:
    """The document with the text between its markers.

    Raises:
        ValueError: A marker is missing, or comes twice.

    """
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise ValueError(f"expected {BEGIN} and {END} in the document, each once")
    before, rest = document.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def _rows(header: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _required(checked: Sequence[Finding]) -> str:
    return _rows(
        ("required", "measured", "met"),
        ((one.name, one.measured, "yes" if one.is_met else "**no**") for one in checked),
    )


def _chance(results: Results, ns: Sequence[int]) -> str:
    header = ("what varies", "asked", *(f"another cause found, N = {n}" for n in ns), "named, all N")
    return _rows(header, _chance_rows(results, ns))


def _chance_rows(results: Results, ns: Sequence[int]) -> Iterator[Sequence[str]]:
    for family in ("none", "iid", "strangers", "ambiguous"):
        by_n = [tallies(results, n, family) for n in ns]
        if not any(by_n):
            continue
        for name in by_n[0]:
            truth, _, asked = name.rpartition("; ")
            cells = [cell(cells_of[name].astray, cells_of[name].runs) for cells_of in by_n]
            yield (f"{family}: {truth or name}", asked, *cells, _named(total([one[name] for one in by_n])))


def _named(tally: Tally) -> str:
    """Every cause that was named, with its share of the runs; in brackets where only suspected."""
    shares = sorted(tally.causes.items(), key=lambda item: (-item[1], item[0]))
    told = [
        f"{cause} {percent(count, tally.runs)}" if certainty == "found" else f"({cause} {percent(count, tally.runs)})"
        for (cause, certainty), count in shares
    ]
    return ", ".join(told) or "nothing"


def _planted(results: Results, ns: Sequence[int]) -> str:
    header = (
        "what is so; what is asked",
        "right",
        *(f"found, N = {n}" for n in ns),
        "found or suspected, last N",
        *(f"a wrong one found, N = {n}" for n in ns),
        "called chance, all N",
    )
    return _rows(header, _planted_rows(results, ns))


def _planted_rows(results: Results, ns: Sequence[int]) -> Iterator[Sequence[str]]:
    for place, shape in enumerate(SHAPES):
        cells = [results.tallies[place, n] for n in ns if (place, n) in results.tallies]
        if shape.family not in PLANTED or not cells:
            continue
        right = " or ".join(sorted(cells[0].right_causes)) or "none"
        found = [cell(one.found, one.runs) if one.right_causes else "" for one in cells]
        named = cell(cells[-1].named, cells[-1].runs) if cells[-1].right_causes else ""
        wrong = [cell(one.wrong, one.runs) for one in cells]
        pooled = total(cells)
        yield (_title(shape), right, *found, named, *wrong, percent(pooled.by_chance, pooled.runs))


def _title(shape: Shape) -> str:
    return f"{shape.family}: {shape.name}"


def _intervals(results: Results, ns: Sequence[int]) -> str:
    columns = ("holds", "given", "holds where given", "mean width")
    header = ("endpoint", "interval", *(f"{column}, N = {n}" for n in ns for column in columns))
    return _rows(header, _interval_rows(results, ns))


def _interval_rows(results: Results, ns: Sequence[int]) -> Iterator[Sequence[str]]:
    for place, known in enumerate(KNOWN):
        for name in INTERVALS:
            covers = [results.covers[place, n, name] for n in ns if (place, n, name) in results.covers]
            if covers:
                yield (known.name, name, *(text for cover in covers for text in _covered(cover)))


def _covered(cover: Cover) -> tuple[str, str, str, str]:
    where_given, given = cover.held_where_given, percent(cover.given, cover.runs)
    if where_given is None:
        return per_cent(cover.held), given, "", ""
    return per_cent(cover.held), given, per_cent(where_given), f"{cover.width / cover.given:.3f}"
