"""Equal bits whatever the instruction set, the thread count and the state of the floating-point unit."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import kernel_digest
import numpy as np
import pytest

from temp0 import kernels

SCRIPT = Path(kernel_digest.__file__)


def process(path: str, threads: int = 1) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, str(threads)],
        env={**os.environ, "TEMP0_ISA": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def portable() -> dict[str, str]:
    return json.loads(process("portable").stdout)["digests"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("path", ["avx2", "avx512", "amx"])
def test_every_path_gives_the_bits_of_the_portable_one(path: str, threads: int, portable: dict[str, str]) -> None:
    seen = process(path, threads)
    if "this processor or build does not have" in seen.stderr:
        pytest.skip(f"this processor has no {path}")
    assert json.loads(seen.stdout) == {"path": path, "digests": portable}


def test_an_unknown_path_is_a_usage_error() -> None:
    seen = process("sse9")
    assert seen.returncode == 1
    assert 'UsageError: TEMP0_ISA is "sse9"; expected amx, avx512, avx2 or portable' in seen.stderr


@pytest.fixture
def one_thread() -> Iterator[None]:
    """A single thread at first; the count of before afterwards."""
    before = kernels.threads()
    kernels.set_threads(1)
    yield
    kernels.set_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 7])
def test_the_thread_count_changes_no_bit(threads: int, one_thread: None, portable: dict[str, str]) -> None:
    kernels.set_threads(threads)
    assert kernels.threads() == threads
    assert kernel_digest.everything() == portable


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_an_impossible_thread_count_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="threads must be within 1 and 1024"):
        kernels.set_threads(threads)


def test_callers_on_several_threads_get_the_same_bits(portable: dict[str, str]) -> None:
    seen: list[dict[str, str]] = []
    callers = [threading.Thread(target=lambda: seen.append(kernel_digest.everything())) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert seen == [portable] * 3


def tiny_products() -> np.ndarray:
    """Products below the smallest normal float, and some whose last bit depends on the rounding mode."""
    x = np.full((64, 512), 2.0**-70, np.float32)
    x[:, 1:] = 0.0
    weight = np.full((512, 512), 2.0**-70, np.float32)
    weight[::2, 0] = 1 + 2.0**-20
    out = np.empty((64, 512), np.float32)
    kernels.linear(x, kernels.pack(weight, dtype="fp32"), out)
    return out


GATE_UP = np.full((64, 1024), 2.0**-140, np.float32)
GATE_UP[:, :512] = 1.0


def tiny_gates() -> np.ndarray:
    """Results below the smallest normal float."""
    out = np.empty((64, 512), np.float32)
    kernels.silu_multiply(GATE_UP, out)
    return out


def test_subnormal_products_count_as_zero_and_other_subnormal_results_are_kept() -> None:
    assert tiny_products()[0, 1] == 0
    assert 0 < tiny_gates()[0, 1] < 2.0**-140


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="knows one layout of fenv_t")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_callers_flush_to_zero_and_rounding_mode_change_nothing_and_come_back(threads: int, one_thread: None) -> None:
    libm = ctypes.CDLL("libm.so.6")
    expected = np.concatenate([tiny_products(), tiny_gates()])
    saved, changed = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    libm.fegetenv(saved)
    control = int.from_bytes(saved[28:32], "little") | 0x8040 | 0x4000  # flush, denormals are zero, round upward
    ctypes.memmove(changed, saved, 64)
    changed[28:32] = control.to_bytes(4, "little")
    libm.fesetenv(changed)
    try:
        kernels.set_threads(threads)  # new workers inherit the state of this thread
        seen = np.concatenate([tiny_products(), tiny_gates()])
        libm.fegetenv(changed)
    finally:
        libm.fesetenv(saved)
    np.testing.assert_array_equal(seen.view(np.int32), expected.view(np.int32))
    assert int.from_bytes(changed[28:32], "little") & 0xE040 == control & 0xE040


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_computes_without_its_parents_workers() -> None:
    script = (
        "import os, kernel_digest as k; from temp0 import kernels; kernels.set_threads(2); before = k.everything()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(k.everything() != before)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    parent = subprocess.run([sys.executable, "-c", script], cwd=SCRIPT.parent, check=False, timeout=60)
    assert parent.returncode == 0
