"""Whether a run was answered by our own engine, as what, and what that read: only then can forks be followed down here.

A served engine is known by the fingerprint in its answers, which is that of these very weights, versions and orders or
of others, and what it read by the bodies that it was sent: nothing is taken on trust.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

from temp0.core.run import Completion, Run
from temp0.engine.arithmetic import ACTIVATIONS, InvariantArithmetic, StockArithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.chat import ChatTemplate
from temp0.engine.fingerprint import fingerprint_of
from temp0.engine.server.reading import text_read_of
from temp0.errors import ModelError
from temp0.probe.dialect import DIALECTS
from temp0.workflow.builtin import Builtin, resumed

OTHER_WEIGHTS = (
    "the endpoint is temp0's engine, but with other weights or of another version, so its forks are not followed down; "
    "--weights names its weights"
)

NOT_KEPT = "its forks are not followed down: the run does not keep what was sent, so what the model read is not known"
_OTHERWISE = frozenset(
    {
        "ignore_eos",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "prompt",
        "stop",
        "stop_sequences",
        "temperature",
    }
)
"""Fields of the user's own that have the engine answer otherwise than it is asked here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEngine:
    """Our engine as it answered a run: how it adds and rounds, and the model's name where the address has it.

    `bodies` are those that it was sent, one for each prompt that it answered, to `path`.
    """

    arithmetic: str
    activations: str = ACTIVATIONS[0]
    model: str | None = None
    path: str = ""
    bodies: Mapping[str, bytes] = field(default_factory=dict)

    def text_read(self, prompt: str, template: ChatTemplate) -> str:
        """What the model read of the prompt with this id, whatever the dialect puts around it.

        Raises RequestError where the server would not read such a body today.
        """
        return text_read_of(self.bodies[prompt], path=self.path, template=template)


def own_engine(run: Run, weights: Path | None = None) -> OwnEngine | str | None:
    """Our engine that answered the run; `None` where another one did, and why where its forks cannot be followed here.

    `weights` are the model's, our own unless given.
    """
    engine = _builtin(run) if run.address.url.startswith("builtin:") else _served(run, weights)
    if not isinstance(engine, OwnEngine):
        return engine
    if own := [name for name in json.loads(run.address.extra or "{}") if name in _OTHERWISE]:
        return f"its forks are not followed down: they are as a plan asks, and {', '.join(own)} was sent beside it"
    bodies: dict[str, bytes] = {}
    for attempt in run.attempts:
        if attempt.role == "judged" and isinstance(attempt.outcome, Completion) and attempt.sent is not None:
            bodies.setdefault(attempt.prompt, attempt.sent)
    return replace(engine, bodies=bodies) if bodies else NOT_KEPT


def _builtin(run: Run) -> OwnEngine:
    found = resumed(run.address.url, Builtin())
    return OwnEngine(arithmetic=found.arithmetic, model=found.model, path=_path(run.address.api, ""))


def _served(run: Run, weights: Path | None) -> OwnEngine | str | None:
    """The engine behind a URL, by the one fingerprint that all its answers have."""
    outcomes = (attempt.outcome for attempt in run.attempts)
    told = {one.fingerprint or "" for one in outcomes if isinstance(one, Completion)}
    if len(told) != 1 or not (name := told.pop()).startswith("temp0-") or run.address.api not in DIALECTS:
        return None
    try:
        path = weights or builtin_weights()
        for arithmetic, activations in product((StockArithmetic.name, InvariantArithmetic.name), ACTIVATIONS):
            if fingerprint_of(path, arithmetic=arithmetic, activations=activations) == name:
                door = _path(run.address.api, run.address.url)
                return OwnEngine(arithmetic=arithmetic, activations=activations, path=door)
    except (ModelError, OSError) as error:
        return f"its forks are not followed down: {error}"
    return OTHER_WEIGHTS


def _path(api: str, url: str) -> str:
    """Where on the server the questions of a dialect go."""
    return urlsplit(DIALECTS[api].url(url)).path
