"""A second pass: which answers came through a fork again, how nearly tied the tokens were, and what company moved."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from building import ALONE, IN_COMPANY, WITH_LOGPROBS, built_run

from temp0.core.continuation import beginning, continuation, first_prompts
from temp0.core.detail import Position
from temp0.core.judgement import analysis
from temp0.core.junction import BIN_EDGES, bins, positions, walk
from temp0.core.plan import Condition
from temp0.core.run import Alternative, Completion, Failure, Token
from temp0.core.second_pass import (
    DID_NOT_GO_ON,
    moved_by_reading,
    second_pass,
    units,
)

LOUD = Condition(company=8, logprobs=True)
FIRST_RUN = built_run({"E": {ALONE: ["the red fox"] * 4, IN_COMPANY: ["the red fox"] * 6 + ["the rare fox"] * 2}})
FIRST = analysis(FIRST_RUN)


def told(*pieces: tuple[str, float, str], tail: str = "") -> Completion:
    """A completion of these tokens, each with its lead (nats) over a rival; `tail` comes without logprobs."""
    tokens = tuple(
        Token(
            bytes=text.encode(),
            logprob=-0.5,
            top=(
                Alternative(bytes=text.encode(), logprob=-0.5),
                Alternative(bytes=rival.encode(), logprob=-0.5 - lead),
            ),
        )
        for text, lead, rival in pieces
    )
    rest = (Token(bytes=tail.encode()),) if tail else ()
    return Completion(text="".join(text for text, _, _ in pieces) + tail, tokens=(*tokens, *rest))


RED = told(("the", 3.0, "a"), (" red", 0.02, " rare"), (" fox", 4.0, " dog"))
RARE = told(("the", 3.0, "a"), (" rare", 0.03, " red"), (" fox", 4.0, " dog"))


def look_again(observed, *, first=FIRST):
    return second_pass(first, built_run({"E": observed}))


def test_a_fork_is_looked_at_alone_and_in_company():
    (fork,) = look_again({WITH_LOGPROBS: [RED] * 4, LOUD: [RED] * 5 + [RARE] * 3}).forks
    assert (fork.prefix, fork.char, fork.byte) == ("the r", 5, 5)
    assert fork.branches == (("ed fox", 10), ("are fox", 2))
    assert [(one.condition, one.followed) for one in fork.went] == [("alone", (4, 0)), ("company 8", (6, 2))]
    alone, company = fork.looks
    assert (alone.condition, alone.way) == ("alone, logprobs", "asked again")
    assert (alone.followed, company.followed, company.elsewhere) == ((4, 0), (5, 3), 0)
    assert alone.margins.median == pytest.approx(0.02)
    assert (company.margins.min, company.margins.max) == (pytest.approx(0.02), pytest.approx(0.03))
    assert [choice.text for choice in alone.choices] == [" red", " rare"]
    assert (alone.distributions, company.distributions) == (1, 2)


REFUSED = Failure(reason="http-400", message="HTTP 400: prefill is not supported", status=400)


def test_a_side_without_an_answer_is_there_with_what_the_server_said():
    begun = continuation(FIRST_RUN.plan.prompts[0], "the", n=2, max_tokens=8)
    second = built_run(
        {"E": {WITH_LOGPROBS: [RED] * 2, LOUD: [RED, REFUSED]}, begun.id: {WITH_LOGPROBS: [REFUSED] * 2}}
    )
    plan = replace(second.plan, prompts=(second.plan.prompts[0], begun))
    alone, company, continued = second_pass(FIRST, replace(second, plan=plan)).forks[0].looks
    assert (alone.failures, alone.reason) == ((), None)
    assert (company.completions, company.reason) == (1, None)
    assert [(one.reason, one.count) for one in company.failures] == [("http-400", 1)]
    assert (continued.condition, continued.way) == ("alone, logprobs", "continued")
    assert (continued.completions, continued.reached, continued.followed, continued.margins) == (0, 0, (0, 0), None)
    assert continued.reason == "no answer came back: HTTP 400: prefill is not supported"
    assert [(one.count, one.message) for one in continued.failures] == [(2, REFUSED.message)]


def test_sides_stand_in_the_plans_order_whichever_of_them_failed():
    looks = look_again({WITH_LOGPROBS: [REFUSED] * 2, LOUD: [RED] * 2}).forks[0].looks
    assert [look.condition for look in looks] == ["alone, logprobs", "company 8, logprobs"]


GRIN, BEAM = (
    Completion(
        text=f"so {face}",
        tokens=(
            Token(bytes=b"so "),
            *(
                Token(
                    bytes=data,
                    logprob=-0.5,
                    top=(Alternative(bytes=data, logprob=-0.5), Alternative(bytes=b"?", logprob=-0.5 - lead)),
                )
                for data, lead in ((face.encode()[:3], 3.0), (face.encode()[3:], 0.02))
            ),
        ),
    )
    for face in "\U0001f600\U0001f601"
)
"""Two faces whose first three bytes are one token, and whose last byte is another: there the answers part."""


def test_a_fork_inside_a_character_is_looked_at_in_the_token_that_differs():
    first = analysis(built_run({"E": {ALONE: [GRIN.text] * 2, IN_COMPANY: [BEAM.text] * 2}}))
    seen = look_again({WITH_LOGPROBS: [GRIN] * 2, LOUD: [BEAM] * 2}, first=first)
    (fork,) = seen.forks
    assert (fork.char, fork.byte, fork.prefix) == (3, 3, "so ")
    assert [look.margins.median for look in fork.looks] == [pytest.approx(0.02)] * 2
    assert [choice.text for look in fork.looks for choice in look.choices[:1]] == [r"\x80", r"\x81"]
    assert [(one.margin, one.has_forked) for one in seen.positions] == [
        (pytest.approx(3.0), False),
        (pytest.approx(0.02), True),
    ]


def test_a_second_pass_tells_its_first_prompts_from_answers_that_it_continued():
    plan = built_run({"E": {WITH_LOGPROBS: [RED]}}).plan
    assert first_prompts(plan) == plan.prompts
    begun = continuation(plan.prompts[0], "the", n=2, max_tokens=8)
    own = replace(begun, id="E@5")  # no continuation: its answer begins with three characters
    assert first_prompts(replace(plan, prompts=(*plan.prompts, begun, own))) == (*plan.prompts, own)


def test_tokens_without_alternatives_are_no_logprobs():
    bare = Completion(text="the red fox", tokens=(Token(bytes=b"the"), Token(bytes=b" red fox")))
    (fork,) = look_again({WITH_LOGPROBS: [bare] * 2}).forks
    assert [look.reason for look in fork.looks] == ["no logprobs were told"]


def test_what_company_moved_is_the_change_of_the_difference_between_the_two_likeliest():
    (fork,) = look_again({WITH_LOGPROBS: [RED] * 4, LOUD: [RARE] * 8}).forks
    assert fork.moved == pytest.approx(0.05)
    (still,) = look_again({WITH_LOGPROBS: [RED] * 4, LOUD: [RED] * 8}).forks
    assert still.moved == 0
    (unknown,) = look_again({WITH_LOGPROBS: [RED] * 4}).forks
    assert unknown.moved is None


def both_ways(written, given):
    """The fork, its answer asked again and continued from its beginning, both alone."""
    run = built_run({"E": {WITH_LOGPROBS: [*written, *given]}})
    begun = continuation(run.plan.prompts[0], "the", n=len(given), max_tokens=8)
    attempts = tuple(replace(each, prompt=begun.id if each.outcome in given else "E") for each in run.attempts)
    plan = replace(run.plan, prompts=(*run.plan.prompts, begun))
    (fork,) = second_pass(FIRST, replace(run, plan=plan, attempts=attempts)).forks
    return fork


def test_what_reading_moved_is_not_said_to_be_companys():
    given = told((" red", 0.3, " rare"), (" fox", 4.0, " dog"))
    fork = both_ways([RED, RED], [given])
    assert [look.way for look in fork.looks] == ["asked again", "continued"]
    assert fork.moved is None
    assert moved_by_reading(fork.looks) == pytest.approx(0.28)
    still = told((" red", 0.02, " rare"), (" fox", 4.0, " dog"))
    assert moved_by_reading(both_ways([RED], [still]).looks) == 0
    assert moved_by_reading(both_ways([RED], [still]).looks[:1]) is None


def test_alone_is_looked_at_before_company_whichever_was_asked_first():
    run = built_run({"E": {WITH_LOGPROBS: [RED], LOUD: [RARE]}})
    attempts = tuple(replace(each, order=9 - each.order) for each in run.attempts)
    (fork,) = second_pass(FIRST, replace(run, attempts=attempts)).forks
    assert [look.condition for look in fork.looks] == [WITH_LOGPROBS.name, LOUD.name]


def test_answers_that_left_before_the_fork_did_not_reach_it():
    other = told(("a", 1.0, "the"), (" red", 0.1, " rare"))
    (fork,) = look_again({WITH_LOGPROBS: [other] * 3 + [RED]}).forks
    (look,) = fork.looks
    assert (look.completions, look.reached, look.followed) == (4, 1, (1, 0))


def test_an_answer_that_goes_a_third_way_is_counted_apart():
    third = told(("the", 3.0, "a"), (" round", 0.1, " red"))
    (fork,) = look_again({WITH_LOGPROBS: [third, RED]}).forks
    assert (fork.looks[0].followed, fork.looks[0].elsewhere) == ((1, 0), 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("the red fox", "no tokens were told"), ("no such thing", "no answer came this way again")],
)
def test_without_logprobs_the_look_says_what_is_not_known(answer, reason):
    (fork,) = look_again({ALONE: [answer] * 2}).forks
    (look,) = fork.looks
    assert (look.margins, look.distributions, look.choices, look.reason) == (None, None, (), reason)
    assert (fork.units, fork.moved) == ((), None)


def test_a_continued_answer_is_read_from_where_it_was_begun():
    run = built_run({"E": {WITH_LOGPROBS: [told((" red", 0.02, " rare"), tail=" fox")] * 2}})
    prompt = continuation(run.plan.prompts[0], "the", n=2, max_tokens=8)
    assert prompt.id == "E@3"
    assert [message.role for message in prompt.messages] == ["user", "assistant"]
    plan = type(run.plan)(prompts=(prompt,), conditions=run.plan.conditions)
    attempts = tuple(type(each)(**{**_fields(each), "prompt": "E@3"}) for each in run.attempts)
    (fork,) = second_pass(FIRST, type(run)(**{**_fields(run), "plan": plan, "attempts": attempts})).forks
    (look,) = fork.looks
    assert (look.way, look.reached, look.followed) == ("continued", 2, (2, 0))
    assert look.margins.median == pytest.approx(0.02)


def _fields(value):
    return {name: getattr(value, name) for name in value.__slots__}


def continued(*answers, begun="the"):
    """The looks at the fork, the endpoint asked to go on from a beginning and having said these."""
    run = built_run({"E": {WITH_LOGPROBS: list(answers)}})
    prompt = continuation(run.plan.prompts[0], begun, n=len(answers), max_tokens=8)
    attempts = tuple(replace(each, prompt=prompt.id) for each in run.attempts)
    (fork,) = second_pass(FIRST, replace(run, plan=replace(run.plan, prompts=(prompt,)), attempts=attempts)).forks
    return fork.looks


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Sure! A red one", DID_NOT_GO_ON),
        ("red fox", DID_NOT_GO_ON),
        ("", DID_NOT_GO_ON),
        (" blue", DID_NOT_GO_ON),
        ("the red fox", f"{DID_NOT_GO_ON}: it says it again"),
    ],
)
def test_an_endpoint_that_begins_anew_is_said_not_to_go_on_and_went_nowhere(answer, reason):
    (look,) = continued(answer, answer)
    assert (look.completions, look.reached, look.followed, look.elsewhere) == (2, 0, (0, 0), 0)
    assert look.reason == reason


def test_an_endpoint_that_went_on_once_goes_on_and_may_go_elsewhere():
    (look,) = continued(" rare fox", " round fox", "no")
    assert (look.reached, look.followed, look.elsewhere, look.reason) == (2, (0, 1), 1, "no tokens were told")


def test_prompts_that_the_first_run_has_not_are_left_out():
    found = second_pass(FIRST, built_run({"other": {WITH_LOGPROBS: [RED]}}))
    assert [look for fork in found.forks for look in fork.looks] == []
    assert found.positions == ()


@pytest.mark.parametrize(
    ("prefix", "begun"),
    [("the r", "the"), ("the red ", "the"), ("the red fox j", "the red fox"), ("word", ""), ("", ""), ("a\nb", "a")],
)
def test_an_answer_is_begun_where_a_token_surely_ends(prefix, begun):
    assert beginning(prefix) == begun


def test_units_are_those_of_each_format_at_logits_of_8_to_64():
    by_format = {one.format: one for one in units(0.125)}
    assert (by_format["bf16"].most, by_format["bf16"].least) == (2.0, 0.5)
    assert by_format["fp16"].most == 16.0
    assert by_format["fp32"].least == by_format["bf16"].least * 2**16


# Junctions


def test_every_position_is_told_with_its_rival_and_whether_answers_parted_there():
    seen = positions(FIRST.prompts[0], [RED, RED, RARE])
    assert [(one.char, one.text, one.rival, one.has_forked) for one in seen] == [
        (0, "the", "a", False),
        (3, " red", " rare", True),
        (7, " fox", " dog", False),
    ]
    assert [one.margin for one in seen] == [pytest.approx(3.0), pytest.approx(0.02), pytest.approx(4.0)]


def test_a_fork_of_other_answers_is_none_of_this_one():
    deep = analysis(built_run({"E": {ALONE: ["the rare fox", "the rare elk", "the red fox"]}}))
    seen = positions(deep.prompts[0], [RED])
    assert [one.char for one in seen if one.has_forked] == [3]
    assert [prefix for prefix, _ in walk(deep.prompts[0].tree)] == ["the r", "the rare "]


def test_positions_in_a_text_of_many_bytes_count_characters():
    seen = positions(FIRST.prompts[0], [told(("é界", 1.0, "x"), ("🙂", 1.0, "y"), ("z", 1.0, "w"))])
    assert [one.char for one in seen] == [0, 2, 3]


def test_no_tokens_no_positions():
    assert positions(FIRST.prompts[0], [Completion(text="the red fox")]) == ()


def at(margin: float, *, forked: bool = False) -> Position:
    return Position(prompt="E", char=0, token=0, text="a", rival="b", margin=margin, has_forked=forked)


def test_bins_count_every_margin_once_and_exact_ties_by_themselves():
    table = bins([at(0.0, forked=True), at(0.001), at(0.02, forked=True), at(0.5), at(7.0), at(-0.1)])
    counted = {(one.low, one.high): (one.positions, one.forks) for one in table if one.positions}
    assert counted == {
        (0.0, 0.0): (1, 1),
        (0.0, 0.01): (1, 0),
        (0.01, 0.03): (1, 1),
        (0.5, 1.0): (1, 0),
        (5.0, None): (1, 0),
    }
    assert len(table) == len(BIN_EDGES) + 1


@pytest.mark.parametrize("margin", [*BIN_EDGES, math.nextafter(0, 1), 1e9])
def test_every_margin_falls_into_exactly_one_bin(margin):
    assert sum(one.positions for one in bins([at(margin)])) == 1
