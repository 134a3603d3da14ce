"""Each cause is told in words: what it means, whom it holds for, its evidence in a sentence."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.cause.inquiry import CAUSES, LAST_CAUSES
from temp0.core.plan import Condition
from temp0.report.cause_word import evidence, holds_for, meaning, observer_notes, remedy
from temp0.report.figure import UNBROKEN

FOUND = samples.COMPANY_FOUND


def test_every_cause_that_can_be_found_has_a_meaning_of_its_own() -> None:
    meanings = [meaning(name) for name in (*CAUSES, *LAST_CAUSES)]

    assert all(meanings)
    assert len(set(meanings)) == len(meanings)
    assert meaning("a cause to come") == ""


def test_a_cause_says_whom_it_holds_for_and_its_adjusted_p() -> None:
    def told(*prompts: str, of: int) -> str:
        return holds_for(replace(FOUND, prompts=prompts), of).replace(UNBROKEN, " ")

    assert told("C", "D", of=5) == "In C and D; p = 0.004 adjusted for all causes tested"
    assert told("C", "D", of=2) == "In both prompts; p = 0.004 adjusted for all causes tested"
    assert told("C", of=1) == "p = 0.004 adjusted for all causes tested"
    assert holds_for(replace(FOUND, prompts=("C",), p_adjusted=FOUND.p), 1) == ""


def test_evidence_is_a_sentence_in_which_no_p_parts_from_its_value() -> None:
    told = evidence(FOUND)

    assert told.startswith("Prompt C and 2 more")
    assert told.endswith(f"p{UNBROKEN}={UNBROKEN}0.0021 over 84 blocks.")
    assert evidence(replace(FOUND, evidence="Done.")) == "Done."


def test_what_a_server_said_in_evidence_or_remedy_is_made_visible_and_cut() -> None:
    hostile = replace(FOUND, evidence="\x1b[2J" + "x" * 5000, remedy="\u202e" + "y" * 5000)

    assert "\u2039ESC\u203a" in evidence(hostile)
    words, command = remedy(hostile, samples.five_prompts().address)
    assert "\u2039U+202E\u203a" in words
    assert command is None
    assert len(evidence(hostile)) < 1200 > len(words)


def test_logprobs_of_a_prompt_that_they_change_are_told_to_be_worth_less() -> None:
    suspected = replace(reasons.observed(), causes=(replace(reasons.OBSERVER, certainty="suspected"),))

    assert observer_notes(reasons.observed())["haiku"].endswith("which is another computation here (observer, found).")
    assert observer_notes(suspected)["haiku"].endswith("which may be another computation here (observer, suspected).")
    assert observer_notes(samples.five_prompts()) == {}


def test_where_no_logprob_is_told_nothing_is_said_of_their_worth() -> None:
    unasked = replace(samples.ended(), causes=(replace(reasons.OBSERVER, prompts=("steps",)),))

    assert observer_notes(unasked) == {}
    assert observer_notes(samples.with_margins(unasked, 0.1)) != {}


def test_where_a_stream_changes_the_answer_the_logprobs_are_worth_what_they_were() -> None:
    plain, streamed = Condition(), Condition(stream=True)
    found = samples.analyzed({"A": {plain: ["I saw a river"] * 6, streamed: ["I saw ariver"] * 6}})
    by_stream = replace(found, causes=(replace(reasons.OBSERVER, prompts=("A",)),))
    assert observer_notes(samples.with_margins(by_stream, 0.1)) == {}
