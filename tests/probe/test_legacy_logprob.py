"""Logprobs of legacy completions: the lists of OpenAI and vLLM, and what else stands in their place."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.margin import margin
from temp0.core.run import Token
from temp0.probe.dialect.legacy_logprob import chat_shaped
from temp0.probe.dialect.logprob import FLOOR, tokens


def lists(names: object, logprobs: object = None, top: object = None, **more: object) -> dict[str, Any]:
    return {"tokens": names, "token_logprobs": logprobs, "top_logprobs": top, **more}


def told(text: str, value: object, ids: object = None) -> tuple[Token, ...]:
    found = tokens(chat_shaped(value, ids), text)
    assert found is not None
    return found


def alternatives(token: Token) -> list[tuple[bytes, float]]:
    return [(other.bytes, other.logprob) for other in token.top]


def test_lists_give_tokens_with_their_own_alternatives() -> None:
    first, second = told("cat sat", lists(["cat", " sat"], [-0.1, -0.2], [{"cat": -0.1, "dog": -2}, {" sat": -0.2}]))
    assert (first.bytes, first.logprob, alternatives(first)) == (b"cat", -0.1, [(b"cat", -0.1), (b"dog", -2.0)])
    assert (second.bytes, second.logprob, alternatives(second)) == (b" sat", -0.2, [(b" sat", -0.2)])


def test_two_alternatives_with_one_string_are_one_and_the_token_keeps_its_own_value() -> None:
    (token,) = told("a", lists(["a"], [-0.1], [{"a": -5.0, "b": -2.5}]))
    assert (token.logprob, alternatives(token)) == (-0.1, [(b"a", -5.0), (b"b", -2.5)])
    assert margin([[token]]).value is None


@pytest.mark.parametrize("offsets", [[0, 3], [24, 27], [0, 14], [3, 0], None, "x", [0]])
def test_text_offsets_decide_nothing(offsets: object) -> None:
    found = told("cat sat", lists(["cat", " sat"], [-0.1, -0.2], text_offset=offsets))
    assert [token.bytes for token in found] == [b"cat", b" sat"]


def test_a_part_of_a_character_is_known_by_its_escaped_bytes() -> None:
    found = told(
        "☔!", lists(["bytes:\\xe2\\x98", "bytes:\\x94", "!"], [-1, -2, -3], [{"bytes:\\xe2\\x98": -1}, {}, {}])
    )
    assert [token.bytes for token in found] == [b"\xe2\x98", b"\x94", b"!"]
    assert alternatives(found[0]) == [(b"\xe2\x98", -1.0)]


def test_a_text_that_looks_like_escaped_bytes_is_a_text() -> None:
    assert told("bytes:\\xe2", lists(["bytes:\\xe2"]))[0].bytes == b"bytes:\\xe2"


def test_names_made_of_ids_spell_nothing() -> None:
    assert tokens(chat_shaped(lists(["token_id:7", "token_id:8"], [-1, -2], text_offset=[0, 10])), "cat sat") is None


def test_ids_that_are_told_beside_are_kept_where_there_are_as_many() -> None:
    assert [token.id for token in told("ab", lists(["a", "b"]), [7, 8])] == [7, 8]
    assert [token.id for token in told("ab", lists(["a", "b"]), [7])] == [None, None]


@pytest.mark.parametrize("odd", [None, [], [-1.0], [-1.0, -2.0, -3.0], "x", 7])
def test_a_list_of_another_length_is_of_other_tokens(odd: object) -> None:
    found = told("ab", lists(["a", "b"], odd, odd))
    assert [(token.bytes, token.logprob, token.top) for token in found] == [(b"a", None, ()), (b"b", None, ())]


def test_impossible_values_are_kept_and_those_that_are_none_are_not() -> None:
    values = [-math.inf, -9999.0, -100, 0.0, 0.75, math.nan, None, "x", True]
    found = told("abcdefghi", lists(list("abcdefghi"), values))
    assert [token.logprob for token in found] == [FLOOR, -9999.0, -100.0, 0.0, 0.75, None, None, None, None]


def test_the_shape_of_chat_answers_is_left_as_it_is() -> None:
    content = [{"token": "hi", "logprob": -1.0}]
    assert chat_shaped({"content": content}) == {"content": content}
    assert chat_shaped({**lists(["x"]), "content": content})["content"] is content  # type: ignore[index]
    (token,) = told("hi", lists(["hi"], [-1.0], [[{"token": "hi", "logprob": -1.0}]]))
    assert alternatives(token) == [(b"hi", -1.0)]


@pytest.mark.parametrize("odd", [None, 7, [], {}, "x", {"tokens": None}, {"tokens": "hi"}])
def test_what_is_no_list_of_tokens_tells_none(odd: object) -> None:
    assert tokens(chat_shaped(odd), "hi") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
LISTS = st.fixed_dictionaries({"tokens": JSON, "token_logprobs": JSON, "top_logprobs": JSON})


@given(value=LISTS | JSON, ids=JSON, text=st.text(max_size=4))
@settings(max_examples=300, deadline=None)
def test_whatever_stands_in_the_lists_tokens_spell_the_text_or_are_none(value: object, ids: object, text: str) -> None:
    found = tokens(chat_shaped(value, ids), text)
    assert found is None or b"".join(token.bytes for token in found).startswith(text.encode())
