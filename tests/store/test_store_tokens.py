"""Tokens are packed without losing a bit."""

from __future__ import annotations

import math
import struct

from arbitrary_run import tokens, tuples_of
from hypothesis import given, settings

from temp0.core.run import Alternative, Token
from temp0.store.tokens import packed, unpacked


@settings(max_examples=100)
@given(some=tuples_of(tokens, max_size=5))
def test_packed_tokens_come_back_equal(some):
    assert unpacked(packed(some)) == some


def test_every_bit_of_a_logprob_survives():
    odd_nan = struct.unpack("<d", bytes.fromhex("010000000000f87f"))[0]
    logprobs = [-0.0, 0.0, 5e-324, -0.1, math.nextafter(-0.1, 0.0), -math.inf, odd_nan]
    some = tuple(Token(bytes=b"x", logprob=each, top=(Alternative(bytes=b"y", logprob=each),)) for each in logprobs)
    read = unpacked(packed(some))
    assert [struct.pack("<d", token.logprob) for token in read] == [struct.pack("<d", each) for each in logprobs]
    assert [struct.pack("<d", token.top[0].logprob) for token in read] == [struct.pack("<d", each) for each in logprobs]


def test_no_tokens_are_packed_and_come_back_as_none_at_all():
    assert unpacked(packed(())) == ()


def test_a_packed_token_with_five_alternatives_takes_about_a_hundred_bytes():
    top = tuple(Alternative(bytes=b" word", logprob=-place / 7) for place in range(5))
    some = tuple(Token(bytes=b" word", id=1234, logprob=-0.0, top=top) for _ in range(100))
    assert len(packed(some)) < 100 * 110
