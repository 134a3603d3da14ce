"""Why a prompt does not pass the gate, in words that name the texts, the failure or the doubt.

Words quote endpoints as they are; who shows them makes them safe to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os.path import commonprefix

from temp0.core.analysis import ConditionAnalysis, PromptAnalysis, Verdict
from temp0.core.baseline import BEGINNING, KnownPrompt
from temp0.core.facts import Facts
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Failure

_QUOTED = 40
_WAYS = 3


def loss(known: Facts, seen: PromptAnalysis, deciding: Sequence[Condition], stopped: str) -> str:
    """What of the planned answers is not there to be judged; empty where each deciding condition has all of them.

    An answer that came and was replayed is there, unless a condition has nothing else. `stopped` is said of what was
    never asked.
    """
    judged = [attempt for condition in deciding for attempt in known.judged.get(condition.name, ())]
    planned = sum(known.plan.judged(known.chapter.prompt, condition) for condition in deciding)
    came = sum(isinstance(attempt.outcome, Completion) for attempt in judged)
    if came < planned:
        why = told_failure(judged) or stopped
        return f"{came} of {planned} answers came; {why}" if came else why
    empty = {condition.name for condition in deciding if not known.counted.get(condition.name)}
    return next((_excluded(one, one.attempts) for one in seen.conditions if one.name in empty), "")


def told_failure(attempts: Iterable[Attempt]) -> str:
    """The last failure among attempts, which is what kept the asking from coming to its end."""
    failed = [(attempt.order, attempt.outcome) for attempt in attempts if isinstance(attempt.outcome, Failure)]
    if not failed:
        return ""
    _, last = max(failed, key=lambda one: one[0])
    return f"{last.reason}: {last.message}"


def doubt(known: Facts, seen: PromptAnalysis, deciding: Sequence[Condition]) -> str:
    """Why answers that are all alike do not show that the prompt agrees; empty where they do."""
    planned = {condition.name: known.plan.judged(known.chapter.prompt, condition) for condition in deciding}
    for one in seen.conditions:
        if one.name in planned and (told := _doubt(one, len(known.counted.get(one.name, ())), planned[one.name])):
            return told
    return ""


def _doubt(one: ConditionAnalysis, counted: int, planned: int) -> str:
    if one.excluded and 2 * counted < planned:
        return _excluded(one, planned)
    if one.verdict is not Verdict.UNDECIDED:
        return ""
    if counted < 2:
        return f"one answer under {one.name} can be compared with nothing"
    if one.length is not None and not one.length.max:
        return f"every answer under {one.name} is empty"
    return f"nothing shows that {one.company.asked} requests ran together under {one.name}"


def _excluded(one: ConditionAnalysis, planned: int) -> str:
    count = sum(tally.count for tally in one.excluded)
    why = "".join(f": {tally.reason}: {tally.message}" for tally in one.excluded[:1])
    return f"{count} of {planned} answers under {one.name} do not count{why}"


def parting(texts: Mapping[str, int]) -> str:
    """Where texts part, and how the commonest of them go on from there with how often they came.

    >>> parting({"a stale line": 3, "a stale cache": 1})
    'from character 8 on: 3 "line", 1 "cache"'
    """
    place = len(commonprefix(list(texts)))
    ways = sorted(texts.items(), key=lambda one: (-one[1], one[0]))[:_WAYS]
    more = len(texts) - len(ways)
    told = [f"{count} {_quoted(text[place:])}" for text, count in ways]
    return f"from character {place} on: {', '.join(told)}{f' and {more} more' if more else ''}"


def drift(before: KnownPrompt, text: str, fold: Callable[[str], str]) -> str:
    """How a text differs from the commonest that the baseline has, as far as that is kept."""
    known = before.texts[0]
    kept = fold(known.begins if known.text is None else known.text)
    cut = "…" if known.text is None and len(known.begins) == BEGINNING else ""
    place = len(commonprefix([kept, text]))
    if cut and place == len(kept):
        return f"it begins as before; how it went on after character {place} is not kept (texts = true keeps it)"
    return f"from character {place} on it was {_quoted(kept[place:] + cut)} and is {_quoted(text[place:])}"


def _quoted(text: str) -> str:
    """The beginning of a text in quotation marks."""
    return f'"{text[:_QUOTED]}{"…" if len(text) > _QUOTED else ""}"{"" if text else " (it ends)"}'
