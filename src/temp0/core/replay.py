"""Which completions were replayed from a response cache, and so are no new observations.

Latency alone is never evidence. A prompt's text is never changed to get past a cache: that would be another question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from temp0.core.header import tells_cache
from temp0.core.run import Attempt, Completion

REPLAYED = "replayed"
"""The reason under which a replayed completion is excluded."""

RESOLUTION_S = 1.0
"""What servers count times of creation in."""
FASTER = 0.5
"""The share of a new answer's time within which a repeated one came much faster."""

_HIT = re.compile(r"hit(?![a-z])", re.IGNORECASE)  # also in TCP_MEM_HIT and RefreshHit
_NO_HIT = re.compile(r"miss|pass", re.IGNORECASE)
_SAYS_SO = re.compile(r"(?:\bhit|\bfrom-cache|\bcached|\breplayed)$")
_YES = frozenset({"1", "true", "yes"})


def replays(attempts: Sequence[Attempt], *, shared_ids: frozenset[str]) -> dict[int, str]:
    """The orders of replayed attempts, each with what shows it; `attempts` are those of one prompt, in their order.

    A header says so; or id, time of creation and text are those of an earlier attempt that had ended before this one
    left. `shared_ids` came with more than one text or time of creation, so that they name no answer. A time of
    creation is told in whole seconds: within one second it proves nothing of an id that never changes, unless the
    repeated answers came much faster, too.
    """
    answers = {id(attempt.outcome): attempt.outcome for attempt in attempts}
    hits = {key: hit for key, answer in answers.items() if isinstance(answer, Completion) and (hit := _hit(answer))}
    found = {one.order: hits[id(one.outcome)] for one in attempts if id(one.outcome) in hits} if hits else {}
    for same in _same_answers(attempts, shared_ids):
        ended_s = min(one.ended_s for one in same)
        again = [attempt for attempt in same[1:] if attempt.started_s >= ended_s]
        for attempt in again if _can_tell(same, again) else ():
            found.setdefault(attempt.order, _seen_before(same, again))
    return found


def _hit(answer: Completion) -> str | None:
    """The last header that says that the answer came from a cache."""
    told = [f"{name}: {value}" for name, value in answer.headers if tells_cache(name) and _is_hit(name, value)]
    return f"the server says so: {told[-1]}" if told else None


def _same_answers(attempts: Sequence[Attempt], shared_ids: frozenset[str]) -> list[list[Attempt]]:
    """Attempts of one id, time of creation and text, where there are several."""
    ids = [attempt.outcome.id for attempt in attempts if isinstance(attempt.outcome, Completion)]
    repeated = {name for name, count in Counter(ids).items() if name and count > 1} - shared_ids
    answers: dict[tuple[str, int, str], list[Attempt]] = {}
    for attempt in attempts if repeated else ():
        answer = attempt.outcome
        if isinstance(answer, Completion) and answer.id in repeated and answer.created is not None:
            answers.setdefault((answer.id, answer.created, answer.text), []).append(attempt)
    return [same for same in answers.values() if len(same) > 1]


def _can_tell(same: Sequence[Attempt], again: Sequence[Attempt]) -> bool:
    """Whether the time of creation is too old for the last of these, or the repeated ones came much faster."""
    span_s = max(one.started_s for one in same) - min(one.ended_s for one in same)
    return span_s >= RESOLUTION_S or (bool(again) and _took_s(again) <= FASTER * _took_s(_new(same, again)))


def _new(same: Sequence[Attempt], again: Sequence[Attempt]) -> list[Attempt]:
    repeated = {attempt.order for attempt in again}
    return [one for one in same if one.order not in repeated]


def _took_s(attempts: Sequence[Attempt]) -> float:
    return median(one.ended_s - one.started_s for one in attempts)


def _seen_before(same: Sequence[Attempt], again: Sequence[Attempt]) -> str:
    first = min(same, key=lambda attempt: attempt.order)
    new_ms, again_ms = 1000 * _took_s(_new(same, again)), 1000 * _took_s(again)
    answer = first.outcome
    name = answer.id if isinstance(answer, Completion) else None
    return (
        f"id {name}, time of creation and text are those of an earlier answer ({new_ms:.0f} ms, then {again_ms:.0f} ms)"
    )


def _is_hit(name: str, value: str) -> bool:
    """Whether a cache header says that this very answer came from the cache."""
    name = name.lower()
    if name == "age":
        return value.strip().isdecimal() and int(value) > 0
    if name == "cache-status":  # RFC 9211: each cache with its parameters, of which `hit` is one
        return any("hit" in re.split(r"\s*;\s*", cache.strip().lower())[1:] for cache in value.split(","))
    if name == "x-varnish":  # the number of this request, and beside it that of the one which filled the cache
        return len(value.split()) == 2
    first = re.split(r"[,;]", value)[0]
    if _HIT.search(first) and not _NO_HIT.search(first):
        return True
    return value.strip().lower() in _YES and bool(_SAYS_SO.search(name))
