"""Whether a run was answered by our own engine, and as what: only then can its forks be followed down here.

A served engine is known by the fingerprint in its answers, which is that of these very weights, versions and orders or
of others: nothing is taken on trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

from temp0.core.run import Completion, Run
from temp0.engine.arithmetic import ACTIVATIONS, InvariantArithmetic, StockArithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.fingerprint import fingerprint_of
from temp0.errors import ModelError
from temp0.workflow.builtin import Builtin, resumed

RAW_TEXT = ("openai-completions",)
OTHER_WEIGHTS = (
    "the endpoint is temp0's engine, but with other weights or of another version, so its forks are not followed down; "
    "--weights names its weights"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEngine:
    """Our engine as it answered a run: how it adds and rounds, and the model's name where the address has it."""

    arithmetic: str
    activations: str = ACTIVATIONS[0]
    model: str | None = None


def own_engine(run: Run, weights: Path | None = None) -> OwnEngine | str | None:
    """Our engine that answered the run; `None` where another one did, and why where ours cannot be had here.

    `weights` are the model's, our own unless given.
    """
    if run.address.url.startswith("builtin:"):
        found = resumed(run.address.url, Builtin())
        return OwnEngine(arithmetic=found.arithmetic, model=found.model)
    outcomes = (attempt.outcome for attempt in run.attempts)
    told = {one.fingerprint or "" for one in outcomes if isinstance(one, Completion)}
    if len(told) != 1 or not (name := told.pop()).startswith("temp0-"):
        return None
    if run.address.api in RAW_TEXT:
        return f"{run.address.api} asks for a raw text to be gone on with, and only chats are followed down"
    try:
        path = weights or builtin_weights()
        for arithmetic, activations in product((StockArithmetic.name, InvariantArithmetic.name), ACTIVATIONS):
            if fingerprint_of(path, arithmetic=arithmetic, activations=activations) == name:
                return OwnEngine(arithmetic=arithmetic, activations=activations)
    except (ModelError, OSError) as error:
        return f"its forks are not followed down: {error}"
    return OTHER_WEIGHTS
