"""Where texts fork: characters, bytes and tokens, the branches, and what the logprobs say about the margin."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence

import pytest
from building import ALONE, WITH_LOGPROBS, all_forks, first_fork, judged, leaves, spelled, token

from temp0.core.analysis import Fork, Margin
from temp0.core.fork import fork_tree, leaves_of
from temp0.core.plan import Condition
from temp0.core.run import Completion, Token


def test_a_fork_counts_code_points_and_utf8_bytes() -> None:
    fork = first_fork("é界🙂x", "é界🙂y")
    assert (fork.char, fork.byte, fork.kind) == (3, 9, "differs")
    assert sorted(branch.text for branch in fork.branches) == ["x", "y"]


def test_texts_that_differ_at_once_fork_at_zero() -> None:
    fork = first_fork("x", "y")
    assert (fork.char, fork.byte) == (0, 0)


def test_characters_that_share_their_first_bytes_fork_before_the_whole_character() -> None:
    fork = first_fork("a😀", "a😁")
    assert (fork.char, fork.byte) == (1, 1)
    assert sorted(branch.text for branch in fork.branches) == ["😀", "😁"]


def test_a_lone_surrogate_counts_three_bytes() -> None:
    fork = first_fork("\udcb2x", "\udcb2y")
    assert (fork.char, fork.byte) == (1, 3)


def test_a_prefix_ends_where_the_longer_text_goes_on() -> None:
    fork = first_fork(Completion(text="ab", finish="length"), Completion(text="abc", finish="stop"))
    assert (fork.char, fork.kind) == (2, "ended")
    finishes = {branch.text: [finish.reason for finish in branch.finishes] for branch in fork.branches}
    assert finishes == {"": ["length"], "c": ["stop"]}


def test_an_empty_text_is_a_prefix_of_every_text() -> None:
    fork = first_fork("", "a", "a")
    assert (fork.char, fork.kind) == (0, "ended")
    assert {branch.text: branch.count for branch in fork.branches} == {"": 1, "a": 2}


def test_a_branch_holds_what_its_completions_share_and_its_own_fork_follows() -> None:
    fork = first_fork("one two", "one three x", "one three y", "one three y")
    assert fork.char == 5
    branches = {branch.text: branch for branch in fork.branches}
    assert set(branches) == {"wo", "hree "}
    later = branches["hree "].fork
    assert later is not None
    assert later.char == 10
    assert {branch.text: branch.count for branch in later.branches} == {"x": 1, "y": 2}
    assert branches["hree "].count == 3


def test_a_branch_names_the_hashes_of_its_completions() -> None:
    fork = first_fork("ax", "by", "bz")
    named = {branch.text: set(branch.sha256) for branch in fork.branches}
    hashes = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("ax", "by", "bz")}
    assert named == {"ax": {hashes["ax"]}, "b": {hashes["by"], hashes["bz"]}}


def test_one_text_has_a_tree_without_a_fork() -> None:
    prompt = judged({ALONE: ["same", "same"]})
    assert prompt.tree is not None
    assert (prompt.tree.text, prompt.tree.count, prompt.tree.fork) == ("same", 2, None)


def test_no_completion_has_no_tree() -> None:
    assert judged({ALONE: []}, wanted=2).tree is None


def test_the_known_study_forks_at_its_103rd_token() -> None:
    shared = [token(f" w{place}") for place in range(102)]
    later = {" east": 79, " north": 1}
    counts = {" east": [914] + [1] * 78, " north": [8]}
    completions = [
        spelled(*shared, token(word), token(f" tail {tail}"))
        for word in later
        for tail, count in enumerate(counts[word])
        for _ in range(count)
    ]
    prompt = judged({ALONE: completions})
    assert prompt.tree is not None
    fork = prompt.tree.fork
    assert fork is not None
    assert fork.token == 102
    assert fork.char == len("".join(f" w{place}" for place in range(102))) + 1
    assert {branch.text.split()[0]: branch.count for branch in fork.branches} == {"east": 992, "north": 8}
    assert prompt.distinct.text == 80
    assert sum(count for _, count in leaves(prompt)) == 1000


def test_a_token_may_end_inside_a_character() -> None:
    head = Token(bytes=b"\xf0\x9f\x98")
    fork = first_fork(spelled(head, Token(bytes=b"\x80")), spelled(head, Token(bytes=b"\x81")))
    assert (fork.char, fork.byte, fork.token) == (0, 0, 1)


def test_without_tokens_the_token_is_not_measured() -> None:
    assert first_fork("a", "b").token is None


def test_where_one_branch_has_no_tokens_the_token_is_not_measured() -> None:
    assert first_fork(spelled(token("a")), "b").token is None


def test_tokens_may_part_before_the_characters_do() -> None:
    fork = first_fork(spelled(token("x"), token("ab"), token("c")), spelled(token("x"), token("abd")))
    assert (fork.char, fork.token) == (3, 1)


def test_a_branch_that_ends_inside_the_other_s_token_has_a_token_there() -> None:
    fork = first_fork(
        spelled(token("x"), token("ab", -0.5, abc=-0.625)), spelled(token("x"), token("abc", -0.5, ab=-0.75))
    )
    assert (fork.char, fork.kind, fork.token) == (3, "ended", 1)
    assert (fork.margin.kind, fork.margin.value) == ("near", 0.125)


def test_a_fork_of_three_is_at_the_first_token_that_not_all_share() -> None:
    fork = first_fork(
        spelled(token("x"), token("y"), token("a")),
        spelled(token("x"), token("y"), token("b")),
        spelled(token("x"), token("yc")),
    )
    assert (fork.char, fork.token) == (2, 1)


def test_another_completion_of_a_text_may_have_the_tokens() -> None:
    one, other = forking(0.125)
    fork = whole_fork([Completion(text=one.text), one, Completion(text=other.text), other])
    assert (fork.token, fork.margin.kind) == (1, "near")


def test_another_text_of_a_branch_may_have_the_tokens() -> None:
    one, other = forking(0.125)
    fork = first_fork(one, Completion(text=other.text + "!"), other)
    assert (fork.token, fork.margin.kind) == (1, "near")


def test_the_commonest_spelling_of_a_branch_leads_and_the_others_follow_it_as_far_as_they_can() -> None:
    usual = spelled(token("ab", -0.5), token("c", -0.5, d=-0.75))
    odd = spelled(token("abc", -0.5, ab=-0.5))
    other = spelled(token("ab", -0.5), token("d", -0.5, c=-0.625))
    fork = whole_fork([odd, usual, usual, other])
    assert (fork.char, fork.token, fork.margin.value) == (2, 1, 0.125)
    assert [one.margin for one in fork.margin.distributions] == [0.25, 0.125]


def test_a_branch_follows_the_lead_by_the_spelling_of_its_own_that_goes_furthest() -> None:
    lead = spelled(token("ab", -0.5), token("c", -0.5, d=-0.75))
    far = spelled(token("ab", -0.5), token("d", -0.5, c=-0.625))
    early = Completion(text="abd", tokens=(token("a", -0.5), token("b", -0.5, bd=-0.5), token("d", -0.5)))
    fork = whole_fork([lead, lead, lead, early, far])
    assert [branch.text for branch in fork.branches] == ["c", "d"]
    assert fork.token == 1
    assert [one.chosen for one in fork.margin.distributions] == ["c", "d"]
    assert fork.margin.value == 0.125


def test_the_completion_of_median_margin_speaks_for_its_branch_whatever_the_order() -> None:
    first = [forking(difference)[0] for difference in (0.25, 0.0, 0.375)]
    other = forking(0.5)[1]
    found = {whole_fork(list(order)).margin for order in itertools.permutations([*first, other])}
    assert [one.value for one in found] == [0.25]


def test_an_ending_that_the_token_limit_made_is_no_choice() -> None:
    start, more = token("x", -0.25, y=-3.0), token("A", -0.5, B=-0.625)
    by_itself = whole_fork([spelled(start), spelled(start, more)])
    cut = whole_fork([spelled(start, finish="length"), spelled(start, more, finish="length")])
    assert (by_itself.kind, by_itself.margin.kind) == ("ended", "near")
    assert (cut.kind, cut.margin.kind) == ("ended", "unknown")


def test_distributions_stand_in_the_order_of_the_branches() -> None:
    one, other = forking(0.125, back=0.25)
    fork = whole_fork([one, other, other])
    assert [branch.text for branch in fork.branches] == ["B", "A"]
    assert [found.chosen for found in fork.margin.distributions] == ["B", "A"]
    assert fork.margin.shift == pytest.approx(0.25)


def test_a_thousand_nested_prefixes_make_a_tree() -> None:
    texts = ["a" * length for length in range(1200)]
    prompt = judged({Condition(company=1200): texts})
    assert sorted(leaves(prompt)) == [(text, 1) for text in texts]
    assert sorted(fork.char for _, fork in all_forks(prompt)) == list(range(1199))


HYGIENE = [
    ["42", "42\n", "42 ", "\ufeff42"],
    ["caf\u00e9", "cafe\u0301"],
    ["a\r\nb", "a\nb"],
    ["\u212b", "\u00c5"],
    ["\udcb2", "?", "\ufffd"],
    ["\U0001f378", "\ud83c\udf78"],
]


@pytest.mark.parametrize("texts", HYGIENE, ids=ascii)
def test_nothing_is_folded(texts: Sequence[str]) -> None:
    prompt = judged({ALONE: texts})
    assert prompt.distinct.text == len(texts)
    expected = {hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(): text for text in texts}
    assert {found.sha256: found.text for found in prompt.texts} == expected


def whole_fork(completions: Sequence[Completion]) -> Fork:
    """The first fork of completions, without a run around them."""
    tree = fork_tree(leaves_of(completions))
    assert tree is not None
    assert tree.fork is not None
    return tree.fork


def margin(one: Completion, other: Completion) -> Margin:
    tree = judged({WITH_LOGPROBS: [one, other]}).tree
    assert tree is not None
    assert tree.fork is not None
    return tree.fork.margin


def forking(difference: float, *, back: float | None = None) -> tuple[Completion, Completion]:
    """Two completions that part at their second token, each preferring its own by `difference` (or `back`)."""
    top, second = -0.5, -0.5 - difference
    other = second if back is None else top - back
    start = token("x", -0.01)
    return (
        spelled(start, token("A", top, B=second)),
        spelled(start, token("B", top, A=other)),
    )


@pytest.mark.parametrize(
    ("difference", "kind"),
    [(0.0, "exact-tie"), (0.125, "near"), (0.5, "near"), (0.75, "unclear"), (1.0, "unclear"), (2.0, "confident")],
)
def test_a_margin_is_named_by_its_size(difference: float, kind: str) -> None:
    found = margin(*forking(difference))
    assert found.kind == kind
    assert found.value == pytest.approx(difference)
    assert found.reason is None


def test_a_fork_is_confident_only_where_each_branch_is() -> None:
    assert margin(*forking(2.0, back=0.25)).kind != "confident"


def test_two_logprobs_with_the_same_bits_are_an_exact_tie() -> None:
    one = spelled(token("A", -1.0606343, B=-1.0606343))
    other = spelled(token("B", -1.0606343, A=-1.0606343))
    assert margin(one, other).kind == "exact-tie"


def test_without_logprobs_the_margin_is_unknown_and_says_why() -> None:
    found = first_fork("a", "b").margin
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason


def test_alternatives_without_the_chosen_token_make_the_margin_unknown() -> None:
    one, other = forking(0.125)
    assert one.tokens is not None
    wrong = Token(bytes=b"A", logprob=-0.5, top=one.tokens[0].top)
    found = margin(spelled(one.tokens[0], wrong), other)
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason


def test_logprobs_that_are_all_zero_make_the_margin_unknown() -> None:
    start = token("x", 0.0, y=0.0)
    found = margin(spelled(start, token("A", 0.0, B=0.0)), spelled(start, token("B", 0.0, A=0.0)))
    assert (found.kind, found.value) == ("unknown", None)
    assert found.reason


@pytest.mark.parametrize("floor", [-math.inf, math.nan])
def test_a_logprob_that_is_no_number_never_reaches_the_margin(floor: float) -> None:
    found = margin(spelled(token("A", -0.5, B=floor)), spelled(token("B", -0.5, A=floor)))
    assert found.value is None or math.isfinite(found.value)
