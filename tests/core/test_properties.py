"""What holds of every run, whatever the texts: found by Hypothesis."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from building import ALONE, IN_COMPANY, REFUSED, all_forks, built_run, judged, leaves, under, with_fillers
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.analysis import Verdict
from temp0.core.fork import fork_tree, leaves_of
from temp0.core.judgement import analysis
from temp0.core.run import Completion, Failure, Run, Token
from temp0.core.text import utf8

few = settings(max_examples=60, deadline=None)
any_text = st.one_of(
    st.text(st.sampled_from("ab"), max_size=6),
    st.text(st.sampled_from("aé界🙂\u0301\ufeff\ud83d\ude42\udcb2"), max_size=6),
    st.text(st.characters(exclude_categories=()), max_size=12),
)
texts = st.lists(any_text, min_size=1, max_size=12)
finishes = st.sampled_from(["stop", "length", None])


@st.composite
def outcomes(draw: st.DrawFn) -> Completion | Failure:
    text = draw(any_text)
    if draw(st.integers(0, 5)) == 0:
        return replace(REFUSED, message=text)
    tokens = tuple(Token(bytes=utf8(each)) for each in text) if draw(st.booleans()) else None
    return Completion(text=text, finish=draw(finishes), tokens=tokens)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    mixed = st.lists(outcomes(), min_size=1, max_size=10)
    observed = {
        name: {ALONE: draw(mixed), IN_COMPANY: draw(mixed)} for name in draw(st.sampled_from([["A"], ["A", "B"]]))
    }
    run = built_run(observed, seed=draw(st.integers(0, 99)))
    return with_fillers(run, beside=IN_COMPANY, texts=draw(st.lists(any_text, max_size=2)))


@given(run=runs(), seed=st.integers(0, 2**32))
@few
def test_shuffling_the_record_changes_nothing(run: Run, seed: int) -> None:
    assert analysis(shuffled(run, seed)) == analysis(run)


@given(run=runs(), seed=st.integers(0, 2**32))
@few
def test_shuffling_the_record_changes_no_byte_of_the_report(run: Run, seed: int) -> None:
    report = pytest.importorskip("temp0.report")
    if not hasattr(report, "json_text"):
        pytest.skip("the report room has no json_text yet")
    assert report.json_text(analysis(shuffled(run, seed))) == report.json_text(analysis(run))


@given(texts=texts)
@few
def test_the_leaves_are_exactly_the_distinct_completions(texts: list[str]) -> None:
    prompt = judged({ALONE: texts})
    assert Counter(dict(leaves(prompt))) == Counter(texts)
    assert len(leaves(prompt)) == prompt.distinct.text == len(set(texts))
    assert prompt.tree is not None
    assert prompt.tree.count == len(texts)


@given(texts=texts)
@few
def test_every_branch_begins_at_its_fork_in_every_completion_it_names(texts: list[str]) -> None:
    by_hash = {hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(): text for text in texts}
    counts = Counter(texts)
    for prefix, fork in all_forks(judged({ALONE: texts})):
        assert len(prefix) == fork.char
        for branch in fork.branches:
            named = [by_hash[sha256] for sha256 in branch.sha256]
            assert all(text.startswith(prefix + branch.text) for text in named)
            assert branch.count == sum(counts[text] for text in named)
            assert branch.text or named == [prefix]


@given(texts=texts)
@few
def test_branches_differ_in_their_first_character(texts: list[str]) -> None:
    for _, fork in all_forks(judged({ALONE: texts})):
        first_characters = [branch.text[:1] for branch in fork.branches]
        assert len(first_characters) >= 2
        assert len(set(first_characters)) == len(first_characters)


@given(texts=texts)
@few
def test_the_byte_of_a_fork_is_the_length_of_the_shared_text_in_utf8(texts: list[str]) -> None:
    for prefix, fork in all_forks(judged({ALONE: texts})):
        assert fork.byte == len(prefix.encode("utf-8", "surrogatepass"))


@given(texts=texts)
@few
def test_a_fork_of_two_is_ended_exactly_where_one_text_is_a_prefix(texts: list[str]) -> None:
    for _, fork in all_forks(judged({ALONE: texts})):
        if len(fork.branches) == 2:
            has_ended = any(branch.text == "" for branch in fork.branches)
            assert (fork.kind == "ended") == has_ended


@given(texts=texts)
@few
def test_forks_are_listed_from_the_earliest(texts: list[str]) -> None:
    prompt = judged({ALONE: texts})
    assert prompt.tree is not None
    positions = [fork.char for fork in prompt.tree.forks()]
    assert positions == sorted(positions)
    assert Counter(positions) == Counter(fork.char for _, fork in all_forks(prompt))


@given(texts=st.lists(any_text, min_size=2, max_size=12))
@few
def test_tokens_agree_with_characters_where_every_character_is_a_token(texts: list[str]) -> None:
    spelled = [
        Completion(text=text, finish="stop", tokens=tuple(Token(bytes=utf8(each)) for each in text)) for text in texts
    ]
    for _, fork in all_forks(judged({ALONE: spelled})):
        assert fork.token == fork.char


@st.composite
def cut_into_tokens(draw: st.DrawFn) -> Completion:
    text = draw(any_text)
    data = utf8(text)
    cuts = sorted(draw(st.sets(st.integers(0, len(data)), max_size=6)) | {0, len(data)})
    return Completion(
        text=text, finish="stop", tokens=tuple(Token(bytes=data[start:end]) for start, end in pairwise(cuts))
    )


@given(one=cut_into_tokens(), other=cut_into_tokens())
@few
def test_however_two_texts_were_cut_their_fork_has_the_first_token_they_do_not_share(
    one: Completion, other: Completion
) -> None:
    tree = fork_tree(leaves_of([one, other]))
    assert tree is not None
    if tree.fork is not None:
        assert one.tokens is not None
        assert other.tokens is not None
        unlike = (place for place, pair in enumerate(zip(one.tokens, other.tokens, strict=False)) if pair[0] != pair[1])
        assert tree.fork.token == next(unlike, min(len(one.tokens), len(other.tokens)))


@given(texts=texts)
@few
def test_tokens_beside_the_texts_change_no_fork_between_characters(texts: list[str]) -> None:
    bare = [Completion(text=text, finish="stop") for text in texts]
    told = [replace(one, tokens=tuple(Token(bytes=utf8(each)) for each in one.text)) for one in bare]
    trees = [fork_tree(leaves_of(completions)) for completions in (bare, told)]
    places = [[(fork.char, fork.byte, fork.kind) for fork in tree.forks()] for tree in trees if tree is not None]
    assert len(places) == 2
    assert places[0] == places[1]


@given(run=runs())
@few
def test_every_attempt_is_accounted_for(run: Run) -> None:
    found = analysis(run)
    assert found.requests == len(run.attempts)
    judged_attempts = Counter(
        (attempt.prompt, attempt.condition) for attempt in run.attempts if attempt.role == "judged"
    )
    for prompt in found.prompts:
        for condition in prompt.conditions:
            failed = sum(tally.count for tally in condition.failures)
            excluded = sum(tally.count for tally in condition.excluded)
            assert condition.attempts == judged_attempts[prompt.id, condition.name]
            assert condition.attempts == condition.completions + failed + excluded


@given(run=runs())
@few
def test_the_listing_sums_to_the_completions(run: Run) -> None:
    for prompt in analysis(run).prompts:
        completions = sum(condition.completions for condition in prompt.conditions)
        assert sum(text.count for text in prompt.texts) == completions
        assert len(prompt.texts) == prompt.distinct.text
        for text in prompt.texts:
            assert sum(count for _, count in text.conditions) == text.count
            assert sum(finish.count for finish in text.finishes) == text.count


@given(run=runs())
@few
def test_no_estimate_is_certain(run: Run) -> None:
    for prompt in analysis(run).prompts:
        for condition in prompt.conditions:
            estimate = condition.agreement
            if estimate is not None and estimate.low is not None and estimate.high is not None:
                assert 0 <= estimate.low < estimate.high <= 1
                assert estimate.low <= estimate.value <= estimate.high
            if condition.variant_rate_upper is not None:
                assert 0 < condition.variant_rate_upper <= 1


@given(text=any_text.filter(bool), n=st.integers(2, 6))
@few
def test_one_text_however_strange_is_agreed(text: str, n: int) -> None:
    assert judged({ALONE: [text] * n}).verdict is Verdict.AGREED


@given(one=any_text, other=any_text)
@few
def test_two_texts_however_close_are_diverged(one: str, other: str) -> None:
    expected = Verdict.DIVERGED if one != other else under(judged({ALONE: [one, one]}), ALONE).verdict
    assert judged({ALONE: [one, other]}).verdict is expected


def shuffled(run: Run, seed: int) -> Run:
    order = random.Random(seed)
    return replace(
        run,
        attempts=tuple(order.sample(run.attempts, len(run.attempts))),
        samples=tuple(order.sample(run.samples, len(run.samples))),
    )
