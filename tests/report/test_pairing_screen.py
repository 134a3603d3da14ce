"""Two runs side by side on a terminal."""

from __future__ import annotations

import json

import pytest
from analysis_samples import agreed, five_prompts, hostile, nothing
from documented_fields import documented, is_of, leaves

from temp0.core.analysis import Analysis
from temp0.core.pairing import PairedPrompt, PairedRate, Pairing
from temp0.report import pairing_json, pairing_screen, rendered
from temp0.report.pairing_screen import conclusion


def paired(a: Analysis, b: Analysis, *, rates: tuple[PairedRate, ...] = (), part_at: int | None = None) -> Pairing:
    pairs = zip(a.prompts, b.prompts, strict=False)
    prompts = tuple(PairedPrompt(a=one, b=other, part_at=part_at) for one, other in pairs)
    return Pairing(a=a, b=b, prompts=prompts, rates=rates, only_a=(), only_b=("late",))


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
    assert told[0].startswith("A gave more than one answer to")
    assert "B was 2.50 times as fast as A alone." in told
    assert "Only in B, and compared with nothing: late." in told


def test_where_nothing_was_answered_nothing_is_compared() -> None:
    assert next(iter(conclusion(paired(nothing(), nothing())))).startswith("No prompt was answered in both runs")


def test_strangers_text_cannot_command_the_terminal() -> None:
    assert "\x1b" not in shown(paired(hostile(), hostile()))


@pytest.mark.parametrize("b", [five_prompts(), nothing()], ids=["answered", "unanswered"])
def test_every_field_of_the_document_is_documented(b: Analysis) -> None:
    fields = documented("Two runs side by side")
    rates = (PairedRate(condition="alone", a=20.0, b=None),)
    document = json.loads(pairing_json(paired(five_prompts(), b, rates=rates)))
    for path, value in leaves(document, fields):
        assert path in fields, path
        assert is_of(value, fields[path]), path
