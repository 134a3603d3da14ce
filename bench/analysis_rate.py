"""How long a stored run takes to be read and judged, prompt by prompt, and how much memory that takes.

Each figure is of a fresh process, so that its peak is its own. `python bench/analysis_rate.py COMPLETIONS...` takes
only runs of these sizes.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from planted_run import events, planted_run
from temp0.core.run import Attempt, Sample
from temp0.store import Store
from temp0.workflow.keeping import judged

SIZES = ((10, 10_000), (100, 100_000), (1_000, 100_000), (1_000, 1_000_000))
"""Prompts, and judged attempts in all."""

GROUP = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one process took: seconds, and the most memory it ever held in MiB."""

    seconds: float
    peak_mib: float


def stored(store: Store, *, prompts: int, completions: int) -> str:
    """Put a planted run into the store; its id."""
    run = planted_run(prompts=prompts, completions=completions)
    store.begin(run)
    happening = events(run)
    while group := list(islice(happening, GROUP)):
        attempts = [one for one in group if isinstance(one, Attempt)]
        store.append(run.id, attempts, [one for one in group if isinstance(one, Sample)])
    store.finish(run.id)
    return run.id


def judge(path: Path, run: str) -> None:
    judged(run, path)


def read(path: Path, run: str) -> None:
    """All that judging would read, and nothing else."""
    with Store.open(path) as store, store.book(run) as book:
        book.preface()
        for _ in book.chapters():
            pass


TASKS: dict[str, Callable[[Path, str], None]] = {"judge": judge, "read": read}


def cost(task: str, path: Path, run: str) -> Cost:
    command = [sys.executable, __file__, "--task", task, "--store", str(path), "--run", run]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Cost(**json.loads(told))


def own_cost(task: str, path: Path, run: str) -> Cost:
    started = time.perf_counter()
    TASKS[task](path, run)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(seconds=seconds, peak_mib=peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def figures(sizes: Sequence[tuple[int, int]] = SIZES, rounds: int = 3) -> Iterator[tuple[str, str]]:
    """Rows of (figure, value): seconds and peak at each size, and the growth of the time for one completion."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with Store.open(path) as store:
            runs = [stored(store, prompts=prompts, completions=completions) for prompts, completions in sizes]
        costs = [[cost("judge", path, run) for run in runs] for _ in range(rounds)]
        readings = [cost("read", path, runs[-1]) for _ in range(rounds)]
    for place, (prompts, completions) in enumerate(sizes):
        name = f"analysis of {completions:,} completions, {prompts:,} prompts"
        yield f"{name}, seconds", spread([each[place].seconds for each in costs])
        yield f"{name}, peak memory in MiB", spread([each[place].peak_mib for each in costs], digits=0)
        if place:
            growth = [_of_one(each[place], completions) / _of_one(each[0], sizes[0][1]) for each in costs]
            yield f"{name}, time of one over that of {sizes[0][1]:,}", spread(growth)
    yield f"reading {sizes[-1][1]:,} of them alone, seconds", spread([each.seconds for each in readings])
    yield (
        f"reading {sizes[-1][1]:,} of them alone, peak memory in MiB",
        spread([each.peak_mib for each in readings], digits=0),
    )


def _of_one(cost: Cost, completions: int) -> float:
    return cost.seconds / completions


def spread(values: Sequence[float], digits: int = 2) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("completions", nargs="*", type=int, help="only sizes of so many completions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--task", choices=TASKS, help="what one process does, to be timed")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--run")
    wanted = parser.parse_args()
    if wanted.task:
        own = own_cost(wanted.task, wanted.store, wanted.run)
        print(json.dumps({"seconds": own.seconds, "peak_mib": own.peak_mib}, allow_nan=False))
    else:
        chosen = [size for size in SIZES if not wanted.completions or size[1] in wanted.completions]
        for name, value in figures(chosen, wanted.rounds):
            print(f"| {name} | {value} |")
