"""How often the right cause is named, how often a wrong one, and how often intervals hold: `make calibration`.

Thousands of runs of simulated endpoints whose truth is known are analysed; the same seeds give the same tables.
`--write` puts them into docs/measuring.md. Exit code 0 where everything required is met, else 1.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from simulation import table
from simulation.catalogue import SHAPES
from simulation.requirement import Finding, findings
from simulation.work import Results, hands, results

DOCUMENT = Path(__file__).parent.parent / "docs" / "measuring.md"
RUNS, COVERAGE_RUNS = 42, 400


def wishes(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/measuring.md")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each shape at each N  [default: %(default)s]")
    parser.add_argument(
        "--coverage-runs", type=int, default=COVERAGE_RUNS, help="of each endpoint at each N  [default: %(default)s]"
    )
    parser.add_argument("--n", type=int, nargs="+", default=[10, 30, 100], help="judged attempts per condition")
    parser.add_argument("--only", default="", metavar="TEXT", help="only shapes with this text in family or name")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="[default: cores]")
    return parser.parse_args(arguments)


def summary(checked: Sequence[Finding]) -> str:
    lines = [f"{'met    ' if one.is_met else 'NOT MET'}  {one.name}: {one.measured}" for one in checked]
    missed = sum(not one.is_met for one in checked)
    return "\n".join([*lines, f"{len(checked) - missed} of {len(checked)} requirements met"])


def places(wanted: argparse.Namespace) -> list[int]:
    """The places of the shapes that are wanted."""
    return [place for place, shape in enumerate(SHAPES) if wanted.only in f"{shape.family}: {shape.name}"]


def told(seen: Results, wanted: argparse.Namespace, document: Path) -> int:
    """Show or write the tables, say what is met, and return the exit code."""
    checked = findings(seen, wanted.n)
    text = table.page(seen, wanted.n, checked)
    if wanted.write:
        document.write_text(table.written(document.read_text(encoding="utf-8"), text), encoding="utf-8")
    else:
        print(text)
    print(summary(checked), file=sys.stderr)
    return 0 if all(one.is_met for one in checked) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = wishes(arguments)
    dealt = hands(places(wanted), wanted.n, wanted.runs, wanted.coverage_runs)
    return told(results(dealt, wanted.processes), wanted, DOCUMENT)


if __name__ == "__main__":
    sys.exit(main())
