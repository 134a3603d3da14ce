"""Are calibration's shares, truths of intervals, requirements and tables what they should be?"""

import doctest
from dataclasses import replace
from itertools import combinations
from math import sqrt
from pathlib import Path

import pytest

import calibrate
from simulation import table, tally
from simulation.catalogue import SHAPES
from simulation.coverage import INTERVALS, KNOWN, Cover, Known, agreement, variant_rate
from simulation.requirement import findings
from simulation.scene import Scene
from simulation.tally import Tally, interval, total
from simulation.truth import Steady
from simulation.work import Results, hands, results
from temp0.core.analysis import Analysis, Cause, Comparison, Estimate, Verdict
from temp0.core.judgement import analysis
from temp0.core.run import Completion

IID = [place for place, shape in enumerate(SHAPES) if shape.family == "iid"]
NONE = [place for place, shape in enumerate(SHAPES) if shape.family == "none"]
RIGHT = Scene(truth=Steady(), right=frozenset({"company"}), true_too=frozenset({"order"}))


@pytest.fixture(scope="module")
def found() -> Analysis:
    return analysis(SHAPES[0].play(5, seed=1)[0])


def named(found: Analysis, *causes: tuple[str, str], prompts: tuple[str, ...] = ("p1",)) -> Analysis:
    told = [
        Cause(cause=cause, certainty=certainty, evidence="", remedy="", prompts=prompts) for cause, certainty in causes
    ]
    return replace(found, causes=tuple(told))


@pytest.mark.parametrize(
    ("causes", "counted"),
    [
        ([("company", "found")], {"found", "named", "astray"}),
        ([("company", "suspected")], {"named"}),
        ([("order", "found")], {"astray"}),
        ([("order", "suspected"), ("backend-mix", "suspected")], set()),
        ([("backend-mix", "found")], {"wrong", "astray"}),
        ([("company", "found"), ("observer", "found")], {"found", "named", "wrong", "astray"}),
        ([("unseen-company", "found")], {"by_chance"}),
        ([("short-window", "found"), ("finish", "found")], set()),
    ],
)
def test_causes_are_counted_as_right_wrong_or_neither(
    found: Analysis, causes: list[tuple[str, str]], counted: set[str]
) -> None:
    tally = Tally()
    tally.add(named(found, *causes), RIGHT)
    names = ("found", "named", "wrong", "astray", "by_chance", "misplaced", "diverged")
    assert {name for name in names if getattr(tally, name)} == counted
    assert tally.runs == 1


def test_a_cause_is_misplaced_where_it_is_found_for_a_prompt_without_the_effect(found: Analysis) -> None:
    tally, partial = Tally(), replace(RIGHT, affected=frozenset({"p1"}))
    tally.add(named(found, ("company", "found")), partial)
    assert tally.misplaced == 0
    tally.add(named(found, ("company", "found"), prompts=("p1", "p2")), partial)
    tally.add(named(found, ("company", "suspected"), prompts=("p1", "p2")), partial)
    assert tally.misplaced == 1


def test_divergence_and_small_ps_are_counted(found: Analysis) -> None:
    ps = [0.01, 0.05, 0.2, None]
    compared = tuple(Comparison(a="a", b="b", verdict=Verdict.DIVERGED, p=p, p_adjusted=p) for p in ps)
    (prompt, *_) = found.prompts
    tally = Tally()
    tally.add(replace(found, verdict=Verdict.DIVERGED, prompts=(replace(prompt, comparisons=compared),)), RIGHT)
    assert (tally.diverged, tally.compared, tally.small) == (1, 3, 2)


def test_tallies_add_up(found: Analysis) -> None:
    first, second = Tally(), Tally()
    first.add(named(found, ("company", "found")), RIGHT)
    second.add(named(found, ("backend-mix", "found"), ("company", "suspected")), RIGHT)
    both = total([first, second])
    assert (both.runs, both.found, both.named, both.wrong) == (2, 1, 2, 1)
    assert both.causes == {("company", "found"): 1, ("company", "suspected"): 1, ("backend-mix", "found"): 1}
    assert both.wrong_causes == {"backend-mix": 1}


def test_a_share_has_the_interval_of_clopper_and_pearson() -> None:
    assert interval(0, 20)[1] == pytest.approx(1 - 0.025 ** (1 / 20))
    assert interval(20, 20) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert interval(5, 20) == (pytest.approx(0.0866, abs=1e-4), pytest.approx(0.4910, abs=1e-4))


