"""Two runs side by side on a terminal."""

from __future__ import annotations

import json

import pytest
from analysis_samples import agreed, five_prompts, hostile, nothing
from documented_fields import documented, is_of, leaves

from temp0.core.analysis import Analysis
from temp0.core.change import Change
from temp0.core.likeness import Likeness, Matrix
from temp0.core.pairing import ModalFork, PairedPrompt, PairedRate, Pairing, Side
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Run
from temp0.report import matrix_json, matrix_screen, pairing_json, pairing_screen, rendered
from temp0.report.pairing_screen import conclusion

STEADY = Change(within_a=1.0, within_b=1.0, across=1.0, blocks_a=4, blocks_b=4, p=1.0, p_adjusted=1.0)
MOVED = Change(within_a=0.9, within_b=None, across=0.25, blocks_a=4, blocks_b=1, p=0.01, p_adjusted=0.02)


def head(analysis: Analysis) -> Run:
    """The run of an analysis, without what it holds."""
    asked = Prompt(id="A", messages=(Message(role="user", content="?"),), n=1, max_tokens=1)
    plan = Plan(prompts=(asked,), conditions=(Condition(),))
    return Run(id=analysis.run, created=analysis.created, address=analysis.address, plan=plan)


def paired(
    a: Analysis,
    b: Analysis,
    *,
    rates: tuple[PairedRate, ...] = (),
    part_at: int | None = None,
    change: Change = STEADY,
    p: float | None = 1.0,
) -> Pairing:
    pairs = zip(a.prompts, b.prompts, strict=False)
    fork = None if part_at is None else ModalFork(char=part_at, byte=part_at, a="one way", b="")
    prompts = tuple(PairedPrompt(a=one, b=other, fork=fork, change=change) for one, other in pairs)
    return Pairing(
        a=a,
        b=b,
        runs_a=(head(a),),
        runs_b=(head(b), head(b)),
        prompts=prompts,
        p=p,
        rates=rates,
        only_a=(),
        only_b=("late",),
    )


def shown(pairing: Pairing, width: int = 80) -> str:
    return rendered(pairing_screen(pairing), width=width)


def test_both_verdicts_stand_at_the_top() -> None:
    lines = shown(paired(five_prompts(), agreed())).splitlines()
    assert lines[0].startswith("A  DIVERGED")
    assert lines[2].startswith("B  AGREED")


def test_no_line_is_wider_than_the_terminal() -> None:
    text = shown(paired(five_prompts(), five_prompts(), part_at=3), width=72)
    assert max(map(len, text.splitlines())) <= 72
    assert "parts at char 3" in text


def test_the_conclusion_says_who_varied_and_which_was_faster() -> None:
    rates = (PairedRate(condition="alone", a=20.0, b=50.0), PairedRate(condition="company 8", a=100.0, b=None))
    told = list(conclusion(paired(five_prompts(), five_prompts(), rates=rates)))
    assert told[0].startswith("Side A gave more than one answer to")
    assert any(line.startswith("Side B was 2.50 times as fast as side A alone; ") for line in told)
    assert "Only in side B, and compared with nothing: late." in told


def test_where_nothing_was_answered_nothing_is_compared() -> None:
    assert next(iter(conclusion(paired(nothing(), nothing())))).startswith("No prompt was answered in both runs")


def test_strangers_text_cannot_command_the_terminal() -> None:
    assert "\x1b" not in shown(paired(hostile(), hostile()))


def test_a_change_beyond_each_sides_own_variation_is_told_from_one_that_is_not() -> None:
    beyond = shown(paired(five_prompts(), five_prompts(), change=MOVED, p=0.004))
    assert "Beyond what each side varies by itself, the answers changed for A, B, C, D and E" in beyond
    assert "equal in A" in beyond
    within = Change(within_a=0.9, within_b=0.8, across=0.8, blocks_a=4, blocks_b=4, p=0.6, p_adjusted=1.0)
    assert "no more than each side may vary" in " ".join(
        shown(paired(five_prompts(), five_prompts(), change=within, p=0.6)).split()
    )


def test_two_sides_of_one_text_each_have_no_table_of_changes() -> None:
    assert "equal in A" not in shown(paired(agreed(), agreed()))


def test_conditions_that_do_not_meet_are_said_to_be_untested() -> None:
    untested = Change(within_a=None, within_b=None, across=None, blocks_a=0, blocks_b=0, p=None)
    text = shown(paired(agreed(), agreed(), change=untested, p=None))
    assert "a change is not tested" in " ".join(text.split())


def test_the_fork_between_commonest_answers_shows_both_ways_on() -> None:
    text = shown(paired(five_prompts(), five_prompts(), part_at=3))
    assert "A: commonest answers part at char 3, byte 3" in text
    assert "one way" in text
    assert "(ends here)" in text


def compared(sides: int, p: float | None) -> Matrix:
    one = Side(heads=(head(agreed()),), judged=agreed(), prompts={}, blocks={}, rates={})
    pairs = [(a, b) for a in range(sides) for b in range(a + 1, sides)]
    return Matrix(
        sides=(one,) * sides,
        within=(1.0, *(None,) * (sides - 1)),
        pairs=tuple(
            Likeness(a=a, b=b, prompts=2, same=b % 3, identity=0.5, p=p, exit_code=1, p_adjusted=p) for a, b in pairs
        ),
    )


@pytest.mark.parametrize("sides", [3, 7, 9])
def test_a_matrix_fits_the_terminal_and_names_the_pairs_that_differ(sides: int) -> None:
    text = rendered(matrix_screen(compared(sides, 0.01)), width=80)
    assert max(map(len, text.splitlines())) <= 80
    told = " ".join(text.split())
    assert "these differ: A and B (p = 0.010), A and C" in told
    assert "No pair differs" in rendered(matrix_screen(compared(sides, 0.5)), width=80)


def test_every_field_of_the_matrix_is_documented() -> None:
    fields = documented("Several sides, pair by pair")
    seen = list(leaves(json.loads(matrix_json(compared(3, None))), fields))
    assert all(path in fields and is_of(value, fields[path]) for path, value in seen), seen
    assert {path for path, _ in seen} == set(fields)


@pytest.mark.parametrize("b", [five_prompts(), nothing()], ids=["answered", "unanswered"])
def test_every_field_of_the_document_is_documented(b: Analysis) -> None:
    fields = documented("Two runs side by side")
    rates = (PairedRate(condition="alone", a=20.0, b=None),)
    document = json.loads(pairing_json(paired(five_prompts(), b, rates=rates, part_at=4, change=MOVED)))
    for path, value in leaves(document, fields):
        assert path in fields, path
        assert is_of(value, fields[path]), path
