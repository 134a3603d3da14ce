"""The machine that arithmetic runs on, as far as an order of addition can depend on it.

Orders found on one machine say nothing about another: these are the things to compare first.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import numpy as np

from temp0 import kernels
from temp0.core.tree_record import TreesMachine

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE", "TEMP0_ISA")


def trees_machine(*, cores: int) -> TreesMachine:
    """The machine now: its vector units as numpy found them, libraries, and what in the environment sets threads."""
    built = cast("dict[str, Any]", np.show_config(mode="dicts"))
    blas = built.get("Build Dependencies", {}).get("blas", {})
    blas_name = (str(blas.get("name", "blas")), str(blas.get("version", "unknown")))
    libraries = [("Python", platform.python_version()), ("numpy", np.__version__), blas_name]
    with suppress(PackageNotFoundError):
        libraries.append(("torch", version("torch")))
    return TreesMachine(
        processor=processor(),
        features=tuple(built.get("SIMD Extensions", {}).get("found", ())),
        cores=cores,
        thread_variables=tuple((name, os.environ[name]) for name in _THREAD_VARIABLES if name in os.environ),
        libraries=(*libraries, ("temp0.kernels", kernels.instruction_set())),
    )


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