def test_known_truths_agree_with_arithmetic_by_hand() -> None:
    alone = Known(name="", shares=[0.9, 0.1])
    assert alone.identity(10) == pytest.approx(0.82)
    assert alone.variant_rate(10) == pytest.approx(0.1)
    fresh = Known(name="", shares=[0.9, 0.1], fresh=True)
    assert fresh.identity(10) == pytest.approx(0.81)
    distinct = Known(name="", shares=[0.0, 1.0], fresh=True)
    assert (distinct.identity(10), distinct.variant_rate(10)) == (0, 1)


@pytest.mark.parametrize("known", [known for known in KNOWN if known.together], ids=lambda known: known.name)
def test_known_truths_are_those_of_the_simulated_blocks(known: Known) -> None:
    runs, n, identical, varied = 120, 16, 0, 0
    for seed in range(runs):
        run = known.play(n, seed)
        judged = [attempt for attempt in run.attempts if attempt.role == "judged"]
        texts = [(attempt.block, attempt.outcome.text) for attempt in judged if isinstance(attempt.outcome, Completion)]
        identical += sum(one == other for (_, one), (_, other) in combinations(texts, 2))
        usual = _usual(known, seed)
        varied += len({block for block, text in texts if text != usual})
    pairs, blocks = runs * n * (n - 1) // 2, runs * 2
    # Pairs of one run hang together: its share varies no more than that of one pair.
    assert abs(identical / pairs - known.identity(n)) < 3 * sqrt(0.25 / runs)
    rate = known.variant_rate(n)
    assert abs(varied / blocks - rate) < 3 * sqrt(rate * (1 - rate) / blocks)


def _usual(known: Known, seed: int) -> str:
    certain = Known(name=known.name, shares=[1.0], together=known.together, conditions=known.conditions)
    (answer, *_) = [one.outcome for one in certain.play(16, seed).attempts if one.role == "judged"]
    assert isinstance(answer, Completion)
    return answer.text


def test_an_interval_holds_the_truth_up_to_its_ends(found: Analysis) -> None:
    (condition, *_) = found.prompts[0].conditions
    two_sided = replace(condition, agreement=Estimate(value=0.7, low=0.5, high=0.8, n=9, sides=2))
    one_sided = replace(condition, agreement=Estimate(value=1.0, low=0.6, high=None, n=9, sides=1))
    nothing = replace(condition, agreement=Estimate(value=1.0, low=None, high=None, n=1, sides=1))
    assert [agreement(one) for one in (two_sided, one_sided, nothing)] == [(0.5, 0.8), (0.6, 1.0), None]
    assert variant_rate(replace(condition, variant_rate_upper=0.3)) == (0.0, 0.3)
    cover = Cover()
    for ends, truth in (((0.5, 0.8), 0.8), ((0.5, 0.8), 0.81), ((0.0, 0.3), 0.1), (None, 0.5)):
        cover.add(ends, truth)
    assert (cover.runs, cover.given, cover.missed) == (4, 3, 1)
    assert cover.width == pytest.approx(0.9)


def tallied(places: list[int], **counts: int) -> Results:
    return Results(tallies={(place, 30): Tally(runs=100, **counts) for place in places})


def test_false_alarms_in_one_of_twenty_runs_are_allowed_and_in_more_not() -> None:
    (alarms,) = findings(tallied(IID, astray=5), [30])
    assert alarms.is_met
    (alarms,) = findings(tallied(IID, astray=6), [30])
    assert not alarms.is_met


def test_one_shape_that_alarms_beyond_chance_is_named_although_the_others_never_do() -> None:
    seen = tallied(IID, astray=0)
    seen.tallies[IID[3], 30].astray = 10
    (alarms,) = findings(seen, [30])
    assert alarms.is_met
    seen.tallies[IID[3], 30].astray = 25
    (alarms,) = findings(seen, [30])
    assert not alarms.is_met
    assert SHAPES[IID[3]].name in alarms.measured


def test_small_ps_are_allowed_as_often_as_they_promise_and_a_shape_with_many_more_is_named() -> None:
    assert [one.is_met for one in findings(tallied(IID, compared=300, small=15), [30])] == [True, True]
    assert [one.is_met for one in findings(tallied(IID, compared=300, small=16), [30])] == [True, False]
    seen = tallied(IID, compared=300, small=3)
    seen.tallies[IID[5], 30].small = 75
    _, ps = findings(seen, [30])
    assert ps.is_met
    assert SHAPES[IID[5]].name in ps.measured


def test_one_text_that_diverges_or_has_a_cause_is_one_too_many() -> None:
    assert [one.is_met for one in findings(tallied(NONE), [30])] == [True]
    assert [one.is_met for one in findings(tallied(NONE, diverged=1), [30])] == [False]
    assert [one.is_met for one in findings(tallied(NONE, astray=1), [30])] == [False]


