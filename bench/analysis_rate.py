"""How long a stored run takes to be read and judged, prompt by prompt, and how much memory that takes.

Each figure is of a process of its own, and so is building the store, because on Linux a process inherits the peak of
its parent. `python bench/analysis_rate.py COMPLETIONS...` takes only runs of these sizes.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from statistics import median

from planted_run import events, planted_run
from temp0.core.run import Attempt, Sample
from temp0.store import Store
from temp0.workflow.keeping import judged

GROUP = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Prompts, and judged attempts in all."""

    prompts: int
    completions: int

    def __str__(self) -> str:
        return f"{self.completions:,} completions of {self.prompts:,} prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one process took: seconds, and the most memory it ever held in MiB."""

    seconds: float
    peak_mib: float


SIZES = (
    Size(prompts=10, completions=10_000),
    Size(prompts=100, completions=100_000),
    Size(prompts=1_000, completions=100_000),
    Size(prompts=1_000, completions=1_000_000),
)


def build(path: Path, size: Size) -> None:
    """Put a planted run into the store."""
    run = planted_run(prompts=size.prompts, completions=size.completions)
    with Store.open(path) as store:
        store.begin(run)
        happening = events(run)
        while group := list(islice(happening, GROUP)):
            attempts = [one for one in group if isinstance(one, Attempt)]
            store.append(run.id, attempts, [one for one in group if isinstance(one, Sample)])
        store.finish(run.id)


def judge(path: Path, size: Size) -> None:
    judged(_id(size), path)


def read(path: Path, size: Size) -> None:
    """Everything that judging reads, and nothing else."""
    with Store.open(path) as store, store.book(_id(size)) as book:
        book.preface()
        for _ in book.chapters():
            pass


def _id(size: Size) -> str:
    return planted_run(prompts=size.prompts, completions=size.completions).id


TASKS: dict[str, Callable[[Path, Size], None]] = {"build": build, "judge": judge, "read": read}


def cost(task: str, path: Path, size: Size) -> Cost:
    """What a task takes in a process of its own."""
    command = [sys.executable, __file__, "--task", task, "--store", str(path)]
    command += ["--prompts", str(size.prompts), str(size.completions)]
    return Cost(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def own_cost(task: str, path: Path, size: Size) -> Cost:
    """What a task takes in this process."""
    started = time.perf_counter()
    TASKS[task](path, size)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(seconds=seconds, peak_mib=peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def figures(sizes: Sequence[Size] = SIZES, rounds: int = 3) -> Iterator[tuple[str, str]]:
    """Rows of (figure, value): seconds and peak memory at each size, and what becomes of the time of one completion."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        for size in sizes:
            cost("build", path, size)
        taken = [
            {(task, size): cost(task, path, size) for size in sizes for task in ("judge", "read")}
            for _ in range(rounds)
        ]
    for size in sizes:
        judging, reading = ([costs[task, size] for costs in taken] for task in ("judge", "read"))
        yield f"analysis of {size}, seconds", told(judging)
        yield f"reading {size} alone, seconds", told(reading)
    for smaller, size in pairwise(sizes):
        growth = [of_one(costs["judge", size], size) / of_one(costs["judge", smaller], smaller) for costs in taken]
        yield f"time of one completion, analysis of {size} over {smaller}", spread(growth)


def of_one(cost: Cost, size: Size) -> float:
    return cost.seconds / size.completions


def told(costs: Sequence[Cost]) -> str:
    peak = max(cost.peak_mib for cost in costs)
    return f"{spread([cost.seconds for cost in costs])}, at most {peak:.0f} MiB"


def spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("completions", nargs="*", type=int, help="only runs of so many completions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--task", choices=TASKS, help="do this once with one run, and print what it took")
    parser.add_argument("--store", type=Path, help="with --task: the file of the store")
    parser.add_argument("--prompts", type=int, help="with --task: the prompts of the run")
    wanted = parser.parse_args()
    if wanted.task:
        its = own_cost(wanted.task, wanted.store, Size(prompts=wanted.prompts, completions=wanted.completions[0]))
        print(json.dumps(asdict(its), allow_nan=False))
    else:
        chosen = [size for size in SIZES if not wanted.completions or size.completions in wanted.completions]
        for name, value in figures(chosen, wanted.rounds):
            print(f"| {name} | {value} |")
