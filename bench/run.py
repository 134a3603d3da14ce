"""All benchmarks as one Markdown table: `make bench`, on a machine that does nothing else.

`--notebook` appends the table to docs/notebook.md, with the date and the machine.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import analysis_rate
import probe_rate
import stream_rate

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.md"


def start_up() -> Iterator[tuple[str, str]]:
    """Seconds of `temp0 --help` and `temp0 probe --help`, beside Python itself."""
    for arguments in (["-c", "pass"], ["-m", "temp0", "--help"], ["-m", "temp0", "probe", "--help"]):
        times = sorted(_seconds([sys.executable, *arguments]) for _ in range(15))
        name = "python -c pass" if arguments[0] == "-c" else f"temp0 {' '.join(arguments[2:])}"
        yield f"{name}, seconds", f"{median(times):.3f} ({times[0]:.3f} to {times[-1]:.3f})"


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor()
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def table() -> str:
    rows = [*start_up(), *probe_rate.figures(), *stream_rate.figures(), *analysis_rate.figures()]
    lines = [f"| {name} | {value} |" for name, value in rows]
    heading = f"### `make bench`, {datetime.now(UTC):%Y-%m-%d}, {machine()}"
    return "\n".join(
        [
            heading,
            "",
            "Median (range); ratios are taken within a round.",
            "",
            "| figure | value |",
            "|---|---|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notebook", action="store_true", help="append the table to docs/notebook.md")
    wanted = parser.parse_args()
    text = table()
    print(text)
    if wanted.notebook:
        with NOTEBOOK.open("a", encoding="utf-8") as notebook:
            notebook.write("\n" + text)
