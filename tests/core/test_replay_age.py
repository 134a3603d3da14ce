"""Answers under new ids whose time of creation stands still: replays, or clocks that only look like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from building import ALONE, built_run
from hypothesis import given
from hypothesis import strategies as st

from temp0.core.analysis import Verdict
from temp0.core.judgement import analysis
from temp0.core.replay import replays
from temp0.core.run import Attempt, Completion, Run

HEAD = replace(built_run({"P": {ALONE: ["A"]}}), created="2026-01-01T07:12:31Z", attempts=())
BEGAN = int(datetime.fromisoformat(HEAD.created).timestamp())
Made = tuple[float, float, int] | tuple[float, float, int, str]
"""When an attempt left, when its answer was there, its time of creation, and its text."""


def attempts(told: Sequence[Made]) -> list[Attempt]:
    answers = [(started_s, ended_s, created, *text) for started_s, ended_s, created, *text in told]
    return [
        replace(
            built_run({"P": {ALONE: ["?"]}}).attempts[0],
            order=order,
            started_s=started_s,
            ended_s=ended_s,
            outcome=Completion(text=text[0] if text else "A", id=f"r-{order}", created=created),
        )
        for order, (started_s, ended_s, created, *text) in enumerate(answers)
    ]


def found(told: Sequence[Made], *, head: Run | None = HEAD) -> list[int]:
    return sorted(replays(attempts(told), shared_ids=frozenset(), head=head))


def kept(*, ahead_s: int = 0, first_s: float = 0.0, count: int = 9) -> list[Made]:
    """An answer that took two seconds, and then came again every half second."""
    created = BEGAN + int(first_s) + ahead_s
    again = [(first_s + 2 + place / 2, first_s + 2.4 + place / 2, created) for place in range(count - 1)]
    return [(first_s, first_s + 2, created), *again]


def test_answers_that_are_older_than_their_requests_are_replays_whatever_their_ids() -> None:
    assert found(kept()) == [*range(1, 9)]
    message = replays(attempts(kept()), shared_ids=frozenset(), head=HEAD)[8]
    assert message == "text and time of creation are those of an earlier answer, which had ended 3.5 s before"


def test_the_first_answer_of_each_time_that_a_cache_keeps_one_counts() -> None:
    assert found([*kept(), *kept(first_s=20.0)]) == [*range(1, 9), *range(10, 18)]


def test_within_what_a_clock_may_stand_still_nothing_is_told() -> None:
    assert found(kept(count=8)) == []


@pytest.mark.parametrize("ahead_s", [3600, -3600, 7, -7])
def test_one_time_of_a_clock_set_otherwise_than_ours_is_no_evidence(ahead_s: int) -> None:
    assert found(kept(ahead_s=ahead_s)) == []


@pytest.mark.parametrize("ahead_s", [3600, -3600, 7, -7])
def test_a_clock_set_otherwise_that_is_seen_to_go_is_evidence(ahead_s: int) -> None:
    another: Made = (9.0, 9.5, BEGAN + 9 + ahead_s, "B")
    assert found([*kept(ahead_s=ahead_s), another]) == [*range(1, 9)]
    assert found([*kept(ahead_s=ahead_s), another], head=None) == [*range(1, 9)]


@pytest.mark.parametrize("created", [0, 1, BEGAN - 30, BEGAN - 30 - BEGAN % 60])
def test_a_time_that_never_changes_is_no_evidence(created: int) -> None:
    assert found([(place, place + 0.9, created) for place in range(40)]) == []


def test_two_texts_of_one_time_show_a_clock_that_stands_still() -> None:
    assert found([(place, place + 0.9, BEGAN, "AB"[place % 2]) for place in range(40)]) == []


@pytest.mark.parametrize("step_s", [60, 3600, 86_400])
def test_a_coarse_clock_is_no_cache(step_s: int) -> None:
    head = replace(HEAD, created="2026-01-01T23:59:31Z")
    began = int(datetime.fromisoformat(head.created).timestamp())
    told = [(place, place + 0.9, (began + place) // step_s * step_s) for place in range(59)]
    assert len({created for _, _, created in told}) == 2  # at midnight one is on time
    assert found(told, head=head) == []


def test_a_machine_whose_clock_lags_replays_nothing() -> None:
    told = [(place / 2, place / 2 + 0.4, BEGAN + place // 2 - (20 if place % 3 else 0)) for place in range(120)]
    assert found(told) == []


def test_times_of_an_imported_run_mean_nothing() -> None:
    assert found(kept(), head=replace(HEAD, untold=("order",))) == []


def test_what_a_filler_was_told_is_no_replay() -> None:
    fillers = [replace(one, role="filler") for one in attempts(kept())]
    assert replays(fillers, shared_ids=frozenset(), head=HEAD) == {}


def test_a_run_counts_only_what_was_computed_for_it() -> None:
    told = [*kept(), (9.0, 9.5, BEGAN + 9, "A")]
    run = built_run({"P": {ALONE: ["A"] * len(told)}})
    run = replace(run, created=HEAD.created, attempts=tuple(
        replace(one, started_s=made.started_s, ended_s=made.ended_s, outcome=made.outcome)
        for one, made in zip(run.attempts, attempts(told), strict=True)
    ))  # fmt: skip
    judged = analysis(run)
    alone = judged.prompts[0].conditions[0]
    assert (alone.completions, alone.excluded[0].count) == (2, 8)
    assert [cause.cause for cause in judged.causes] == ["response-cache"]
    assert judged.verdict is Verdict.AGREED


@st.composite
def honest(draw: st.DrawFn) -> list[Made]:
    """Answers that were all computed, by one of two machines, each told its time by the clock of its own."""
    ahead_s = draw(st.tuples(*[st.floats(-1e5, 1e5)] * 2))
    step_s = draw(st.sampled_from([1, 60]))
    told: list[Made] = []
    at_s = 0.0
    for _ in range(draw(st.integers(3, 25))):
        at_s += draw(st.floats(0, 4))
        took_s = draw(st.floats(0, 3))
        made_s = BEGAN + at_s + draw(st.floats(0, 1)) * took_s + ahead_s[draw(st.integers(0, 1))]
        told.append((at_s, at_s + took_s, int(made_s // step_s * step_s), draw(st.sampled_from("AAB"))))
    return told


@given(honest())
def test_no_answer_that_was_computed_is_a_replay_however_the_clocks_are_set(told: list[Made]) -> None:
    assert found(told) == []
