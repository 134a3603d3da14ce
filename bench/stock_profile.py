"""How much of a stock decode step is spent inside BLAS: `python bench/stock_profile.py`.

Stock is only a fair baseline if the library that it stands for does the work. The seconds inside numpy.matmul stand
beside those of the whole step, scheduling, attention and sampling included.
"""

import time
from statistics import median
from typing import Any

import numpy as np

from temp0.engine import Emission, Engine, Request
from temp0.engine.builtin import builtin_weights

IN_FLIGHT = (1, 4, 8, 16, 32)
PROMPT_TOKENS, STEPS = 50, 40


class Clock:
    """numpy.matmul with its seconds added up."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._matmul = np.matmul

    def __call__(self, *arrays: Any, **options: Any) -> Any:
        """What numpy.matmul gives."""
        started = time.perf_counter()
        result = self._matmul(*arrays, **options)
        self.seconds += time.perf_counter() - started
        return result


def shares(engine: Engine, clock: Clock, in_flight: int) -> tuple[float, float]:
    """The median step in milliseconds, and the median share of matmul in it."""
    seen: list[Emission] = []
    prompt = tuple(range(1000, 1000 + PROMPT_TOKENS))
    for _ in range(in_flight):
        engine.submit(Request(tokens=prompt, max_tokens=STEPS, ignore_eos=True), seen.append)
    while len(seen) < in_flight:
        engine.step()
    steps = []
    while True:
        started, inside = time.perf_counter(), clock.seconds
        if not engine.step():
            break
        took = time.perf_counter() - started
        steps.append((took * 1e3, (clock.seconds - inside) / took))
    return median(took for took, _ in steps), median(share for _, share in steps)


if __name__ == "__main__":
    clock = Clock()
    np.matmul = clock  # type: ignore[assignment]
    with Engine.load(builtin_weights(), arithmetic="stock") as engine:
        print("| rows | stock decode step | of it inside numpy.matmul |\n|---|---|---|")
        for count in IN_FLIGHT:
            took_ms, share = shares(engine, clock, count)
            print(f"| {count} | {took_ms:.1f} ms | {share:.0%} |")
