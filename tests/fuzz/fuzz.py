"""`make fuzz`: spoiled inputs for every reader, on every core, for FUZZ_MINUTES minutes; what is found is kept.

A finding is written below tests/fixtures/fuzz, where the tests read it again ever after. Ends with 1 if there was one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from random import Random
from types import FrameType

from target import FOUND, Target, targets

_SLOWEST_S = 10  # for one input, which takes milliseconds
_BATCH = 500
_MOST_KEPT = 3  # of one reader by one process: one fault is found again and again


class HangError(Exception):
    """An input took longer to read than any can honestly take."""


def search(seed: int, minutes: float, names: list[str]) -> tuple[Counter[str], list[str]]:
    """How many inputs each reader was given by one process, and what was wrong."""
    signal.signal(signal.SIGALRM, _hang)
    end, random, found = time.monotonic() + 60 * minutes, Random(seed), list[str]()
    tried, kept = Counter[str](), Counter[str]()
    readers = [target for name, target in targets().items() if not names or name in names]
    while time.monotonic() < end:
        for target in readers:
            for body, pieces in target.inputs(random, _BATCH):
                tried[target.name] += 1
                signal.alarm(_SLOWEST_S)
                wrong = target.wrong(body, pieces)
                signal.alarm(0)
                if wrong and kept[target.name] < _MOST_KEPT:
                    kept[target.name] += 1
                    found.append(f"{_keep(target, body)}: {wrong[0][:300]}")
    return tried, found


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise HangError(f"more than {_SLOWEST_S} s")


def _keep(target: Target, body: bytes) -> str:
    folder = FOUND / target.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(body).hexdigest()[:8]}.body"
    path.write_bytes(body)
    return f"{path.parent.name}/{path.name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help="only these; all of them by default")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="a new one each time by default")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if unknown := sorted(set(options.readers) - set(targets())):
        parser.error(f"no such reader: {', '.join(unknown)}; there are: {', '.join(targets())}")
    seed = Random().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.processes} processes, {options.minutes:g} minutes", flush=True)
    with ProcessPoolExecutor(options.processes) as pool:
        running = [pool.submit(search, seed + n, options.minutes, options.readers) for n in range(options.processes)]
        results = [each.result() for each in running]
    tried = sum((counts for counts, _ in results), Counter[str]())
    for name, count in tried.items():
        print(f"{count:12,} inputs  {name}")
    found = [line for _, lines in results for line in lines]
    print("\n".join(found) or f"nothing found in {tried.total():,} inputs")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
