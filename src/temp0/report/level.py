"""How deep equality reaches: where texts are alike and logprobs are not, and where logprobs part before the text.

Only levels that were measured are told, and only what the texts do not say themselves.
"""

from __future__ import annotations

from temp0.core.analysis import Comparison, ConditionAnalysis, Distinct, Positions, PromptAnalysis
from temp0.report.beside import beside
from temp0.report.figure import some
from temp0.report.naming import quoted

_TOKENS, _LOGPROBS, _TOP = "token sequences", "logprobs", "logprobs of the alternatives"

Part = tuple[str, int]
"""What differs below the text, and from which token on."""


def levels(prompt: PromptAnalysis) -> tuple[str, ...]:
    """What the folded texts, the stricter levels and what stands beside the texts say of a prompt, as sentences."""
    part = _below(prompt.first_difference)
    deeper = _before_text(prompt.first_difference) if prompt.distinct.text > 1 else _beneath_text(prompt, part)
    told = (_folded(prompt.distinct), deeper, _within(prompt))
    return (*(sentence for sentence in told if sentence), *beside(prompt))


def between(pair: Comparison) -> str | None:
    """`one text; logprobs differ from token 0 on`: where two conditions part though their texts do not."""
    part = _below(pair.first_difference)
    return f"one text; {_differ(part)}" if part and pair.first_difference.text is None else None


def _folded(distinct: Distinct) -> str | None:
    if distinct.folded is None or distinct.folded == distinct.text:
        return None
    left = "one" if distinct.folded == 1 else f"{distinct.folded:,}"
    texts = some(distinct.text, "different text")
    return f"{texts}, {left} after folding Unicode forms, outer white space and line ends."


def _beneath_text(prompt: PromptAnalysis, part: Part | None) -> str | None:
    if prompt.distinct.text != 1:
        return None
    if part:
        return f"One text, but {_differ(part)}: equal text is not equal computation."
    distinct = prompt.distinct
    counts = (("tokens", distinct.tokens), (_LOGPROBS, distinct.logprobs), (_TOP, distinct.top_logprobs))
    alike = [name for name, count in counts if count == 1]
    return (
        f"One text, and one computation as far as the server told: equal {_row(alike)}." if _LOGPROBS in alike else None
    )


def _before_text(first: Positions) -> str | None:
    """Where logprobs part before the text does."""
    known = ((token, name) for name, token in ((_LOGPROBS, first.logprobs), (_TOP, first.top_logprobs)))
    parts = [(token, name) for token, name in known if token is not None]
    if not parts or first.text is None:
        return None
    token, name = min(parts, key=lambda part: part[0])
    if first.tokens is None:
        return f"Texts part at character {first.text:,}; where logprobs were asked for, {_differ((name, token))}."
    if token >= first.tokens:
        return None
    return f"Texts part at character {first.text:,}, tokens at token {first.tokens:,}; {_differ((name, token))}."


def _within(prompt: PromptAnalysis) -> str | None:
    """The conditions that do not repeat their own computation, though they repeat their text."""
    unsteady = [one for one in prompt.conditions if one.distinct.text == 1 and _below(one.first_difference)]
    if not unsteady or len(prompt.conditions) == 1:
        return None
    first = min((part for one in unsteady if (part := _below(one.first_difference))), key=lambda part: part[1])
    return f"Even within {_each(unsteady)}, where the text stays, {_differ(first)}."


def _each(conditions: list[ConditionAnalysis]) -> str:
    names = quoted([one.name for one in conditions])
    return names if len(conditions) == 1 else f"each of {names}"


def _below(first: Positions) -> Part | None:
    """The loosest level below the text that differs."""
    known = ((_TOKENS, first.tokens), (_LOGPROBS, first.logprobs), (_TOP, first.top_logprobs))
    return next(((name, token) for name, token in known if token is not None), None)


def _differ(part: Part) -> str:
    return f"{part[0]} differ from token {part[1]:,} on"


def _row(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
