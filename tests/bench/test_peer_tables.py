import pytest

from peers import target
from peers.contender import LLAMA_BF16, OPENVINO_F16, OURS
from peers.roof_table import decode_share, products_share, roofs
from peers.roofline import Roofline, Round
from peers.rounds import Level
from peers.spread import ratio, spread
from peers.table import first_tokens, markdown, rates, ratios

PEAK, BANDWIDTH = 400e9, 30e9


def a_round(step_s: float, products: float) -> Round:
    return Round(
        bandwidth=BANDWIDTH,
        model_sized=BANDWIDTH,
        multiply_adds=PEAK,
        step_s={1: step_s},
        products={128: products},
        by_shape={(576, 960): products},
    )


def a_roofline(*rounds: Round) -> Roofline:
    return Roofline(rounds=rounds, weight_bytes=270_000_000, instructions="avx2")


def a_level(in_flight: int, **rates: list[float]) -> Level:
    names = {"ours": OURS, "llama": LLAMA_BF16, "openvino": OPENVINO_F16}
    return Level(in_flight=in_flight, rates={names[name]: list(figures) for name, figures in rates.items()})


def row(table: str, begins: str) -> list[str]:
    (found,) = [line for line in table.splitlines() if line.startswith(f"| {begins}")]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_a_spread_is_the_median_and_the_range() -> None:
    seen = spread([5.0, 1.0, 2.0])
    assert (seen.middle, seen.low, seen.high) == (2.0, 1.0, 5.0)
    with pytest.raises(ValueError, match="no figures"):
        spread([])


def test_a_ratio_is_taken_within_rounds_and_not_of_medians() -> None:
    # The medians are 2 and 2; the machine was slow in the first round for both.
    seen = ratio([1.0, 2.0, 30.0], [0.5, 2.0, 10.0])
    assert (seen.middle, seen.low, seen.high) == (2.0, 1.0, 3.0)
    with pytest.raises(ValueError, match="zip"):
        ratio([1.0], [1.0, 2.0])


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert markdown(("a", "b"), [("x|y", "z")]) == "| a | b |\n| --- | --- |\n| x/y | z |\n"


def test_a_target_is_reached_by_the_median_of_the_ratios() -> None:
    levels = {1: a_level(1, ours=[1.0, 1.2, 1.2], llama=[1.0, 1.0, 1.0], openvino=[1.0, 1.0, 1.0])}
    table = target.targets(levels, "no compiler")
    assert row(table, f"{OURS} over {LLAMA_BF16}, 1 in")[1:] == [">= 1.0x", "1.20x (1.00x to 1.20x)", "yes"]
    assert row(table, f"{OURS} over {OPENVINO_F16}, 1 in")[1:] == [">= 1.5x", "1.20x (1.00x to 1.20x)", "no"]


def test_what_was_not_measured_is_in_the_targets_with_its_reason() -> None:
    level = a_level(8, ours=[1.0])
    level.missing[LLAMA_BF16] = "pip found no wheel"
    table = target.targets({8: level}, "no compiler")
    assert row(table, f"{OURS} over {LLAMA_BF16}, 8 in")[2:] == [
        f"{LLAMA_BF16} not measured: pip found no wheel",
        "",
    ]
    assert row(table, f"{OURS} over {LLAMA_BF16}, 16 in")[2] == "not measured: 16 in flight was not asked"
    assert row(table, "decode at 1 row")[2] == "not measured: no compiler"
    assert len(table.splitlines()) == 2 + 6 + 2


def test_shares_of_the_roofs_are_taken_within_rounds() -> None:
    roofline = a_roofline(a_round(0.01, 200e9), a_round(0.02, 300e9), a_round(0.0125, 240e9))
    assert decode_share(roofline, 1).middle == pytest.approx(0.72)
    assert products_share(roofline, 128).middle == pytest.approx(0.6)
    table = target.targets({}, roofline)
    assert row(table, "decode at 1 row")[1:] == [">= 70%", "72% (45% to 90%)", "yes"]
    assert row(table, "products at 128 rows")[1:] == [">= 70%", "60% (50% to 75%)", "no"]


def test_roofs_are_shown_with_their_units_by_rows_and_by_shape() -> None:
    table = roofs(a_roofline(a_round(0.0125, 240e9)))
    assert row(table, "memory bandwidth")[1] == "30.0 (30.0 to 30.0) GB/s"
    assert row(table, "decode step, 1 row")[1] == "12.5 (12.5 to 12.5) ms, 72% (72% to 72%) of bandwidth"
    assert row(table, "products of 576 x 960")[1] == "240 (240 to 240) GFLOP/s, 60% (60% to 60%) of peak"
    assert roofs("no compiler") == "Roofline: not measured: no compiler\n"


def test_rates_show_growth_slots_and_reasons() -> None:
    one, eight = a_level(1, ours=[10.0], llama=[5.0]), a_level(8, ours=[40.0])
    eight.missing[LLAMA_BF16] = "it died"
    eight.slots[OURS] = 16
    table = rates({1: one, 8: eight})
    assert row(table, OURS) == [OURS, "10.0 (10.0 to 10.0)", "40.0 (40.0 to 40.0), 16 slots, grew 4.00x"]
    assert row(table, LLAMA_BF16) == [LLAMA_BF16, "5.0 (5.0 to 5.0)", "not measured: it died"]
    assert row(ratios({1: one, 8: eight}), LLAMA_BF16)[1:] == ["2.00x (2.00x to 2.00x)", "not measured"]


def test_times_to_the_first_token_are_in_milliseconds() -> None:
    level = a_level(1, ours=[1.0])
    level.missing[LLAMA_BF16] = "it died"
    level.first_token_s = {256: {OURS: [0.1, 0.3, 0.2]}, 512: {OURS: [0.4]}}
    table = first_tokens(level)
    assert row(table, OURS)[1:] == ["200.0 (100.0 to 300.0)", "400.0 (400.0 to 400.0)"]
    assert row(table, LLAMA_BF16)[1] == "not measured: it died"
    assert "not measured" in first_tokens(None)
