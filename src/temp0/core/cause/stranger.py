"""Causes `unseen-company` and `run-to-run`: answers differ with one request of ours in flight.

They are two sides of one question, whether strangers are ruled out, and stand for a prompt only where nothing before
them was found for it.
"""

from __future__ import annotations

from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted

_UNSEEN_REMEDY = (
    "an endpoint you do not own batches you with strangers, whom nothing here can see: ask one that promises batch "
    "invariance, or run one of your own; repeat under other loads and on other days (temp0 compare). If nobody else "
    "uses it, say so with --exclusive"
)
_RUN_TO_RUN_REMEDY = (
    "the same computation gives different results: turn on deterministic kernels (torch.use_deterministic_algorithms, "
    "CUBLAS_WORKSPACE_CONFIG=:4096:8), pin the number of threads, and look for atomics and for non-greedy defaults; "
    "then measure again: temp0 probe URL --ask repeatable --exclusive"
)


def unseen_company(evidence: Evidence, explained: frozenset[str]) -> Outcome:
    """Differs with one of ours in flight, and strangers are not ruled out: the public experiment's own case."""
    differing = _differing(evidence, explained)
    prompts = [one for one in differing if not _is_lonely(evidence, one)]
    if not prompts:
        return NOTHING
    counts = [one.running_alone for one in prompts if one.running_alone is not None]
    seen = f"the server counted up to {max(counts):g} running while we had one in flight" if counts else None
    return Outcome(
        finding=Finding(
            cause="unseen-company",
            evidence=f"{_told(prompts)} with one request of ours in flight, and "
            + (seen or "strangers are not ruled out: the server does not tell how many requests it is running"),
            remedy=_UNSEEN_REMEDY,
            prompts=tuple(one.prompt.id for one in prompts),
            n=_attempts(prompts),
            proof="rule",
        )
    )


def run_to_run(evidence: Evidence, explained: frozenset[str]) -> Outcome:
    """Differs alone while the server shows one running, or while the user states that nobody else is there."""
    prompts = [one for one in _differing(evidence, explained) if _is_lonely(evidence, one)]
    if not prompts:
        return NOTHING
    why = "nobody else uses the endpoint" if evidence.plan.exclusive else "the server itself counted one running"
    return Outcome(
        finding=Finding(
            cause="run-to-run",
            evidence=f"{_told(prompts)} with one request in flight, and {why}",
            remedy=_RUN_TO_RUN_REMEDY,
            prompts=tuple(one.prompt.id for one in prompts),
            n=_attempts(prompts),
            proof="rule",
        )
    )


def _differing(evidence: Evidence, explained: frozenset[str]) -> list[PromptEvidence]:
    names = {condition.name for condition in evidence.deciding}
    return [
        one
        for one in evidence.prompts
        if one.prompt.id not in explained and any(single.condition.name in names for single in one.singles)
    ]


def _is_lonely(evidence: Evidence, one: PromptEvidence) -> bool:
    return evidence.plan.exclusive or (one.running_alone is not None and one.running_alone <= 1)


def _told(prompts: list[PromptEvidence]) -> str:
    first = prompts[0]
    alone = next(each for each in first.prompt.conditions if each.name == first.singles[0].condition.name)
    more = f" and {counted(len(prompts) - 1, 'more prompt')} like it" if len(prompts) > 1 else ""
    return f"prompt {first.prompt.id}{more}: {alone.distinct.text} texts in {counted(alone.completions, 'attempt')}"


def _attempts(prompts: list[PromptEvidence]) -> int:
    names = {one.prompt.id: {single.condition.name for single in one.singles} for one in prompts}
    return sum(
        each.completions for one in prompts for each in one.prompt.conditions if each.name in names[one.prompt.id]
    )
