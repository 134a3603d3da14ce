"""How kernels run: on how many threads, and with which instructions.

Neither changes a bit of any result.
"""

import os
from typing import Literal

from temp0.kernels import _native

MOST_THREADS = 1024
ORDERS = 2
"""Revision of the documented orders: raised whenever one of them changes, since other bits may follow."""


def set_threads(count: int) -> None:
    """Use `count` threads, the caller's included, for every later call; ValueError outside 1 to 1,024.

    Workers spin for 50 microseconds after a call, then sleep: a decode step finds them awake, and an idle process
    costs nothing. Calls too small to gain from them stay on the calling thread.
    """
    _native.set_threads(count)


def usable_cores() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """The number of threads in use; at first, the cores this process may run on."""
    return _native.threads()


def instruction_set() -> Literal["amx", "avx512", "avx2", "portable"]:
    """The path in use: the widest that the processor has, or the one that TEMP0_ISA names.

    UsageError where TEMP0_ISA names a path that does not exist or cannot run here.
    """
    return _native.instruction_set()
