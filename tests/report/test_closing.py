"""A report ends with its limits, and with commands that work and help."""

from __future__ import annotations

import shlex
from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons

from temp0.core.run import Failure
from temp0.report import html, terminal_text
from temp0.report.closing import advice, again, limits


def unanswered_for(reason: str, *, finished: bool = False) -> samples.Analysis:
    failure = Failure(reason=reason, message="")
    return replace(samples.analyzed({"A": {samples.ALONE: [failure] * 3}}), finished=finished)


def test_an_unfinished_run_says_how_to_finish_it() -> None:
    assert again(replace(samples.agreed(), finished=False))[0][0] == "temp0 probe --resume 01k4x9w2vq"
    assert [command.split()[1] for command, _ in again(samples.agreed())] == ["show", "report", "probe"]


@pytest.mark.parametrize("reason", ["refused", "http-401", "http-403", "http-404"])
def test_asking_on_is_not_offered_where_it_cannot_help(reason: str) -> None:
    analysis = unanswered_for(reason)

    assert not any("--resume" in command for command, _ in again(analysis))
    assert advice(analysis) == "See to the failure, then ask again."


def test_asking_on_is_offered_after_what_may_pass() -> None:
    analysis = unanswered_for("timeout")

    assert "--resume" in again(analysis)[0][0]
    assert advice(analysis) is None


def test_what_cannot_be_told_follows_from_what_was_asked() -> None:
    assert any("bounded, never proved" in sentence for sentence in limits(samples.agreed()))
    assert not any("bounded" in sentence for sentence in limits(samples.ended()))
    assert limits(samples.nothing()) == ()


def test_strangers_are_a_limit_only_where_nobody_counted_them() -> None:
    def of(analysis: samples.Analysis) -> list[str]:
        return [sentence for sentence in limits(analysis) if "strangers" in sentence or "nobody else" in sentence]

    unseen = samples.analyzed({"A": {samples.ALONE: ["one"] * 3}}, running=None)

    assert of(unseen) == [
        "Alone means that nothing else of ours was in flight; strangers' requests cannot be seen from here."
    ]
    assert of(replace(unseen, exclusive=True)) == [
        "That nobody else used the endpoint is your word (--exclusive); it cannot be checked from here."
    ]
    assert of(samples.agreed()) == []
    assert of(samples.one_block()) == []


def test_causes_not_tested_are_a_limit_where_no_reason_is_wanted() -> None:
    told = "Not tested, so not ruled out: backend-mix, cache-state, order and observer."

    assert told in limits(replace(samples.agreed(), untested=samples.UNTESTED))
    assert told in limits(samples.five_prompts())
    assert told not in limits(reasons.explained())


def test_unknown_margins_say_why_each_reason_once() -> None:
    told = [sentence for sentence in limits(samples.lined_up()) if "tied" in sentence]

    assert len(told) == 1
    assert told[0].startswith("How nearly two tokens were tied is unknown at some forks: no logprobs")
    assert not [sentence for sentence in limits(reasons.tied()) if "unknown" in sentence]


def test_commands_name_a_store_of_its_own_as_a_shell_reads_it() -> None:
    commands = again(replace(samples.agreed(), finished=False), store="my runs/a.db")

    assert [shlex.split(command)[-2:] for command, _ in commands] == [["--store", "my runs/a.db"]] * 4
    assert "temp0 show 01k4x9w2vq --store &#39;my runs/a.db&#39;" in html(samples.agreed(), store="my runs/a.db")
    assert "temp0 show 01k4x9w2vq --store 'my runs/a.db'" in terminal_text(
        samples.agreed(), width=80, store="my runs/a.db"
    )


def test_a_command_too_long_for_its_line_goes_on_as_a_shell_lets_it() -> None:
    store = "/a/path/" + "x" * 50
    text = terminal_text(samples.agreed(), width=80, store=store)

    first, second, *_ = text[text.index("temp0 report") :].split("\n")

    assert first.endswith(" \\")
    assert shlex.split(first[:-1] + second)[:7] == [
        "temp0",
        "report",
        "01k4x9w2vq",
        "-o",
        "report.html",
        "--store",
        store,
    ]


def test_a_run_that_diverged_can_be_asked_again_at_its_forks_where_there_is_anybody_to_ask() -> None:
    parted = samples.five_prompts()
    imported = replace(parted, address=replace(parted.address, url="import:answers.jsonl", api="JSONL"))

    assert again(parted)[0] == (f"temp0 explain {parted.run}", "asks again at its forks")
    assert all("explain" not in command for command, _ in [*again(imported), *again(samples.agreed())])


def test_margins_are_no_limit_where_a_second_pass_stands_beside() -> None:
    parted = samples.ended()

    assert any("How nearly two tokens were tied" in sentence for sentence in limits(parted))
    assert not any("How nearly two tokens were tied" in sentence for sentence in limits(parted, looked_again=True))
