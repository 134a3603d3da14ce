"""What the branches saw stands token beside token, and what a branch did not list stays open."""

from __future__ import annotations

from dataclasses import replace

import reason_samples as reasons

from temp0.core.analysis import Choice, Distribution, Fork, Margin
from temp0.report.sight import Look, sight


def fork(margin: Margin) -> Fork:
    tree = reasons.observed().prompts[0].tree
    assert tree
    assert tree.fork
    return replace(tree.fork, margin=margin)


def test_each_token_has_its_logprob_on_each_branch_and_how_far_it_moved() -> None:
    seen = sight(fork(reasons.NEAR))

    assert seen is not None
    assert seen.counts == (34, 6)
    token, looks, moved = seen.tokens[0]
    assert token == "␣lost"
    assert looks == (Look(logprob=-0.7042, is_chosen=False), Look(logprob=-0.6924, is_chosen=True))
    assert moved is not None
    assert round(moved, 4) == 0.0118


def test_a_token_that_a_branch_did_not_list_is_open_and_has_not_moved() -> None:
    seen = sight(fork(reasons.NEAR))

    assert seen is not None
    by_token = {token: (looks, moved) for token, looks, moved in seen.tokens}
    assert by_token["␣since"] == ((Look(logprob=-6.1, is_chosen=False), Look(logprob=None, is_chosen=False)), None)
    assert by_token["(end)"][0][0].logprob is None


def test_the_tokens_that_were_taken_are_kept_however_unlikely() -> None:
    choices = tuple(Choice(text=f"word {place}", logprob=-float(place)) for place in range(9))
    odd = Distribution(chosen="word 8", margin=-8.0, choices=choices)
    seen = sight(fork(replace(reasons.NEAR, distributions=(odd, odd))))

    assert seen is not None
    assert len(seen.tokens) == 5
    assert seen.tokens[-1][0] == "word␣8"


def test_many_branches_are_cut_and_counted() -> None:
    many = fork(reasons.NEAR)
    branches = many.branches * 5
    margin = replace(reasons.NEAR, distributions=reasons.NEAR.distributions * 5)
    seen = sight(replace(many, branches=branches, margin=margin))

    assert seen is not None
    assert (len(seen.counts), seen.others) == (6, 4)


def test_a_fork_without_what_its_branches_saw_shows_nothing() -> None:
    assert sight(fork(Margin(value=None, kind="unknown", reason="no logprobs"))) is None


def test_a_token_of_a_stranger_is_made_visible() -> None:
    evil = Distribution(chosen="\x1b[2J", margin=0.1, choices=(Choice(text="\x1b[2J", logprob=-0.1),))
    seen = sight(fork(replace(reasons.NEAR, distributions=(evil, evil))))

    assert seen is not None
    assert seen.tokens[0][0] == "\u2039ESC\u203a[2J"
