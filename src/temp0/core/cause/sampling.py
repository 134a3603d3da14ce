"""Cause `sampling`: temperature 0 never reached the model, or was not obeyed."""

from __future__ import annotations

import re

from temp0.core.analysis import PromptAnalysis, Tally
from temp0.core.cause.evidence import Evidence, PromptEvidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted
from temp0.core.margin import NEAR_UP_TO

FEWEST, NEARLY_ALL = 4, 0.8
"""Without logprobs: at least so many completions of each prompt, and at least this share of them distinct."""

_ECHO = re.compile(r"[\"']temperature[\"']\s*:\s*[\d.]+", re.IGNORECASE)
_REFUSED = re.compile(
    r"(unsupported|not support|invalid|must|only|not allowed|deprecated|unknown|unrecogni[sz]ed|forbidden|permitted)"
    r".{0,60}\btemperature|\btemperature\b.{0,60}"
    r"(unsupported|support|invalid|must|only|not allowed|not be|deprecated|unknown|unrecogni[sz]ed|greater|between)",
    re.IGNORECASE | re.DOTALL,
)
_REMEDY = (
    "look at what reaches the model: temperature 0 was sent with every request; have the server log it, and ask the "
    "engine directly, past gateways that drop or replace it (with vLLM start the server with "
    "--generation-config vllm; with transformers serve restart it: the first request's settings stay); some servers "
    "want top_k 1 as well"
)
_CLEAR = "; greedy decoding cannot do that"
_SAME = (
    "; the answer is always the same one, which a penalty, a banned token or other logprobs than its own would explain"
)
_NOT_ASKED = (
    "no logprobs were asked for, which would show a chosen token below the likeliest; --logprobs both does that"
)
_NOT_TOLD = "logprobs were asked for, and the server told none"


def sampling(evidence: Evidence) -> Outcome:
    """A refused temperature; a chosen token more than 0.5 below the top one; without logprobs only a suspicion.

    No penalty is ever set by temp0; answers that never vary are only suspected, since a server may set one. A chosen
    token at most 0.5 below the top one is a suspicion, a tie is nothing.
    Without logprobs: nearly every text of every prompt is distinct. A run that is not greedy is found as such.
    """
    if not evidence.plan.greedy and (finding := _not_greedy(evidence)):
        return Outcome(finding=finding)
    if refusal := _refusal(evidence):
        return Outcome(finding=refusal)
    told = [one for one in evidence.prompts if one.informative]
    lower = [one for one in told if one.below]
    if lower:
        return Outcome(finding=_below(lower, told))
    if told:
        return NOTHING
    is_asked = any(condition.logprobs for condition in evidence.plan.conditions)
    no_logprobs = _NOT_TOLD if is_asked else _NOT_ASKED
    prompts = [one.prompt for one in evidence.prompts if one.prompt.texts]
    if not prompts or not all(map(_is_nearly_all_distinct, prompts)):
        return Outcome(untested=no_logprobs)
    texts, total = sum(one.distinct.text for one in prompts), sum(map(_completions, prompts))
    return Outcome(
        finding=Finding(
            cause="sampling",
            evidence=f"nearly every answer to every prompt is a new one: {texts:,} texts in "
            f"{counted(total, 'completion')} of {counted(len(prompts), 'prompt')}; {no_logprobs}",
            remedy=_REMEDY,
            prompts=tuple(prompt.id for prompt in prompts),
            n=total,
            proof="none",
        )
    )


def _not_greedy(evidence: Evidence) -> Finding | None:
    """A run whose plan left the temperature to the server, or named another than 0."""
    prompts = [one.prompt for one in evidence.prompts if one.prompt.texts]
    if not prompts:
        return None
    total = sum(map(_completions, prompts))
    return Finding(
        cause="sampling",
        evidence=f"none of the {counted(total, 'completion')} was asked for with temperature 0: the run is not greedy",
        remedy="answers that are drawn differ by chance; choose a model that accepts temperature 0",
        prompts=tuple(prompt.id for prompt in prompts),
        n=total,
        proof="rule",
    )


def _completions(prompt: PromptAnalysis) -> int:
    return sum(text.count for text in prompt.texts)


def _is_nearly_all_distinct(prompt: PromptAnalysis) -> bool:
    total = _completions(prompt)
    return total >= FEWEST and prompt.distinct.text >= NEARLY_ALL * total


def _below(lower: list[PromptEvidence], told: list[PromptEvidence]) -> Finding:
    first, worst = max(((one, one.below) for one in lower if one.below), key=lambda pair: pair[1].nats)
    seen, total = sum(one.below.completions for one in lower if one.below), sum(one.informative for one in told)
    is_clear = worst.nats > NEAR_UP_TO
    varies = any(one.prompt.distinct.text > 1 for one in lower if one.below and one.below.nats > NEAR_UP_TO)
    return Finding(
        cause="sampling",
        evidence=f"{seen:,} of {counted(total, 'completion')} with logprobs chose a token that was not the likeliest: "
        f"in prompt {first.prompt.id} token {worst.token} lies {worst.nats:.2f} nats below the top one"
        + (_CLEAR if varies else _SAME if is_clear else ", which may be the logprobs' own scatter"),
        remedy=_REMEDY,
        prompts=tuple(one.prompt.id for one in lower),
        n=total,
        proof="rule" if varies else "none",
    )


def _refusal(evidence: Evidence) -> Finding | None:
    """A server that refuses our temperature by name."""
    refused = [(one, tally) for one in evidence.prompts for tally in _failures(one) if _names_temperature(tally)]
    if not refused:
        return None
    total = sum(tally.count for _, tally in refused)
    return Finding(
        cause="sampling",
        evidence=f"{counted(total, 'request was', 'requests were')} refused for the temperature: "
        f"{refused[0][1].message}",
        remedy="this model does not decode greedily when asked to; choose one that accepts temperature 0",
        prompts=tuple(dict.fromkeys(one.prompt.id for one, _ in refused)),
        n=total,
        proof="rule",
    )


def _failures(one: PromptEvidence) -> list[Tally]:
    return [tally for condition in one.prompt.conditions for tally in condition.failures]


def _names_temperature(tally: Tally) -> bool:
    """Whether a refusal is about the temperature, rather than one that repeats what we sent."""
    return tally.reason in {"http-400", "http-422"} and bool(_REFUSED.search(_ECHO.sub("", tally.message)))
