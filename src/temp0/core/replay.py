"""Which completions were replayed from a response cache, and so are no new observations.

Latency alone is never evidence. A prompt's text is never changed to get past a cache: that would be another question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from statistics import median

from temp0.core.header import tells_cache
from temp0.core.run import Attempt, Completion, Run

REPLAYED = "replayed"
"""The reason under which a replayed completion is excluded."""

RESOLUTION_S = 1.0
"""What servers count times of creation in."""
FASTER = 0.5
"""The share of a new answer's time within which a repeated one came much faster."""
COARSE_S = (86_400, 3_600, 60)
"""Steps in which a coarse clock may count: all times of creation are whole days, hours or minutes."""
JITTER_S = 0.1
"""What a clock may be off from one answer to the next."""
ON_TIME_S = 0.5
"""Within which a server's clock agrees with ours, where one time of creation is all there is to go by."""
CLOCKS = 3
"""So many clocks, each set differently, are no explanation of one time of creation; two may be two machines."""

_HIT = re.compile(r"hit(?![a-z])", re.IGNORECASE)  # also in TCP_MEM_HIT and RefreshHit
_NO_HIT = re.compile(r"miss|pass", re.IGNORECASE)
_SAYS_SO = re.compile(r"(?:\bhit|\bfrom-cache|\bcached|\breplayed)$")
_YES = frozenset({"1", "true", "yes"})


def replays(attempts: Sequence[Attempt], *, shared_ids: frozenset[str], head: Run | None = None) -> dict[int, str]:
    """The orders of replayed attempts, each with what shows it; `attempts` are those of one prompt, in their order.

    A header says so; or id, time of creation and text are those of an earlier attempt that had ended before this one
    left. `shared_ids` came with more than one text or time of creation, so that they name no answer. A time of
    creation is told in whole seconds: within one second it proves nothing of an id that never changes, unless the
    repeated answers came much faster, too. Or, under whatever ids, the time of creation of a text stands still while a
    clock that was on time would have gone on; `head` is the run without its attempts, which tells what time it was.
    """
    answers = {id(attempt.outcome): attempt.outcome for attempt in attempts}
    hits = {key: hit for key, answer in answers.items() if isinstance(answer, Completion) and (hit := _hit(answer))}
    found = {one.order: hits[id(one.outcome)] for one in attempts if id(one.outcome) in hits} if hits else {}
    for same in _same_answers(attempts, shared_ids):
        ended_s = min(one.ended_s for one in same)
        again = [attempt for attempt in same[1:] if attempt.started_s >= ended_s]
        for attempt in again if _can_tell(same, again) else ():
            found.setdefault(attempt.order, _seen_before(same, again))
    if any(isinstance(answer, Completion) and answer.created is not None for answer in answers.values()):
        for first, *later in _left_behind(attempts, head):
            for attempt in later:
                found.setdefault(attempt.order, _older_than_asked(attempt, first))
    return found


def stand_still(told: Sequence[tuple[Hashable, float, float]]) -> bool:
    """Whether some time of creation was told for longer than any clock can; where none was, `replays` needs none.

    `told` has it with the start and the end of each judged attempt of a prompt.
    """
    started_last = {created: started_s for created, started_s, _ in sorted(told, key=itemgetter(1))}
    ended_first = {created: ended_s for created, _, ended_s in sorted(told, key=itemgetter(2), reverse=True)}
    longest_s = RESOLUTION_S + 2 * JITTER_S
    return any(started_last[created] - ended_s > longest_s for created, ended_s in ended_first.items())


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


Made = tuple[int, Attempt]
"""A time of creation, and the judged attempt whose answer told it."""


def _left_behind(attempts: Sequence[Attempt], head: Run | None) -> list[list[Attempt]]:
    """Of each text whose time of creation stands still: the attempt that it was made for, and those it is too old for.

    A clock that stands still for two texts at once is a clock that stands still, and no cache.
    """
    made: dict[tuple[int, str], list[Attempt]] = {}
    for one in attempts:
        answer = one.outcome
        if one.role == "judged" and isinstance(answer, Completion) and answer.created is not None:
            made.setdefault((answer.created, answer.text), []).append(one)
    step_s = _step_s(created for created, _ in made)
    still = {key: same for key, same in made.items() if _clocks(same, step_s) >= CLOCKS}
    texts = Counter(created for created, _ in still)
    told = [(created, one) for (created, _), same in made.items() for one in same] if still else []
    return [
        [first, *(one for one in same if one.started_s >= first.ended_s)]
        for (created, _), same in still.items()
        for first in [min(same, key=lambda one: one.ended_s)]
        if texts[created] == 1
        if _is_on_time((created, first), step_s, head) or any(_agree((created, first), one, step_s) for one in told)
    ]


def _step_s(times: Iterable[int]) -> float:
    """What the clock that told these times counts in."""
    told = set(times)
    return next((float(step) for step in COARSE_S if all(one % step == 0 for one in told)), RESOLUTION_S)


def _clocks(same: Iterable[Attempt], step_s: float) -> int:
    """How many clocks it takes to tell one time of creation at all these moments: each tells it for one step only."""
    clocks, until_s = 0, float("-inf")
    for one in sorted(same, key=lambda one: one.ended_s):
        if one.started_s > until_s:
            clocks, until_s = clocks + 1, one.ended_s + step_s + 2 * JITTER_S
    return clocks


def _ahead_s(made: Made, step_s: float) -> tuple[float, float]:
    """By how much the server's clock is ahead of seconds since the run was created: the least and the most."""
    created, one = made
    return created - one.ended_s - JITTER_S, created + step_s - one.started_s + JITTER_S


def _is_on_time(made: Made, step_s: float, head: Run | None) -> bool:
    """Whether an answer was made while it was asked for, by our own clock."""
    if head is None or head.untold:
        return False
    least_s, most_s = _ahead_s(made, step_s)
    began_s = datetime.fromisoformat(head.created).timestamp()
    return least_s - ON_TIME_S <= began_s <= most_s + ON_TIME_S


def _agree(made: Made, other: Made, step_s: float) -> bool:
    """Whether two times of creation, not the same, are those of one clock that goes."""
    (least_s, most_s), (others_least_s, others_most_s) = _ahead_s(made, step_s), _ahead_s(other, step_s)
    return made[0] != other[0] and least_s <= others_most_s and others_least_s <= most_s


def _older_than_asked(attempt: Attempt, first: Attempt) -> str:
    gone_s = attempt.started_s - first.ended_s
    return f"text and time of creation are those of an earlier answer, which had ended {gone_s:.1f} s before"


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
