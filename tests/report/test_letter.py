"""Letters stand for texts, the commonest first, so that many conditions can say which they gave."""

from __future__ import annotations

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.plan import Condition
from temp0.report.letter import letters, with_letters


def test_the_commonest_text_is_a() -> None:
    prompt = reasons.crossed().prompts[1]
    named = letters(prompt)

    assert [named[text.sha256] for text in prompt.texts] == ["a", "b", "c", "d"]
    assert with_letters(prompt, named)["alone, cache cold"] == "a"


def test_a_condition_lists_its_own_commonest_text_first() -> None:
    answers = {Condition(): ["one"] * 9, Condition(company=2): ["two"] * 5 + ["one"] * 3}
    prompt = samples.analyzed({"A": answers}).prompts[0]

    assert with_letters(prompt, letters(prompt)) == {"alone": "a", "company 2": "ba"}


def test_texts_without_a_letter_show_as_an_ellipsis() -> None:
    texts = [f"text {place:02}" for place in range(20)]
    prompt = samples.analyzed({"A": {Condition(): texts[:2] * 9, Condition(company=2): texts}}).prompts[0]
    given = with_letters(prompt, letters(prompt))

    assert len(letters(prompt)) == 12
    assert given["alone"] == "ab"
    assert given["company 2"] == "abcd…"


def test_one_text_or_one_condition_needs_no_letters() -> None:
    for make in (samples.agreed, samples.ended, samples.undecided):
        for prompt in make().prompts:
            assert letters(prompt) == {}
            assert with_letters(prompt, {}) == {}
