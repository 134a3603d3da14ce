"""Our arithmetic against what the machine can do at most, measured beside it in the same rounds.

Two roofs: bytes read from memory in a second, for decoding, which reads every weight for each step; and fp32 fused
multiply-adds in a second, for the products of a long prompt. Both use as many threads as the engine does, and a roof
is the best of several tries within its round, so a fraction is rather too low than too high.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from peers.environment import FOLDER, NotMeasuredError
from peers.rounds import progress
from temp0 import kernels
from temp0.engine import Engine
from temp0.engine.builtin import builtin_weights
from temp0.engine.gguf_file import read_gguf
from temp0.engine.request import Emission, Request

SOURCE = Path(__file__).with_name("roofline.cpp")
DECODE_ROWS = (1, 2, 4, 8)
PREFILL_ROWS = (32, 64, 128, 256)

_FLAGS = {"amx": ("-mavx512f",), "avx512": ("-mavx512f",), "avx2": ("-mavx2", "-mfma"), "portable": ()}
# Larger than any last-level cache this has met; 480 MiB is the largest.
_BUFFER_MIB = 1920
_TRIES = 3
_DECODE_TOKENS = 64
_PROMPT = tuple(range(1000, 1032))
_MIB = 1 << 20

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Roofs in bytes/s and operations/s; seconds of a decode step by rows; operations/s of the products by rows.

    `model_sized` is the bandwidth over a buffer of the size of the weights, which may partly stay in a large cache.
    `by_shape` are the products at 128 rows by [K, N].
    """

    bandwidth: float
    model_sized: float
    multiply_adds: float
    step_s: dict[int, float]
    products: dict[int, float]
    by_shape: dict[Shape, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """All rounds, the bytes of weights that a decode step reads, and the instructions in use."""

    rounds: tuple[Round, ...]
    weight_bytes: int
    instructions: str


class Products:
    """Every product of the built-in model, packed as the engine packs it, in the order of a pass."""

    def __init__(self) -> None:
        self._weights = [kernels.pack(weight, dtype="bf16") for weight in _linears()]
        self.size_bytes = sum(weight.size_bytes for weight in self._weights)

    def seconds(self, rows: int) -> dict[Shape, float]:
        """Seconds of one pass over all weights for so many rows, by shape."""
        random = np.random.default_rng(0)
        inputs = {weight.inputs: random.standard_normal((rows, weight.inputs), np.float32) for weight in self._weights}
        for values in inputs.values():
            kernels.round_bf16(values)
        outputs = {weight.outputs: np.zeros((rows, weight.outputs), np.float32) for weight in self._weights}
        seconds = dict.fromkeys(((weight.inputs, weight.outputs) for weight in self._weights), 0.0)
        for weight in self._weights:
            started = time.perf_counter()
            kernels.linear(inputs[weight.inputs], weight, outputs[weight.outputs])
            seconds[weight.inputs, weight.outputs] += time.perf_counter() - started
        return seconds

    def operations(self, rows: int) -> dict[Shape, int]:
        """Additions and multiplications of such a pass, by shape."""
        operations = dict.fromkeys(((weight.inputs, weight.outputs) for weight in self._weights), 0)
        for weight in self._weights:
            operations[weight.inputs, weight.outputs] += 2 * rows * weight.inputs * weight.outputs
        return operations


def measured(threads: int, rounds: int) -> Roofline:
    """The rounds; NotMeasuredError where the program that measures the roofs cannot be compiled."""
    program = _compiled(FOLDER)
    with Engine.load(builtin_weights(), arithmetic="invariant", threads=threads) as engine:
        engine.start()
        products = Products()
        kernels.set_threads(threads)
        seen = []
        for number in range(rounds):
            seen.append(_round(program, threads, engine, products))
            progress(f"roofline, round {number + 1}: done")
    return Roofline(rounds=tuple(seen), weight_bytes=products.size_bytes, instructions=kernels.instruction_set())


def _round(program: Path, threads: int, engine: Engine, products: Products) -> Round:
    model_mib = -(-products.size_bytes // _MIB)
    bandwidth = _best(program, "bandwidth", threads, _BUFFER_MIB, _TRIES)
    step_s = {rows: _step_seconds(engine, rows) for rows in DECODE_ROWS}
    model_sized = _best(program, "bandwidth", threads, model_mib, _TRIES)
    multiply_adds = _best(program, "fma", threads, _TRIES)
    passes = {rows: _typical(partial(products.seconds, rows)) for rows in PREFILL_ROWS}
    operations = {rows: products.operations(rows) for rows in PREFILL_ROWS}
    return Round(
        bandwidth=bandwidth,
        model_sized=model_sized,
        multiply_adds=multiply_adds,
        step_s=step_s,
        products={rows: sum(operations[rows].values()) / sum(passes[rows].values()) for rows in PREFILL_ROWS},
        by_shape={shape: operations[128][shape] / seconds for shape, seconds in passes[128].items()},
    )


def _typical(measure: Callable[[], dict[Shape, float]]) -> dict[Shape, float]:
    """The pass with the median time, after one that warms up."""
    measure()
    return sorted((measure() for _ in range(_TRIES)), key=lambda seconds: sum(seconds.values()))[_TRIES // 2]


def _step_seconds(engine: Engine, rows: int) -> float:
    """The median time between two tokens of so many requests that decode together, all work of the engine included."""
    times: list[float] = []
    ended: SimpleQueue[int] = SimpleQueue()

    def on_emission(number: int, emission: Emission) -> None:
        if number == 0:
            times.append(time.perf_counter())
        if emission.finish:
            ended.put(number)

    for number in range(rows):
        request = Request(tokens=_PROMPT, max_tokens=_DECODE_TOKENS, ignore_eos=True)
        engine.submit(request, partial(on_emission, number))
    for _ in range(rows):
        ended.get()
    return float(np.median(np.diff(times)))


def _linears() -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """The weights of the products of one pass: q, k and v together, and gate and up."""
    checkpoint = read_gguf(builtin_weights())
    for layer in range(checkpoint.settings.layers):
        for names in (("q", "k", "v"), ("o",), ("gate", "up"), ("down",)):
            yield np.concatenate([checkpoint.tensors[f"layers.{layer}.{name}"] for name in names])
    yield checkpoint.tensors["head"]


def _compiled(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "roofline"
    flags = _FLAGS[kernels.instruction_set()]
    command = ["c++", "-O3", "-std=c++20", "-pthread", *flags, "-o", str(program), str(SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise NotMeasuredError(f"{SOURCE.name} could not be compiled: {said[:300]}") from error
    return program


def _best(program: Path, *arguments: str | int) -> float:
    """The best of the program's figures, in bytes or operations a second."""
    command = [str(program), *map(str, arguments)]
    lines: Sequence[str] = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return max(map(float, lines)) * 1e9
