"""The price that follows from hand-made rounds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.plan import Message, Prompt
from temp0.core.tax import Row, Tax, price_of_rates, price_of_times, spread, tax
from temp0.core.tax_plan import READINGS, SideName, Step, TaxPlan
from temp0.core.tax_record import Burst, Fault, Machine, Measured, Reading, Side, Terms, Timed
from temp0.errors import PlanError

SIDES = (
    Side(name="stock", url=None, model="m", arithmetic="stock", weight_dtype="fp32"),
    Side(name="invariant", url=None, model="m", arithmetic="invariant", weight_dtype="bf16"),
    Side(name="equal-bytes", url=None, model="m", arithmetic="invariant", weight_dtype="fp32"),
)
TERMS = Terms(sides=SIDES, machine=Machine(processor="p", cores=2, load=0.1), cache="off", ignores_eos=True, threads=2)


def prompts(count: int = 5) -> tuple[Prompt, ...]:
    return tuple(
        Prompt(id=f"p{place}", messages=(Message(role="user", content="x"),), n=1, max_tokens=4)
        for place in range(count)
    )


def plan(**given: object) -> TaxPlan:
    usual = {"prompts": prompts(), "in_flight": (1, 4), "rounds": 3, "max_tokens": 4, "ttft_tokens": 64}
    return TaxPlan(**{**usual, **given})  # type: ignore[arg-type]


def burst(
    side: SideName,
    number: int,
    seconds: float,
    *,
    in_flight: int = 4,
    tokens: int = 4,
    token_s: Sequence[float | None] = (0.1,),
    texts: Sequence[str] = ("t",),
) -> Burst:
    answers = [
        Timed(prompt=f"p{place}", sha256=text, tokens=tokens, token_s=token_s[place % len(token_s)])
        for place, text in enumerate(texts)
    ]
    return Burst(round=number, side=side, in_flight=in_flight, seconds=seconds, answers=tuple(answers))


def taxed(*bursts: Burst, readings: Sequence[Reading] = (), **given: object) -> Tax:
    wanted = plan(**given)
    return tax(Measured(plan=wanted, terms=TERMS, bursts=bursts, readings=tuple(readings)))


def only_row(*bursts: Burst, readings: Sequence[Reading] = ()) -> Row:
    (row,) = taxed(*bursts, readings=readings).rows
    return row


def test_the_tax_is_a_fraction_of_time_and_negative_where_invariant_is_faster() -> None:
    row = only_row(burst("stock", 0, 2.0, token_s=[0.2]), burst("invariant", 0, 1.0, token_s=[0.05]))
    assert row.throughput is not None
    assert row.token is not None
    assert (row.throughput.stock.median, row.throughput.invariant.median) == (2.0, 4.0)
    assert row.throughput.tax.median == -0.5
    assert row.token.tax.median == pytest.approx(-0.75)


def test_a_third_more_time_is_the_same_tax_in_throughput_and_in_time() -> None:
    row = only_row(burst("stock", 0, 3.0, token_s=[0.3]), burst("invariant", 0, 4.0, token_s=[0.4]))
    assert row.throughput is not None
    assert row.token is not None
    assert row.throughput.tax.median == pytest.approx(1 / 3)
    assert row.token.tax.median == pytest.approx(1 / 3)


def test_drift_of_the_machine_drops_out_because_ratios_stay_within_their_round() -> None:
    drifting = price_of_times([(1.0, 0.9), (10.0, 9.0), (100.0, 90.0)])
    assert drifting is not None
    assert drifting.tax.low == pytest.approx(-0.1)
    assert drifting.tax.high == pytest.approx(-0.1)


def test_the_tax_is_the_median_of_ratios_and_not_the_ratio_of_medians() -> None:
    price = price_of_times([(1.0, 1.2), (5.0, 6.0), (4.0, 2.0)])
    assert price is not None
    assert (price.stock.median, price.invariant.median) == (4.0, 2.0)
    assert price.tax.median == pytest.approx(0.2)


@given(
    ratio=st.floats(0.1, 10),
    stock=st.lists(st.floats(0.001, 1000), min_size=1, max_size=6),
)
@settings(max_examples=40)
def test_a_constant_ratio_is_the_tax_whatever_the_rounds_took(ratio: float, stock: list[float]) -> None:
    times = price_of_times([(one, one * ratio) for one in stock])
    rates = price_of_rates([(1 / one, 1 / (one * ratio)) for one in stock])
    assert times is not None
    assert rates is not None
    assert times.tax.median == pytest.approx(ratio - 1, abs=1e-9)
    assert rates.tax.median == pytest.approx(ratio - 1, abs=1e-9)


def test_one_round_has_no_spread() -> None:
    assert (spread([1.0]).low, spread([1.0]).high) == (None, None)
    assert (spread([1.0, 3.0, 2.0]).low, spread([1.0, 3.0, 2.0]).high) == (1.0, 3.0)


def test_a_round_with_one_side_only_counts_for_nothing() -> None:
    row = only_row(
        burst("stock", 0, 1.0), burst("invariant", 0, 1.0), burst("stock", 1, 9.0), burst("invariant", 2, 9.0)
    )
    assert row.rounds == 1
    assert row.throughput is not None
    assert row.throughput.stock.median == 4.0


def test_a_level_without_a_whole_round_has_no_row() -> None:
    assert taxed(burst("stock", 0, 1.0)).rows == ()


def test_nothing_measured_is_three_part_of_it_four_and_all_of_it_zero() -> None:
    whole = taxed(burst("stock", 0, 1.0), burst("invariant", 0, 1.0))
    fault = Fault(side="stock", in_flight=1, reason="http-429", message="slow down")
    assert whole.exit_code == 0
    assert tax(replace(whole.measured, interrupted=True)).exit_code == 4
    assert tax(replace(whole.measured, faults=(fault,))).exit_code == 4
    assert tax(replace(whole.measured, bursts=())).exit_code == 3


def test_the_order_of_the_records_means_nothing() -> None:
    bursts = [burst(side, number, 1.0 + number) for number in range(3) for side in ("stock", "invariant")]
    readings = [
        Reading(round=number, side=side, seconds=0.5 + number) for number in range(3) for side in ("stock", "invariant")
    ]
    there = taxed(*bursts, readings=readings)
    back = taxed(*reversed(bursts), readings=readings[::-1])
    assert there.rows == back.rows


def test_the_equal_bytes_row_shares_the_stock_of_its_round() -> None:
    found = taxed(*(burst("stock", 0, 2.0), burst("invariant", 0, 1.0), burst("equal-bytes", 0, 1.5)), equal_bytes=(4,))
    plain, equal = found.rows
    assert (plain.side, equal.side) == ("invariant", "equal-bytes")
    assert plain.throughput is not None
    assert equal.throughput is not None
    assert equal.throughput.stock == plain.throughput.stock
    assert equal.throughput.tax.median == -0.25


def test_the_first_token_of_a_round_is_the_median_of_its_prompts_and_shared_by_all_levels() -> None:
    readings = [Reading(round=0, side="stock", seconds=one) for one in (1.0, 3.0)]
    readings += [Reading(round=0, side="invariant", seconds=one) for one in (1.0, 1.0)]
    both = [burst(side, 0, 1.0, in_flight=level) for side in ("stock", "invariant") for level in (1, 4)]
    rows = taxed(*both, readings=readings).rows
    assert [row.in_flight for row in rows] == [1, 4]
    assert rows[0].ttft == rows[1].ttft
    assert rows[0].ttft is not None
    assert rows[0].ttft.tax.median == -0.5


def test_texts_are_told_apart_per_prompt_in_a_row_and_over_all_of_them() -> None:
    found = taxed(
        burst("stock", 0, 1.0, in_flight=1, texts=("a", "b")),
        burst("invariant", 0, 1.0, in_flight=1, texts=("a", "b")),
        burst("stock", 0, 1.0, in_flight=4, texts=("a", "a")),
        burst("invariant", 0, 1.0, in_flight=4, texts=("a", "b")),
    )
    assert [(row.distinct_stock, row.distinct_invariant, row.prompts) for row in found.rows] == [(2, 2, 2)] * 2
    assert (found.distinct_stock, found.distinct_invariant) == (3, 2)


def test_an_answer_in_one_piece_has_no_time_per_token() -> None:
    row = only_row(burst("stock", 0, 1.0, token_s=[None]), burst("invariant", 0, 1.0))
    assert row.token is None
    assert row.throughput is not None


def test_the_sides_take_turns_in_going_first() -> None:
    first = [step.side for step in plan(in_flight=(4,), rounds=4).steps() if step.in_flight][::2]
    assert first == ["stock", "invariant", "stock", "invariant"]


def test_every_side_gets_the_same_prompts_in_a_round_and_every_prompt_its_turn() -> None:
    wanted = plan(in_flight=(1, 4), equal_bytes=(4,))
    asked: dict[tuple[int, int | None], set[tuple[str, ...]]] = {}
    for step in wanted.steps():
        asked.setdefault((step.round, step.in_flight), set()).add(tuple(one.id for one in wanted.asked(step)))
    assert all(len(orders) == 1 for orders in asked.values())
    seen = Counter(name for (_, level), orders in asked.items() if level == 4 for order in orders for name in order)
    assert set(seen) == {prompt.id for prompt in prompts()}
    assert max(seen.values()) - min(seen.values()) <= 1 + 3


def test_a_step_keeps_full_company_to_its_end() -> None:
    wanted = plan()
    for level in (1, 3, 4, 8, 32):
        assert wanted.requests(level) % level == 0
        assert wanted.requests(level) >= 5


def test_the_third_side_is_asked_only_where_equal_bytes_are_wanted() -> None:
    steps = plan(equal_bytes=(4,)).steps()
    assert {step.in_flight for step in steps if step.side == "equal-bytes"} == {4, None}
    assert all(step.side != "equal-bytes" for step in plan().steps())
    assert sum(step.in_flight is None for step in steps) == 3 * 3 * READINGS
    assert plan().asked(Step(round=0, side="stock")) == ()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rounds": 0}, "rounds is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"ttft_tokens": 0}, "ttft_tokens is 0"),
        ({"in_flight": (4, 0)}, "in_flight is 0"),
        ({"in_flight": (0, 4)}, "in_flight is 0"),
        ({"in_flight": ()}, "at least one prompt and one number"),
        ({"prompts": ()}, "at least one prompt and one number"),
        ({"equal_bytes": (8,)}, "8 in flight, which is not among"),
        ({"prompts": prompts(1) * 2}, "'p0' appears more than once"),
    ],
)
def test_a_plan_that_could_not_be_carried_out_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        plan(**wrong)
