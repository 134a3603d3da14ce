"""An explanation in words: near ties, what company moved, what is not known, and our engine's bottom."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from documented_fields import documented, is_of, leaves

from temp0.core.analysis import Choice, Tally
from temp0.core.descent import Candidate, Descent, LayerDifference, Origin
from temp0.core.detail import Position
from temp0.core.reduction_tree import reduction_tree
from temp0.core.second_pass import DID_NOT_GO_ON, ForkLook, Look, SecondPass, Spread, Went, units
from temp0.core.tree_record import TreeClass
from temp0.report.screen import rendered
from temp0.report.second_pass import conclusion, descent_sentences
from temp0.report.second_pass_schema import exit_code, second_pass_document, second_pass_json
from temp0.report.second_pass_screen import second_pass_screen

LOOK = Look(
    condition="alone, logprobs",
    way="asked again",
    completions=8,
    reached=8,
    followed=(8, 0),
    elsewhere=0,
    margins=Spread(min=0.01, median=0.02, max=0.03, n=8),
    distributions=2,
    choices=(Choice(text=" cache", logprob=-0.7), Choice(text=" make", logprob=-0.72)),
    reason=None,
)
IN_COMPANY = replace(LOOK, condition="company 8, logprobs", followed=(1, 6), elsewhere=1)
FORK = ForkLook(
    prompt="C",
    char=56,
    byte=56,
    prefix="The best way is to ",
    branches=(("cache it.", 8), ("make it.", 8)),
    went=(Went(condition="alone", followed=(8, 0)), Went(condition="company 8", followed=(0, 8))),
    looks=(LOOK, IN_COMPANY),
    moved=0.05,
    units=units(0.02),
)
GIVEN = replace(
    LOOK, way="continued", choices=(Choice(text=" cache", logprob=-0.7), Choice(text=" make", logprob=-0.9))
)
ANEW = replace(
    LOOK,
    way="continued",
    reached=0,
    followed=(0, 0),
    margins=None,
    choices=(),
    reason=f"{DID_NOT_GO_ON}: it says it again",
)
ORIGIN = Origin(
    position=42,
    layer=1,
    operation="gate_up",
    inputs=576,
    outputs=3072,
    differing=2,
    column=428,
    largest=0.0039,
    rows_alone=1,
    row_alone=0,
    rows_in_company=86,
    row_in_company=0,
)
DESCENT = Descent(
    prompt="Give me one 12-word proverb about caching.",
    arithmetic="stock",
    company=8,
    place=0,
    has_forked=True,
    prompt_tokens=41,
    token=15,
    char=55,
    text="The best way is to",
    candidates=(
        Candidate(token=1, text=" cache", alone=22.4894, in_company=22.5303),
        Candidate(token=2, text=" make", alone=22.4062, in_company=22.6426),
    ),
    origin=ORIGIN,
    layers=(
        LayerDifference(layer=0, share=0.0, relative=0.0, largest=0.0),
        LayerDifference(layer=29, share=0.908, relative=0.016, largest=7.6),
    ),
)
LOST = Tally(reason="timeout", count=1, message="no whole answer within 300 s")
SECOND = SecondPass(
    first="aaaa",
    second="bbbb",
    forks=(replace(FORK, looks=(LOOK, replace(IN_COMPANY, failures=(LOST,)))),),
    positions=(
        Position(prompt="C", char=18, token=4, text="The", rival="A", margin=0.0763, has_forked=False),
        Position(prompt="C", char=55, token=15, text=" cache", rival=" make", margin=0.02, has_forked=True),
    ),
)


def with_margin(median: float, **changes: object) -> ForkLook:
    look = replace(LOOK, margins=Spread(min=median, median=median, max=median, n=1))
    return replace(FORK, looks=(look,), units=units(median), **changes)  # type: ignore[arg-type]


def test_a_near_tie_says_by_how_much_and_that_company_moved_more():
    told = conclusion(FORK)
    assert "A near tie: under “alone, logprobs”, “ cache” leads “ make” by 0.0200 nats" in told
    assert "Company moved their difference by 0.0500 nats, more than the lead" in told
    assert (
        "“company 8, logprobs” (asked again): of 8 that came here, 1 as “cache it.”, 6 as “make it.”, 1 another way"
        in told
    )


@pytest.mark.parametrize(
    ("followed", "elsewhere", "told"),
    [
        ((8, 0), 0, "All 8 that came here went on as “cache it.”."),
        ((0, 8), 0, "All 8 that came here went on as “make it.”."),
        ((1, 6), 1, "The 8 that came here went on: 1 as “cache it.”, 6 as “make it.”, 1 another way."),
        ((0, 0), 8, "The 8 that came here went on: 8 another way."),
        ((0, 1), 0, "The one answer that came here went on as “make it.”."),
    ],
)
def test_which_branch_was_taken_is_said_beside_the_lead(followed, elsewhere, told):
    look = replace(LOOK, followed=followed, elsewhere=elsewhere, reached=sum(followed) + elsewhere)
    said = conclusion(replace(FORK, looks=(look, IN_COMPANY)))
    assert f"in the median of 8 answers. {told} " in said
    assert said.count("alone, logprobs") == 1  # with the lead, and not again among the other ways


def test_a_lead_is_that_of_each_answer_only_where_all_saw_the_same():
    same = replace(FORK, looks=(replace(LOOK, distributions=1), IN_COMPANY))
    assert "in each of 8 answers. " in conclusion(same)


def test_what_the_run_itself_went_on_with_is_said_beside_what_was_seen_again():
    assert "In the run itself answers went on: “alone” 8 as “cache it.”; “company 8” 8 as “make it.”." in conclusion(
        FORK
    )


def test_what_the_server_said_where_nothing_came_back_is_quoted():
    failures = (Tally(reason="http-400", count=8, message="HTTP 400: prefill is not supported."),)
    silent = replace(ANEW, completions=0, reason="no answer came back: HTTP 400", failures=failures)
    other = replace(silent, condition="company 8, logprobs", failures=(replace(failures[0], count=3),))
    said = conclusion(replace(FORK, looks=(LOOK, silent, other)))
    assert said.endswith(
        " No answer came back under “alone, logprobs” and “company 8, logprobs” (continued): HTTP 400: prefill is not "
        "supported."
    )
    assert "did not go on" not in said
    alone = conclusion(replace(FORK, looks=(replace(silent, way="asked again"),)))
    assert alone.startswith("No answer came back here. ")
    assert "(asked again): HTTP 400: prefill is not supported." in alone


def test_a_branch_is_named_from_the_word_that_holds_the_fork():
    fork = replace(FORK, prefix="The best way is to ma", branches=(("ke it.", 8), ("rk it.", 5), ("", 3)))
    fork = replace(fork, went=(Went(condition="alone", followed=(8, 5, 3)),), looks=())
    assert "answers went on: “alone” 8 as “make it.”, 5 as “mark it.”, 3 as the end." in conclusion(fork)


def test_of_many_branches_the_first_are_named_and_the_rest_is_counted():
    branches = tuple((f"{letter} end", 9 - place) for place, letter in enumerate("abcdefg"))
    look = replace(LOOK, followed=(2, 1, 1, 1, 1, 1, 1))
    went = (Went(condition="alone", followed=tuple(range(9, 2, -1))),)
    said = conclusion(replace(FORK, branches=branches, went=went, looks=(look,)))
    assert (
        "answers went on: “alone” 9 as “a end”, 8 as “b end”, 7 as “c end”, 6 as “d end”, 12 in 3 other ways." in said
    )
    assert "went on: 2 as “a end”, 1 as “b end”, 1 as “c end”, 1 as “d end”, 3 in 3 other ways." in said


@pytest.mark.parametrize(
    ("margin", "told"),
    [
        (0.0, "An exact tie: under “alone, logprobs”, “ cache” and “ make”: which token wins is the tie-break rule's"),
        (0.5, "A near tie"),
        (0.7, "No near tie"),
        (2.0, "suspect a cache, another backend, sampling or a fault"),
    ],
)
def test_each_class_of_margin_has_its_words(margin, told):
    assert told in conclusion(with_margin(margin))


def test_units_are_called_a_possibility():
    assert "(perhaps 0.08 to 0.32 units in the last place of bf16, if the logits lie between 8 and 64)" in conclusion(
        FORK
    )


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        (None, "What company does to it was not seen"),
        (0.0, "company did not move them here"),
        (0.01, "0.0100 nats, less than the lead"),
    ],
)
def test_what_company_did_is_told_as_far_as_it_was_seen(moved, told):
    assert told in conclusion(replace(FORK, moved=moved))


def test_what_is_not_known_is_said():
    unseen = replace(LOOK, reached=0, followed=(0, 0), margins=None, choices=(), reason="no answer came this way again")
    silent = replace(LOOK, margins=None, distributions=None, choices=(), reason="no tokens were told")
    assert "is not known" in conclusion(replace(FORK, looks=(unseen,)))
    assert "no tokens were told" in conclusion(replace(FORK, looks=(silent,)))
    assert conclusion(replace(FORK, looks=())).startswith("No answer came back here. ")


def test_a_fork_of_our_engine_is_told_from_the_top_to_the_bottom():
    top, origin, growth = descent_sentences(DESCENT)
    assert "forks at token 15 of the answer (from character 55 on): alone, “ cache” wins, 22.4894 over 22.4062" in top
    assert "in layer 1, at token 42 of prompt and answer, in the product for gate and up (" in origin
    assert "(of the feed-forward part): 2 sums of 3,072" in origin
    assert "1 row alone and 86 in company" in origin
    assert "after layer 29" in growth


def test_the_two_orders_of_addition_are_named_and_drawn_side_by_side():
    chain = reduction_tree(8, [(0, 1), *((8 + place, 2 + place) for place in range(6))])
    halves = reduction_tree(8, [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)])
    trees = tuple(TreeClass(places=(), bits="", tree=tree, replayed="fused", replays=64) for tree in (chain, halves))
    told = rendered(second_pass_screen(SECOND, (replace(DESCENT, trees=trees),)), width=100)
    assert "Alone that sum is added as" in told
    assert told.count("sum of 8") == 2
    document = json.loads(second_pass_json(SECOND, (replace(DESCENT, trees=trees),)))
    assert [one["replayed"] for one in document["descents"][0]["trees"]] == ["fused", "fused"]


def test_where_no_bit_differs_that_is_all():
    told = descent_sentences(replace(DESCENT, origin=None, has_forked=False))
    assert told[-1] == "Not one bit differs between the two computations, in any product of any layer."
    assert "No company that was tried makes this prompt fork" in told[0]


def test_the_screen_shows_forks_near_ties_junctions_and_the_bottom():
    told = rendered(second_pass_screen(SECOND, (DESCENT,)), width=100)
    for expected in (
        "Prompt C, character 56",
        "Near ties that did not fork",
        "Is an answer safe that passes no near tie?",
        "0.03 to 0.1",
        "To the bottom, in our own engine",
        "after layer",
    ):
        assert expected in told
    assert max(map(len, told.splitlines())) <= 100


def test_a_near_tie_that_forked_is_not_among_those_that_did_not():
    told = rendered(second_pass_screen(SECOND), width=100).split("Near ties that did not fork")[1]
    assert "“The”" in told.split("Is an answer safe")[0]
    assert "“ cache”" not in told.split("Is an answer safe")[0]


def test_every_field_is_documented_and_every_documented_field_is_there():
    fields = documented("A second look at the forks")
    document = json.loads(second_pass_json(SECOND, (DESCENT,)))
    seen = dict(leaves(document, fields))
    assert set(seen) <= set(fields)
    assert {name for name in fields if name not in seen} == set()
    assert seen["descents[].trees"] is None
    assert seen["not_followed"] is None
    assert second_pass_document(SECOND, not_followed="no weights")["not_followed"] == "no weights"
    assert [name for name, value in leaves(document, fields) if not is_of(value, fields[name])] == []


def test_nothing_that_came_back_is_exit_3_where_there_are_forks_and_0_where_there_are_none():
    assert exit_code(replace(SECOND, forks=(replace(FORK, looks=()),), positions=())) == 3
    assert exit_code(replace(SECOND, forks=(), positions=())) == 0
    assert second_pass_document(SECOND)["exit_code"] == 0


def test_what_reading_a_given_beginning_moves_is_said_apart_from_company():
    said = conclusion(replace(FORK, looks=(LOOK, IN_COMPANY, GIVEN)))
    assert "With company unchanged it moved by 0.1800 nats where the beginning was given and not written" in said
    assert "given and not written" not in conclusion(FORK)


def test_an_endpoint_that_began_anew_is_told_in_words():
    said = conclusion(replace(FORK, looks=(LOOK, ANEW)))
    assert said.endswith(
        "The endpoint did not go on from a given beginning: it says it again; what it began anew is not counted."
    )
    assert "did not go on" in conclusion(replace(FORK, looks=(ANEW,)))
    assert "did not go on" not in conclusion(FORK)
