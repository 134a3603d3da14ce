"""Makes engines over the random models, in any arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from watched import Make

from temp0.engine import Engine
from temp0.engine.arithmetic import Arithmetic, arithmetic
from temp0.engine.checkpoint import Checkpoint


def engines(checkpoint: Checkpoint, mode: str = "invariant", *, threads: int = 1, **options: Any) -> Make:
    """Engines in one of the modes that temp0 has; `options` are those of `arithmetic`."""
    return engines_with(checkpoint, lambda: arithmetic(mode, threads=threads, **options))


def engines_with(checkpoint: Checkpoint, multiplying: Callable[[], Arithmetic]) -> Make:
    """Engines that multiply in a way of the caller's own."""

    def make(**limits: Any) -> Engine:
        return Engine(checkpoint, multiplying(), fingerprint="temp0-test", **limits)

    return make
