"""An analysis as a JSON document, for programs.

The field names are a contract (docs/format.md): fields may be added, never renamed. What nobody could measure is
`null`. Fields keep one order, so equal analyses give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from temp0.core.analysis import (
    Analysis,
    Branch,
    Cause,
    Comparison,
    ConditionAnalysis,
    Distinct,
    DistinctText,
    Finish,
    Fork,
    Margin,
    PromptAnalysis,
    Tally,
)
from temp0.core.cost import Tokens
from temp0.core.run import Address
from temp0.report.command import addressed

SCHEMA = "temp0/analysis"
FAILURE_SCHEMA = "temp0/failure"
VERSION = 1

Fields = dict[str, object]


def document(analysis: Analysis) -> Fields:
    """The JSON document of an analysis as plain dictionaries, lists, strings and numbers."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "verdict": str(analysis.verdict),
        "exit_code": analysis.exit_code,
        "causes": [_cause(cause, analysis.address) for cause in analysis.causes],
        "untested": [asdict(one) for one in analysis.untested],
        "endpoint": asdict(analysis.address),
        "run": {
            "id": analysis.run,
            "created": analysis.created,
            "seed": analysis.seed,
            "requests": analysis.requests,
            "duration_s": analysis.cost.duration_s,
            "prompt_tokens": _counted(analysis.cost.prompt),
            "answer_tokens": _counted(analysis.cost.answer),
            "finished": analysis.finished,
            "exclusive": analysis.exclusive,
            "cold_by": analysis.cold_by,
            "untold": list(analysis.untold),
            "greedy": analysis.greedy,
        },
        "total_agreement": [asdict(total) for total in analysis.total_agreement],
        "prompts": [_prompt(prompt) for prompt in analysis.prompts],
    }


def json_text(analysis: Analysis) -> str:
    r"""The document as one line of ASCII JSON; a lone surrogate stays as its `\udXXX` escape.

    Raises `ValueError` where a number is not finite, which JSON cannot say.
    """
    return json.dumps(document(analysis), allow_nan=False)


def failure_text(exit_code: int, message: str) -> str:
    """The document of a verb that failed, as one line of ASCII JSON."""
    fields = {"schema": FAILURE_SCHEMA, "version": VERSION, "exit_code": exit_code, "message": message}
    return json.dumps(fields, allow_nan=False)


def distinct_fields(distinct: Distinct) -> Fields:
    """Distinct completions at each level, and the level that breaks first."""
    return asdict(distinct) | {"breaks_first": distinct.breaks_first}


def _counted(tokens: Tokens) -> Fields:
    """The sum is `null` where no answer told any, and `requests` says of how many it is the sum."""
    return {"sum": tokens.sum if tokens.n else None, "requests": tokens.n}


def _cause(cause: Cause, address: Address) -> Fields:
    return {
        "cause": cause.cause,
        "certainty": cause.certainty,
        "evidence": cause.evidence,
        "remedy": addressed(cause.remedy, address),
        "prompts": list(cause.prompts),
        "n": cause.n,
        "p": cause.p,
        "p_adjusted": cause.p_adjusted,
    }


def _prompt(prompt: PromptAnalysis) -> Fields:
    return {
        "id": prompt.id,
        "text": prompt.text,
        "verdict": str(prompt.verdict),
        "distinct": distinct_fields(prompt.distinct),
        "first_difference": asdict(prompt.first_difference),
        "texts": [_text(text) for text in prompt.texts],
        "conditions": [_condition(condition) for condition in prompt.conditions],
        "comparisons": [_comparison(comparison) for comparison in prompt.comparisons],
        "forks": [_fork(fork) for fork in prompt.tree.forks()] if prompt.tree else [],
    }


def _text(text: DistinctText) -> Fields:
    return {
        "sha256": text.sha256,
        "count": text.count,
        "text": text.text,
        "finishes": _finishes(text.finishes),
        "conditions": [{"name": name, "count": count} for name, count in text.conditions],
    }


def _condition(one: ConditionAnalysis) -> Fields:
    return {
        "name": one.name,
        "company": asdict(one.company) | {"asked": one.company.asked or None},
        "filler": one.condition.filler,
        "cache": one.condition.cache,
        "logprobs": one.condition.logprobs,
        "stream": one.condition.stream,
        "verdict": str(one.verdict),
        "attempts": one.attempts,
        "completions": one.completions,
        "fillers": one.fillers,
        "failures": _tallies(one.failures),
        "excluded": _tallies(one.excluded),
        "distinct": distinct_fields(one.distinct),
        "first_difference": asdict(one.first_difference),
        "cached_tokens": asdict(one.cached_tokens) if one.cached_tokens else None,
        "agreement": asdict(one.agreement) if one.agreement else None,
        "modal_share": one.modal_share,
        "variant_rate_upper": one.variant_rate_upper,
        "length": asdict(one.length) if one.length else None,
        "kinds": [asdict(kind) for kind in one.kinds],
    }


def _comparison(comparison: Comparison) -> Fields:
    return {
        "a": comparison.a,
        "b": comparison.b,
        "verdict": str(comparison.verdict),
        "p": comparison.p,
        "p_adjusted": comparison.p_adjusted,
        "first_difference": asdict(comparison.first_difference),
    }


def _fork(fork: Fork) -> Fields:
    return {
        "char": fork.char,
        "byte": fork.byte,
        "token": fork.token,
        "kind": fork.kind,
        "branches": [_branch(branch) for branch in fork.branches],
        "margin": _margin(fork.margin),
    }


def _margin(margin: Margin) -> Fields:
    return {
        "value": margin.value,
        "kind": margin.kind,
        "reason": margin.reason,
        "shift": margin.shift,
        "distributions": [
            {"chosen": one.chosen, "margin": one.margin, "choices": [asdict(choice) for choice in one.choices]}
            for one in margin.distributions
        ],
    }


def _branch(branch: Branch) -> Fields:
    return {
        "text": branch.text,
        "count": branch.count,
        "sha256": list(branch.sha256),
        "finishes": _finishes(branch.finishes),
    }


def _tallies(tallies: Sequence[Tally]) -> list[Fields]:
    return [asdict(tally) for tally in tallies]


def _finishes(finishes: Sequence[Finish]) -> list[Fields]:
    return [asdict(finish) for finish in finishes]
