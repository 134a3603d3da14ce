"""The terminal: readable at 80 columns and without colour, and deaf to what completions say."""

from __future__ import annotations

import io
import re

import analysis_samples as samples
import pytest
import reason_samples as reasons
from rich.cells import cell_len
from rich.console import Console

from temp0.report import terminal, terminal_text
from temp0.report.figure import UNKNOWN

SGR = re.compile(r"\x1b\[[0-9;]*m")


def plain(make: samples.Maker, width: int = 80) -> str:
    return terminal_text(make(), width=width)


@pytest.mark.parametrize("make", reasons.ALL)
@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal(make: samples.Maker, width: int) -> None:
    assert max(cell_len(line) for line in plain(make, width).splitlines()) <= width


@pytest.mark.parametrize("make", reasons.ALL)
def test_colour_adds_nothing_but_colour(make: samples.Maker) -> None:
    colored = terminal_text(make(), width=80, color=True)

    assert SGR.search(colored)
    assert [line.rstrip() for line in SGR.sub("", colored).splitlines()] == plain(make).splitlines()


@pytest.mark.parametrize("make", reasons.ALL)
def test_without_colour_no_control_character_is_written(make: samples.Maker) -> None:
    text = plain(make)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_hostile_text_is_neither_markup_nor_escape() -> None:
    text = plain(samples.hostile)

    assert "[bold red]markup[/bold red]" in text
    assert "</script><script>alert(1)</script>" in text
    assert "\u2039ESC\u203a[31mred" in text


def test_the_verdict_comes_first() -> None:
    assert plain(samples.five_prompts).startswith(" DIVERGED  3 of 5 prompts each got more than one answer.\n")
    assert plain(samples.nothing).startswith(" UNDECIDED  Nothing was measured")
    assert plain(samples.agreed).startswith(" AGREED  Both prompts")


def test_conditions_stand_in_one_line_each_with_their_blocks() -> None:
    text = plain(samples.five_prompts)

    assert re.search(r"alone +1 of 1 +20/20 +20 +1 100 % \(≥ 74.1\) +13.9 % agreed", text)
    assert re.search(r"company 8 7.9 of 8 20/20 +3 +2 60.5 % \(.*\) +98.3 % diverged", text)
    assert re.search(r"company 8 not shown 16/16 +2 +1 100 % \(≥ 5\) +77.6 % undecided", plain(samples.undecided))
    assert re.search(rf"company 8 7.9 of 8 8/8 +1 +2 46.4 % \(1 block\) +{UNKNOWN} diverged", plain(samples.one_block))


@pytest.mark.parametrize("make", reasons.ALL)
def test_no_line_begins_with_a_sign_that_belongs_to_a_number(make: samples.Maker) -> None:
    for width in (40, 60, 72, 80):
        assert not [line for line in plain(make, width).splitlines() if line.strip().startswith("%")]


def test_what_needs_explaining_is_explained_once() -> None:
    text = " ".join(plain(samples.five_prompts).split())

    assert text.count("unlike mode ≤: at most this share of blocks holds a text unlike the commonest") == 1
    assert text.count("7.9 of 8: 8 requests in flight were asked for; the server itself counted 7.9 running.") == 1
    assert "in flight were asked for" not in plain(samples.agreed)


def test_an_adjusted_p_says_for_how_many_prompts() -> None:
    assert re.search(r"p = 0\.01\d; 0\.04\d adjusted for 5 prompts", plain(samples.five_prompts))


def test_a_prompt_in_brief_has_no_bound_where_one_of_its_conditions_has_none() -> None:
    answers = {samples.ALONE: ["one"] * 3, samples.COMPANY: ["one"] * 8}
    bounded = {samples.ALONE: ["one"] * 3, samples.COMPANY: ["one"] * 9}
    text = terminal_text(samples.analyzed({"A": answers, "B": bounded}), width=80, detailed=0)

    assert re.search(rf"^A +agreed +1 +11 +{UNKNOWN}$", text, re.MULTILINE)
    assert re.search(r"^B +agreed +1 +12 +77.6 %$", text, re.MULTILINE)


def test_texts_are_listed_by_hash_count_and_fork() -> None:
    prompt = samples.five_prompts().prompts[4]
    text = plain(samples.five_prompts)

    for one in prompt.texts:
        assert re.search(rf"{one.sha256[:8]} +{one.count} ", text)
    assert re.search(r" 272  nobody outside can see\.", text)


def test_the_tree_brackets_the_words_that_differ_and_gives_positions() -> None:
    text = plain(samples.five_prompts)

    assert "fork at char 229, byte 229, token 38, margin 0.003 (near)" in text
    assert "[token] may flip." in text
    assert "[nobody] outside can see." in text
    assert "[␣—] twice." in text
    assert re.search(r"6 ━+ +\(ends here: stop\)", plain(samples.ended))


