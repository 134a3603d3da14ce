"""`assert_agrees`: a prompt asked many times inside a test, which fails with the fork tree and the cause.

Three ways of not passing are three kinds of error: the answers differ, too little was seen to agree, and something
could not be measured, which is never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from inspect import signature
from typing import Any, Literal

from temp0.core.analysis import Analysis
from temp0.core.baseline import Baseline
from temp0.core.gate import Checked, Outcome, Tolerance, checked, impossible, is_worth_asking_again
from temp0.core.judgement import analysis
from temp0.core.plan import Prompt
from temp0.core.run import Failure, Run
from temp0.errors import UnreachableError, UsageError
from temp0.probe.dialect.reason import INTERRUPTED
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
    """Answers did not come, or none of them counted."""

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

    Answers that did not come are asked for once more, where they are few.

    Raises `DivergedError`, `UndecidedError` or `NotMeasuredError`, all of them AssertionErrors, with the report as
    their message; `UsageError` or `EndpointError` for arguments that cannot be right; KeyboardInterrupt where the user
    ended it.
    """
    __tracebackhide__ = True
    tolerance = _tolerance(rate, confidence, folded=folded)
    if undecided not in ("fail", "pass"):
        raise UsageError(f"undecided is {undecided!r}, expected 'fail' or 'pass'")
    prompts = [prompt] if isinstance(prompt, str | Prompt) else list(prompt)
    try:
        run = _asked(endpoint, {"prompts": prompts, "n": n, "company": company, **how})
    except UnreachableError as error:
        raise NotMeasuredError(f"not measured: nothing could be asked: {error}") from error
    found = analysis(run)
    worst = _worst(checked(endpoint or "built-in", run, Baseline(), tolerance))
    if worst.outcome == "pass" or (worst.outcome == "undecided" and undecided == "pass"):
        return found
    cannot = "".join(f"\nnote: {why}" for why in impossible(run.plan, tolerance))
    told = f"{worst.outcome}: prompt {worst.prompt}: {_seen(worst)}{cannot}\n\n{terminal_text(found, width=WIDTH)}"
    raise _ERRORS[worst.outcome](told, found)


def _tolerance(rate: object, confidence: object, *, folded: bool) -> Tolerance:
    if not isinstance(rate, int | float) or not isinstance(confidence, int | float):
        raise UsageError(f"rate is {rate!r} and confidence {confidence!r}, expected numbers between 0 and 1")
    if not 0 <= rate < 1 or not 0 < confidence < 1:
        raise UsageError(f"rate is {rate} and confidence {confidence}, expected numbers between 0 and 1")
    return Tolerance(rate=rate, confidence=confidence, folded=folded)


def _asked(endpoint: str | None, how: Mapping[str, Any]) -> Run:
    """The run, with what it lacked at first where that was little."""
    if unknown := [name for name in how if name not in signature(library.ask_async).parameters]:
        raise TypeError(f"assert_agrees() takes no argument {unknown[0]!r}")
    run = _uninterrupted(library.ask(endpoint, **how))
    if how.get("max_requests") is None and is_worth_asking_again(run):
        with suppress(UnreachableError):  # the server is gone by now, and the run as it is says so
            run = _uninterrupted(library.ask(endpoint, **{**how, "resume": run}))
    return run


def _uninterrupted(run: Run) -> Run:
    """The run, unless the user ended it: what was asked by then must neither pass nor let the next test begin."""
    ends = [attempt.outcome.reason for attempt in run.attempts if isinstance(attempt.outcome, Failure)]
    if INTERRUPTED in ends:
        raise KeyboardInterrupt
    return run


def _worst(of: Sequence[Checked]) -> Checked:
    order: tuple[Outcome, ...] = ("fail", "not-measured", "undecided", "pass")
    return min(of, key=lambda one: order.index(one.outcome))


def _seen(one: Checked) -> str:
    if one.outcome == "not-measured":
        return one.words
    seen = f"{one.unlike} of {one.blocks} blocks hold a text unlike the commonest"
    return f"{seen}; {one.why}" if one.why else seen
