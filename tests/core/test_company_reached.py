"""Company asked and reached: what the server counted, what our own record shows, and why company was missed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from building import REFUSED

from temp0.core.analysis import Company
from temp0.core.company import Pace, company, is_shown, running_alone
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Failure, Role, Sample

TEXT = Completion(text="x" * 100)
PACES = {"P": Pace(alone_s=1.0, length=100)}
EIGHT = Condition(company=8)

Blocks = dict[int, Sequence[Attempt]]


def attempt(
    start: float,
    end: float,
    *,
    role: Role = "judged",
    in_flight: int = 1,
    prompt: str = "P",
    outcome: Completion | Failure = TEXT,
) -> Attempt:
    return Attempt(
        order=0,
        prompt=prompt,
        condition="c",
        block=0,
        role=role,
        started_s=start,
        first_byte_s=None,
        ended_s=end,
        in_flight=in_flight,
        predecessor=None,
        outcome=outcome,
    )


def twins(*ends: float, start: float = 0.0) -> list[Attempt]:
    """Judged attempts that leave together."""
    return [attempt(start, end, in_flight=place) for place, end in enumerate(ends, start=1)]


def kept_full(judged: Sequence[Attempt]) -> list[Attempt]:
    """Add fillers that take over each place until the last judged attempt is done."""
    last = max(one.ended_s for one in judged)
    places = len(judged)
    return [
        *judged,
        *(
            attempt(one.ended_s, last + 1, role="filler", in_flight=places, outcome=Completion(text="x"))
            for one in judged
            if one.ended_s < last
        ),
    ]


def counted(block: int, *running: float, at_s: float = 0.5) -> dict[int, list[Sample]]:
    return {block: [Sample(at_s=at_s, block=block, running=count) for count in running]}


def found(condition: Condition, block: Sequence[Attempt], samples: dict[int, list[Sample]] | None = None) -> Company:
    return company(condition, {0: block}, samples or {}, PACES)


# Our own record


def test_alone_is_one_of_ours_in_flight() -> None:
    one = company(Condition(), {place: [attempt(place, place + 1)] for place in range(3)}, {}, PACES)
    assert (one.in_flight, one.peak, one.reached, one.shortfall) == (1.0, 1, 1.0, None)


def test_alone_beside_fillers_that_had_ended_before_is_alone() -> None:
    one = found(Condition(), [attempt(2, 3), attempt(0, 1.5, role="filler", in_flight=8)])
    assert (one.in_flight, one.peak) == (1.0, 1)


def test_an_attempt_meant_to_be_alone_that_was_not_is_seen() -> None:
    one = found(Condition(), [attempt(2, 4, in_flight=2), attempt(0, 3, role="filler")])
    assert (one.in_flight, one.peak) == (1.5, 2)


def test_nothing_asked_has_nothing_in_flight() -> None:
    assert company(EIGHT, {}, {}, PACES) == Company(asked=8, reached=None, measured_by=None)


def test_the_mean_in_flight_weighs_time_from_the_first_judged_start_to_the_last_judged_end() -> None:
    block = [
        attempt(1, 3),
        attempt(2, 5),
        attempt(0, 1.5, role="filler"),
        attempt(4, 9, role="filler"),
        attempt(6, 9, role="filler"),
    ]
    one = found(Condition(company=3), block)
    assert one.in_flight == (2 + 3 + 0.5 + 1) / 4
    assert one.peak == 2


def test_one_that_ended_as_another_left_was_not_beside_it() -> None:
    assert found(Condition(company=2), [attempt(0, 1), attempt(1, 2), attempt(2, 3)]).peak == 1


def test_the_peak_believes_what_an_attempt_counted_as_it_left() -> None:
    assert found(EIGHT, [attempt(0, 1, in_flight=8)]).peak == 8


def test_what_a_filler_of_the_block_before_counted_is_no_company_of_this_one() -> None:
    assert found(EIGHT, [attempt(1, 2), attempt(0, 1.5, role="filler", in_flight=8)]).peak == 2


def test_the_mean_is_the_median_over_blocks_and_the_peak_their_largest() -> None:
    blocks: Blocks = {
        0: twins(1, 1),
        1: twins(3, 3, 3, 3, start=2),
        2: [attempt(4, 5)],
    }
    one = company(Condition(company=4), blocks, {}, {})
    assert (one.in_flight, one.peak) == (2.0, 4)


def test_a_block_that_took_no_time_has_a_peak_and_no_mean() -> None:
    one = found(EIGHT, twins(0, 0))
    assert (one.in_flight, one.peak, one.reached, one.shortfall) == (None, 2, None, None)


# Why company was missed


def test_full_company_that_the_server_counted_lacks_nothing() -> None:
    one = found(EIGHT, twins(*[1.0] * 8), counted(0, 8, 8, 7))
    assert (one.reached, one.shortfall, is_shown(one)) == (8, None, True)


def test_a_server_that_counts_one_while_ours_were_together_answers_one_at_a_time() -> None:
    one = found(EIGHT, kept_full(twins(*range(1, 9))), counted(0, 1, 1, 1))
    assert (one.reached, one.measured_by, one.in_flight, one.shortfall) == (1, "server", 8.0, "serial")
    assert not is_shown(one)


def test_a_server_that_was_seen_with_more_than_one_does_not_answer_one_at_a_time() -> None:
    straggling = [*twins(*[1.0] * 7), attempt(0, 10, in_flight=8)]
    one = found(EIGHT, straggling, counted(0, 8, 1, 1))
    assert (one.reached, one.shortfall) == (1, "late")


def test_a_server_that_counts_one_where_ours_were_not_together_may_be_innocent() -> None:
    one = found(EIGHT, [attempt(place, place + 1) for place in range(8)], counted(0, 1, 1))
    assert (one.peak, one.in_flight, one.shortfall) == (1, 1.0, "pool")


def test_without_a_count_answers_that_end_one_after_another_show_a_serial_server() -> None:
    one = found(EIGHT, kept_full(twins(*range(1, 9))))
    assert (one.reached, one.measured_by, one.shortfall) == (1.0, "speed-up", "serial")


def test_without_a_count_a_batch_that_saves_no_time_is_not_taken_for_a_serial_server() -> None:
    one = found(EIGHT, twins(*(8 + place / 100 for place in range(8))))
    assert one.reached == pytest.approx(1.0, abs=0.02)
    assert (is_shown(one), one.shortfall) == (False, None)


def test_twins_of_unlike_length_in_a_batch_that_saves_no_time_are_not_taken_for_a_serial_server() -> None:
    half = Completion(text="x" * 50)
    block = [attempt(0, 1.0, in_flight=1, outcome=half), attempt(0, 1.5, in_flight=2)]
    one = found(Condition(company=2), kept_full(block))
    assert (one.reached, one.shortfall) == (pytest.approx(1.0), None)


def test_company_that_the_time_saved_shows_is_no_serial_server() -> None:
    one = found(Condition(company=2), kept_full(twins(0.25, 1.0)))
    assert (is_shown(one), one.shortfall) == (True, None)


def test_judged_attempts_that_were_not_together_do_not_tell_a_serial_server() -> None:
    fillers = [attempt(0, 20, role="filler", in_flight=place) for place in range(2, 9)]
    assert found(EIGHT, [attempt(0, 8), attempt(8, 16), *fillers]).shortfall is None


def test_without_a_count_or_a_time_alone_nobody_knows_whether_a_server_is_serial() -> None:
    one = company(EIGHT, {0: kept_full(twins(*range(1, 9)))}, {}, {})
    assert (one.reached, one.shortfall) == (None, None)


def test_fillers_of_other_prompts_do_not_tell_a_serial_server() -> None:
    # One judged attempt at a time has no twin, and what other prompts take alone is not known.
    mixed = Condition(company=8, filler="mixed")
    assert found(mixed, kept_full(twins(*range(1, 9)))).shortfall is None


def test_a_failure_is_no_answer_of_a_serial_server() -> None:
    block = [attempt(0, 8, in_flight=place, outcome=TEXT if place == 1 else REFUSED) for place in range(1, 9)]
    one = found(EIGHT, block)
    assert (one.reached, one.shortfall) == (0.125, None)


def test_fewer_of_ours_in_flight_than_asked_is_a_pool_too_small() -> None:
    one = found(EIGHT, twins(*[1.0] * 5), counted(0, 5))
    assert (one.reached, one.peak, one.shortfall, is_shown(one)) == (5, 5, "pool", True)


def test_strangers_do_not_make_up_for_a_pool_too_small() -> None:
    assert found(EIGHT, [attempt(0, 1)], counted(0, 12)).shortfall == "pool"


def test_a_load_that_came_as_the_judged_attempt_ended_came_late() -> None:
    late = [attempt(0, 10), *(attempt(9, 12, role="filler", in_flight=place) for place in range(2, 9))]
    one = found(EIGHT, late, counted(0, 1, 1, 8))
    assert (one.peak, one.in_flight, one.shortfall) == (8, 1.7, "late")


@pytest.mark.parametrize(("joined_s", "shortfall"), [(1.0, None), (1.001, "late")])
def test_three_quarters_of_the_company_asked_are_enough(joined_s: float, shortfall: str | None) -> None:
    joined = [attempt(joined_s, 3, role="filler", in_flight=place) for place in (3, 4)]
    assert found(Condition(company=4), [*twins(2, 2), *joined], counted(0, 4)).shortfall == shortfall


def test_a_server_that_counts_less_than_our_record_holds_is_shown_with_what_it_reached() -> None:
    one = found(Condition(company=128), twins(*[1.0] * 128), counted(0, 100, 100, 99))
    assert (one.asked, one.reached, one.peak, one.shortfall, is_shown(one)) == (128, 100, 128, None, True)


def test_alone_lacks_no_company_however_long_the_pauses() -> None:
    one = found(Condition(), [attempt(0, 1), attempt(9, 10)], counted(0, 1))
    assert (one.in_flight, one.shortfall) == (0.2, None)


def test_an_attempt_without_duration_saves_no_time() -> None:
    one = found(Condition(company=2), [attempt(0, 1), attempt(0.5, 0.5, in_flight=2)])
    assert one.reached == 1.0


# Alone, by the server's count


def test_the_most_that_the_server_counted_while_we_were_alone_is_kept() -> None:
    blocks: Blocks = {0: [attempt(0, 1)], 1: [attempt(2, 3)]}
    assert running_alone(blocks, {**counted(0, 3, 1), **counted(1, 2, at_s=2.5)}) == 2
    assert running_alone(blocks, counted(0, 1, 1)) == 1


def test_counts_of_other_times_and_blocks_say_nothing_of_being_alone() -> None:
    blocks: Blocks = {0: [attempt(0, 1), attempt(0, 5, role="filler")]}
    assert running_alone(blocks, {**counted(0, 9, at_s=1.5), **counted(7, 9)}) is None


def test_without_a_count_nothing_is_known_of_strangers() -> None:
    assert running_alone({0: [attempt(0, 1)]}, {}) is None