def test_causes_come_with_what_to_do() -> None:
    text = " ".join(plain(samples.five_prompts).split())

    assert "● found company: the answer depends on what runs beside it In C, D and E" in text
    assert "To do: use arithmetic whose order does not depend on the batch" in text


def test_a_fork_says_how_near_it_was_and_how_far_its_branches_moved() -> None:
    assert "fork at char 41, byte 41, margin 0.0031 (near), shift 0.0127" in plain(reasons.observed)


def test_branches_that_saw_the_same_and_chose_differently_are_said_to() -> None:
    assert "shift 0\n  the branches saw the same logprobs and chose differently\n" in plain(reasons.tied)
    assert "saw the same" not in plain(reasons.observed)


def test_logprobs_of_another_computation_are_marked_as_such_where_they_are_told() -> None:
    told = "Margins and logprobs tell of the attempts that asked for them"

    assert plain(reasons.observed).count(told) == 1
    assert told not in plain(reasons.tied)


def test_what_parts_beneath_one_text_is_told_of_the_prompt_and_of_the_pair() -> None:
    text = " ".join(plain(reasons.cold_and_warm).split())

    assert "One text, but logprobs differ from token 0 on: equal text is not equal computation." in text
    assert "alone, cache cold against alone, cache warm: agreed, one text; logprobs differ from token 0 on" in text


def test_differences_that_do_not_count_are_marked() -> None:
    assert "alone against alone, stream: diverged, p = 0.008 (does not count)" in plain(reasons.uncounted)
    assert "does not count" not in plain(samples.five_prompts)


def test_twenty_conditions_stay_readable() -> None:
    text = plain(reasons.crossed)

    assert len(text.splitlines()) < 200
    assert (
        len(re.findall(r"^  company 8, stream, cache warm +7.9 of 8 +32/32 +4 4 .*diverged$", text, re.MULTILINE)) == 2
    )
    assert "One text under all 20 conditions" in " ".join(text.split())


def test_many_conditions_name_their_texts_by_letter() -> None:
    text = plain(reasons.crossed)

    assert re.search(r"^  a  7d67ef03 +236 .*\n  b  129c0aa7 +236 ", text, re.MULTILINE)
    assert re.search(r"^  alone, cache cold +1 of 1 +32/32 +32 1 a ", text, re.MULTILINE)
    assert re.search(r"^  alone, cache warm +1 of 1 +32/32 +32 1 b ", text, re.MULTILINE)


def test_conditions_that_were_not_met_are_told_before_the_prompts() -> None:
    text = plain(reasons.load_missed)

    assert text.index("Were the conditions met?") < text.index("A  one text in 156 completions")
    assert "“company 128”: 100 of 128 reached, by the server's own count: at most 100 of" in text
    assert "conditions met" not in plain(samples.five_prompts)


def test_failures_are_counted_with_the_first_message() -> None:
    assert "A and B: failed 10 times, http-401: the server said: <b>invalid key</b>" in plain(samples.nothing)


def test_a_run_of_a_thousand_prompts_stays_short() -> None:
    text = terminal_text(samples.many(), width=80)

    assert len(text.splitlines()) < 230
    assert "p0907   diverged" in text
    assert "952 more prompts: 952 agreed" in text


def test_only_prompts_that_diverged_are_shown_in_full_where_there_are_many() -> None:
    text = terminal_text(samples.many(100), width=80)

    assert text.count("all 3 begin") == 1
    assert re.search(r"^p0007  2 different texts", text, re.MULTILINE)
    assert re.search(r"^p0008 +agreed", text, re.MULTILINE)


def test_how_to_see_it_again_comes_last() -> None:
    assert "temp0 show 01k4x9w2vq" in plain(samples.agreed).splitlines()[-3]
    assert "temp0 probe --again 01k4x9w2vq" in plain(samples.agreed).splitlines()[-1]


def test_equal_analyses_give_equal_text() -> None:
    assert plain(samples.five_prompts) == terminal_text(samples.five_prompts.__wrapped__(), width=80)


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = samples.agreed()
    before = [terminal_text(analysis, width=80, color=color) for color in (False, True)]
    for name, value in {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    assert [terminal_text(analysis, width=80, color=color) for color in (False, True)] == before


def test_a_console_that_reads_markup_finds_none() -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    with console.capture() as capture:
        console.print(terminal(samples.hostile()))

    assert "[bold red]markup[/bold red]" in capture.get()
    assert [line.rstrip() for line in capture.get().splitlines()] == plain(samples.hostile).splitlines()
