"""Tokens and logprobs of chat answers: whatever stands in the list, the text stays and each value is what it is."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.margin import margin
from temp0.core.run import Completion, Token
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.logprob import FLOOR, tokens

CHAT = DIALECTS["openai-chat"]


def entry(name: str, logprob: object = -1.0, **more: object) -> dict[str, Any]:
    return {"token": name, "bytes": [*name.encode()], "logprob": logprob, **more}


def read(text: str, *entries: object) -> tuple[Token, ...] | None:
    return tokens({"content": list(entries)}, text)


def told(text: str, *entries: object) -> tuple[Token, ...]:
    found = read(text, *entries)
    assert found is not None
    return found


def one(logprob: object, *others: tuple[str, object]) -> Token:
    (token,) = told("hi", entry("hi", logprob, top_logprobs=[entry(name, value) for name, value in others]))
    return token


def alternatives(token: Token) -> list[tuple[bytes, float]]:
    return [(other.bytes, other.logprob) for other in token.top]


def reason(*branches: Token) -> str | None:
    return margin([[branch] for branch in branches]).reason


def test_a_character_in_parts_is_known_by_its_bytes() -> None:
    parts = [{"token": "\ufffd", "bytes": [240, 159], "logprob": -1}, {"token": "\ufffd", "bytes": [152, 138]}]
    assert [token.bytes for token in told("\U0001f60a", *parts)] == [b"\xf0\x9f", b"\x98\x8a"]


@pytest.mark.parametrize("odd", [None, [], "hi", [104, 999], [104, "i"], [[104]], [-1], 7, [True]])
def test_bytes_that_cannot_be_right_give_way_to_the_string(odd: object) -> None:
    (token,) = told(
        "hi", {"token": "hi", "bytes": odd, "logprob": -1.0, "top_logprobs": [{**entry("ho"), "bytes": odd}]}
    )
    assert token.bytes == b"hi"
    assert [other.bytes for other in token.top] == [b"ho"]


def test_tokens_that_do_not_spell_the_text_are_not_kept() -> None:
    assert read("hi!", entry("hi")) is None
    assert read("hi", entry("hello")) is None
    assert read("hi", entry(" hi")) is None
    assert read("hi", 7, None) is None
    assert read("hi") is None
    assert read("") == ()
    assert [tokens(value, "hi") for value in (None, 7, [], {}, {"content": None}, {"content": "hi"})] == [None] * 6


def test_an_end_token_beyond_the_text_keeps_its_name_and_its_place() -> None:
    end = entry("<|im_end|>", -0.1, top_logprobs=[entry("<|im_end|>", -0.1), entry(" and", -0.4)])
    assert [token.bytes for token in told("hi", entry("hi"), end)] == [b"hi", b"<|im_end|>"]
    assert [token.bytes for token in told("hi", entry("hi"), end, entry("\n"))] == [b"hi", b"<|im_end|>", b"\n"]
    assert margin([[told("hi", entry("hi"), end)[1]]]).value == pytest.approx(0.3)


def test_more_than_two_tokens_beyond_the_text_are_another_text() -> None:
    assert read("", *map(entry, ["I", " think", "."])) is None
    assert read("hi", *map(entry, ["hi", " a", " b", " c"])) is None


def test_an_end_that_cuts_a_token_in_two_is_another_text() -> None:
    assert read("h", entry("hi")) is None


def of_answer(text: str, reasoning: str | None, *names: str) -> list[bytes] | None:
    found = tokens({"content": [entry(name) for name in names]}, text, reasoning=reasoning)
    return None if found is None else [token.bytes for token in found]


def test_of_reasoning_and_text_in_one_list_the_tokens_of_the_text_are_kept() -> None:
    both = ("<think>", "\n", "2+", "2\n", "</think>", "\n\n", "It", " is 4")
    assert of_answer("It is 4", "2+2", *both) == [b"It", b" is 4"]
    assert of_answer("It is 4", "\n2+2\n", *both, "<|im_end|>") == [b"It", b" is 4", b"<|im_end|>"]
    assert of_answer("\n\nIt is 4", "2+2", *both) == [b"\n\n", b"It", b" is 4"]


def test_reasoning_that_is_not_in_the_list_explains_no_other_tokens() -> None:
    assert of_answer("4", "2+2", "4") == [b"4"]
    assert of_answer("4", "2+2", "it", " is", "4") is None
    assert of_answer("4", None, "2+2", "4") is None
    assert of_answer("4", " ", " ", "4") is None


def test_a_text_that_begins_within_a_token_of_the_reasoning_has_no_tokens() -> None:
    assert of_answer("4", "2+2", "2+", "24") is None


def test_reasoning_without_a_text_leaves_no_tokens_of_the_text() -> None:
    assert of_answer("", "I think.", "I", " think", ".") == []


@pytest.mark.parametrize("field", ["id", "token_id"])
def test_an_id_is_kept_by_either_name(field: str) -> None:
    assert told("hi", entry("hi", **{field: 0}))[0].id == 0
    assert told("hi", entry("hi", **{field: "7"}))[0].id is None


def test_names_made_of_ids_give_ids_and_the_chosen_one_its_bytes() -> None:
    top = [
        {"token": f"token_id:{number}", "bytes": [*b"token_id:%d" % number], "logprob": -number} for number in (1, 2)
    ]
    (token,) = told("hi", {"token": "token_id:1", "bytes": [104, 105], "logprob": -1.0, "top_logprobs": top})
    assert token.id == 1
    assert alternatives(token) == [(b"hi", -1.0), (b"token_id:2", -2.0)]
    assert margin([[token]]).value == 1.0


def test_a_name_made_of_an_id_alone_spells_nothing() -> None:
    nameless = {"token": "token_id:1", "bytes": None, "logprob": -1.0}
    assert read("hi", nameless) is None
    assert read("hi", {**nameless, "token": "token_id:" + "9" * 5000}) is None


def test_tokens_without_ids_do_not_share_their_bytes_with_nameless_alternatives() -> None:
    assert alternatives(one(-1.0, ("ho", -2.0))) == [(b"ho", -2.0)]


def test_a_chosen_token_may_be_missing_from_its_alternatives() -> None:
    token = one(-3.0, ("ho", -0.1), ("ha", -2.0))
    assert (token.bytes, token.logprob) == (b"hi", -3.0)
    assert reason(token) == "a branch's token is not among its own alternatives"


def test_alternatives_copied_to_the_wrong_token_leave_text_and_tokens_and_no_margin() -> None:
    copied = [entry("cat", -0.1), entry("dog", -2.5)]
    answer = {
        "message": {"content": "cat sat"},
        "finish_reason": "stop",
        "logprobs": {"content": [entry("cat", -0.1, top_logprobs=copied), entry(" sat", -0.2, top_logprobs=copied)]},
    }
    found = CHAT.completion({"choices": [answer]})
    assert isinstance(found, Completion)
    assert found.text == "cat sat"
    assert found.tokens is not None
    first, second = found.tokens
    assert margin([[first]]).value == pytest.approx(2.4)
    assert margin([[second]]).value is None


def test_logprobs_that_are_all_zero_are_kept_and_say_nothing() -> None:
    token = one(0, ("hi", 0.0), ("ho", 0.0))
    assert (token.logprob, alternatives(token)) == (0.0, [(b"hi", 0.0), (b"ho", 0.0)])
    assert reason(token) == "the logprobs are all zero, which says nothing"


@pytest.mark.parametrize("floor", [-9999, -9999.0, -100.0, -math.inf])
def test_a_floor_stays_below_the_floor(floor: float) -> None:
    token = one(0.0, ("hi", 0.0), ("ho", floor))
    assert token.top[1].logprob == (FLOOR if floor == -math.inf else floor)
    assert reason(token) == "no second alternative with a logprob above the floor"
    assert one(floor).logprob == token.top[1].logprob
    assert math.isfinite(token.top[1].logprob)


def test_a_probability_in_the_field_of_a_logprob_is_kept_as_told_and_has_no_margin() -> None:
    token = one(0.75, ("hi", 0.75), ("ho", 0.25))
    assert (token.logprob, alternatives(token)) == (0.75, [(b"hi", 0.75), (b"ho", 0.25)])
    assert reason(token) == "a logprob above 0, or one that is no number"


@pytest.mark.parametrize("odd", [math.nan, math.inf, None, "-1", True, [], {}, 10**400, -(10**400)])
def test_what_is_no_number_is_unknown(odd: object) -> None:
    token = one(odd, ("hi", odd), ("ho", -2.0))
    assert (token.bytes, token.logprob, alternatives(token)) == (b"hi", None, [(b"ho", -2.0)])


@pytest.mark.parametrize("odd", [None, {}, "x", 7, [7], [None], [{}]])
def test_odd_alternatives_are_none(odd: object) -> None:
    (token,) = told("hi", entry("hi", -1.0, top_logprobs=odd))
    assert (token.logprob, token.top) == (-1.0, ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["token", "bytes", "logprob", "top_logprobs", "id", "token_id"]), inner)
    ),
    max_leaves=10,
)


@given(entries=JSON, text=st.text(max_size=4))
@settings(max_examples=300, deadline=None)
def test_whatever_the_list_holds_the_text_is_not_lost(entries: object, text: str) -> None:
    payload = {"choices": [{"message": {"content": text}, "finish_reason": "stop", "logprobs": {"content": entries}}]}
    found = CHAT.completion(payload)
    assert isinstance(found, Completion)
    assert found.text == text
    values = [value for token in found.tokens or () for value in (token.logprob, *(each.logprob for each in token.top))]
    json.dumps(values, allow_nan=False)
