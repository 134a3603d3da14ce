"""`assert_agrees`: a prompt asked many times inside a test, which fails with the fork tree and the cause.

Three ways of not passing are three kinds of error: the answers differ, too little was seen to agree, and nothing could
be measured, which is never a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from temp0.core.analysis import Analysis
from temp0.core.baseline import Baseline
from temp0.core.gate import Checked, Outcome, Tolerance, checked, impossible
from temp0.core.judgement import analysis
from temp0.core.plan import Prompt
from temp0.errors import UnreachableError, UsageError
from temp0.report import terminal_text
from temp0.workflow import library

WIDTH = 100


class NotAgreedError(AssertionError):
    """A prompt did not pass; `outcome` says how, and `analysis` is all that was seen, where anything was."""

    outcome: Outcome = "fail"

    def __init__(self, message: str, found: Analysis | None = None) -> None:
        super().__init__(message)
        self.analysis = found


class DivergedError(NotAgreedError):
    """Answers differ, more often than is tolerated."""


class UndecidedError(NotAgreedError):
    """Nothing unlike was seen, or too little to be sure of the rate."""

    outcome = "undecided"


class NotMeasuredError(NotAgreedError):
    """No completion counted."""

    outcome = "not-measured"


_ERRORS: dict[Outcome, type[NotAgreedError]] = {
    "fail": DivergedError,
    "undecided": UndecidedError,
    "not-measured": NotMeasuredError,
}


def assert_agrees(
    prompt: str | Prompt | Sequence[str | Prompt],
    *,
    endpoint: str | None = None,
    n: int = 30,
    company: int | Sequence[int] = (1, 8),
    rate: float = 0.0,
    confidence: float = 0.95,
    folded: bool = False,
    undecided: Literal["fail", "pass"] = "fail",
    **how: Any,
) -> Analysis:
    """Ask `prompt` (or several) `n` times under each company and give the analysis, if the answers agree.

    `endpoint` is a URL; without it the built-in engine is asked. With `rate` above 0, that share of unlike blocks is
    tolerated where it is shown with one-sided `confidence`; with `folded`, texts that differ only in white space
    around them, line ends or Unicode form are one. `undecided` says whether too little to be sure passes. `how` is
    anything else that `temp0.ask` takes: model, api, key_env, max_tokens, store and so on.

    Raises `DivergedError`, `UndecidedError` or `NotMeasuredError`, all of them AssertionErrors, with the report as
    their message; `UsageError` or `EndpointError` for arguments that cannot be right.
    """
    tolerance = Tolerance(rate=rate, confidence=confidence, folded=folded)
    if not 0 <= rate < 1 or not 0 < confidence < 1:
        raise UsageError(f"rate is {rate} and confidence {confidence}, expected numbers between 0 and 1")
    prompts = [prompt] if isinstance(prompt, str | Prompt) else list(prompt)
    try:
        run = library.ask(endpoint, prompts=prompts, n=n, company=company, **how)
    except UnreachableError as error:
        raise NotMeasuredError(f"nothing could be asked: {error}") from error
    found = analysis(run)
    worst = _worst(checked(endpoint or "built-in", run, Baseline(), tolerance))
    if worst.outcome == "pass" or (worst.outcome == "undecided" and undecided == "pass"):
        return found
    cannot = "".join(f"\nnote: {why}" for why in impossible(run.plan, tolerance))
    told = f"{worst.outcome}: prompt {worst.prompt}: {_seen(worst)}{cannot}\n\n{terminal_text(found, width=WIDTH)}"
    raise _ERRORS[worst.outcome](told, found)


def _worst(of: Sequence[Checked]) -> Checked:
    order: tuple[Outcome, ...] = ("fail", "not-measured", "undecided", "pass")
    return min(of, key=lambda one: order.index(one.outcome))


def _seen(one: Checked) -> str:
    if one.outcome == "not-measured":
        return one.words
    return f"{one.unlike} of {one.blocks} blocks hold a text unlike the commonest"
