"""A key that the server echoes is in no record, wherever it stands and however it is cut into pieces."""

from __future__ import annotations

import json

import pytest
from answering import SAYS_CALLS, SAYS_THOUGHTS, WRITERS, Answer, Call
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import KEY
from reading import leaks, record
from target import SECRETS, spoken
from test_fuzz_same_answer import CUTS, pieces

SPOKEN = spoken()
TOLD = f"the key {KEY} came"


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=60, deadline=None)
@given(cuts=CUTS, has_logprobs=st.booleans(), way=st.integers(0, 1))
def test_a_key_in_pieces_is_in_no_text(name: str, cuts: list[int], has_logprobs: bool, way: int):
    told = pieces(TOLD, cuts)
    answer = Answer(pieces=told, thoughts=told if name in SAYS_THOUGHTS else (), has_logprobs=has_logprobs)
    read_without_the_key(name, answer, way)


@pytest.mark.parametrize("name", sorted(SAYS_CALLS))
@settings(max_examples=60, deadline=None)
@given(cuts=CUTS)
def test_a_key_in_pieces_is_in_no_tool_call(name: str, cuts: list[int]):
    call = Call(name="add", pieces=pieces(json.dumps({"a": KEY}, separators=(",", ":")), cuts))
    read_without_the_key(name, Answer(pieces=("a",), calls=(call,)), 0)


def read_without_the_key(name: str, answer: Answer, way: int) -> None:
    written = WRITERS[name][way % len(WRITERS[name])](answer)
    for body in (written.whole, written.streamed):
        assert [*leaks(record(SPOKEN[name], [body], "", SECRETS))] == []