def test_what_is_planted_must_be_named_in_four_of_five_runs_as_surely_as_it_can_be() -> None:
    (sure,) = [place for place, shape in enumerate(SHAPES) if shape.name == "two by model; alone"]
    (unsure,) = [place for place, shape in enumerate(SHAPES) if shape.name == "another text, not shown; alone and 8"]
    for place, counts, is_met in (
        (sure, {"found": 80, "named": 80}, True),
        (sure, {"found": 79, "named": 100}, False),
        (unsure, {"found": 0, "named": 80}, True),
        (unsure, {"found": 79, "named": 79}, False),
    ):
        assert [one.is_met for one in findings(tallied([place], **counts), [30])] == [is_met]
        assert findings(Results(tallies={(place, 10): Tally(runs=100, **counts)}), [10]) == []


def covered(missed: int) -> Results:
    return Results(
        covers={
            (place, 30, name): Cover(runs=1000, given=1000, missed=missed, width=200.0)
            for place in range(len(KNOWN))
            for name in INTERVALS
        }
    )


def test_intervals_must_hold_the_truth_in_94_of_100_runs_together_and_each() -> None:
    assert all(one.is_met for one in findings(covered(60), [30]))
    assert not any(one.is_met for one in findings(covered(61), [30]))
    seen = covered(10)
    seen.covers[2, 30, "agreement"].missed = 120
    first, *others = findings(seen, [30])
    assert not first.is_met
    assert KNOWN[2].name in first.measured
    assert all(one.is_met for one in others)


def test_which_process_plays_changes_nothing() -> None:
    dealt = hands(NONE[:2], [5], runs=3, coverage_runs=2, size=2)
    seen = results(dealt, 1)
    assert seen == results(dealt, 2)
    assert [tally.runs for tally in seen.tallies.values()] == [3, 3]
    assert {cover.runs for cover in seen.covers.values()} == {2}


def test_every_run_is_dealt_once_and_the_heaviest_first() -> None:
    dealt = hands([0, 1], [10, 30], runs=25, coverage_runs=60)
    played = [(hand.place, hand.n, seed) for hand in dealt if not hand.is_coverage for seed in hand.seeds]
    assert sorted(played) == [(place, n, seed) for place in (0, 1) for n in (10, 30) for seed in range(25)]
    assert sum(len(hand.seeds) for hand in dealt if hand.is_coverage) == len(KNOWN) * 2 * 60
    weights = [hand.weight for hand in dealt]
    assert weights == sorted(weights, reverse=True)


def test_tables_have_a_row_for_each_shape_and_as_many_cells_in_each() -> None:
    seen = results(hands(list(range(len(SHAPES))), [3], runs=1, coverage_runs=1), 1)
    text = table.page(seen, [3], findings(seen, [3]))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert sum(shape.name in text for shape in SHAPES if shape.family in table.PLANTED) > 60
    for lines in text.split("\n\n"):
        assert len({line.count(" | ") for line in lines.splitlines() if line.startswith("| ")}) <= 1
    assert len(rows) > len(SHAPES)


def test_tables_are_written_between_the_markers_and_nowhere_else() -> None:
    document = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    written = table.written(document, "new")
    assert written == f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n"
    assert table.written(written, "new") == written
    for broken in (document.replace(table.END, ""), document + document):
        with pytest.raises(ValueError, match="each once"):
            table.written(broken, "new")


def test_no_share_is_rounded_to_none_or_all() -> None:
    assert doctest.testmod(tally).failed == 0
    assert [table.percent(count, 500) for count in (0, 1, 250, 499, 500)] == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]


def test_the_command_says_what_is_met_and_ends_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--only", "none: one text; alone and 8", "--n", "30", "--runs", "2", "--coverage-runs", "0"]
    assert calibrate.main([*arguments, "--processes", "1"]) == 0
    told = capsys.readouterr()
    assert "1 of 1 requirements met" in told.err
    assert "| none: one text | alone and 8 |" in told.out


def test_the_command_ends_with_1_where_a_requirement_is_missed(tmp_path: Path) -> None:
    page = tmp_path / "measuring.md"
    page.write_text(f"{table.BEGIN}{table.END}", encoding="utf-8")
    arguments = ["--only", "company: another text, counted; alone and 8", "--n", "30", "--runs", "1"]
    wanted = calibrate.wishes([*arguments, "--coverage-runs", "0", "--processes", "1", "--write"])
    seen = Results(tallies={(place, 30): Tally(runs=1) for place in calibrate.places(wanted)})
    assert calibrate.told(seen, wanted, page) == 1
    assert "**no**" in page.read_text(encoding="utf-8")
