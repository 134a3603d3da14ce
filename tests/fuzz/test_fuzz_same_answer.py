"""Whatever an answer says and however its bytes are cut, it is the same record streamed and whole."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from answering import SAYS_CALLS, SAYS_THOUGHTS, WRITERS, Answer, Call, joined
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import cut
from reading import record, unsound
from target import spoken

from temp0.core.run import Completion

SPOKEN = spoken()
TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    [
        "\n\ndata: [DONE]\n\n",
        '{"done": true}',
        '"stop":true',
        "e\u0301",
        "\U0001f378\U0001f1e9\U0001f1ea",
        "\r\n",
        "\u2028",
    ]
)


def pieces(text: str, cuts: list[int]) -> tuple[str, ...]:
    """The text in pieces, cut between any two units of UTF-16."""
    data = text.encode("utf-16-le", "surrogatepass")
    places = sorted({2 * (each % (len(data) // 2 + 1)) for each in cuts} - {0, len(data)})
    return tuple(
        data[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise([0, *places, len(data)])
    )


CUTS = st.lists(st.integers(0, 100), max_size=4)
ARGUMENTS = st.dictionaries(st.text(max_size=3), st.none() | st.integers(-5, 5) | st.text(max_size=3), max_size=2)


@st.composite
def calls(draw: st.DrawFn) -> Call:
    written = json.dumps(draw(ARGUMENTS), separators=(",", ":"), ensure_ascii=False)
    return Call(name=draw(st.sampled_from(["add", "look_up"])), pieces=pieces(written, draw(CUTS)))


@st.composite
def answers(draw: st.DrawFn, name: str) -> Answer:
    thoughts = pieces(draw(TEXTS.filter(bool)), draw(CUTS)) if name in SAYS_THOUGHTS and draw(st.booleans()) else ()
    return Answer(
        pieces=pieces(draw(TEXTS), draw(CUTS)),
        thoughts=thoughts,
        calls=tuple(draw(st.lists(calls(), max_size=2))) if name in SAYS_CALLS else (),
        has_logprobs=draw(st.booleans()),
    )


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_answer_is_the_same_record_streamed_and_whole(name: str, data: st.DataObject):
    answer = data.draw(answers(name))
    written = data.draw(st.sampled_from(WRITERS[name]))(answer)
    whole = record(SPOKEN[name], [written.whole], "application/json")
    streamed = record(SPOKEN[name], cut(data.draw(st.randoms(use_true_random=False)), written.streamed))
    assert isinstance(whole, Completion), whole
    assert whole == streamed
    assert whole.text == joined(answer.pieces)
    assert whole.reasoning == (joined(answer.thoughts) or None)
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [
        (call.name, call.arguments) for call in answer.calls
    ]
    assert (whole.usage.prompt, whole.usage.completion) == (3, len(answer.pieces) if name == "sglang-generate" else 5)
    assert [*unsound(whole)] == []


def test_every_dialect_has_a_writer():
    assert sorted(WRITERS) == sorted(SPOKEN)
