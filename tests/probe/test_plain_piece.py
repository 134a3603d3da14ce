"""An event that is read as one that only adds text is what it is when it is read in full."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.run import Failure
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.plain_piece import plain_continuation, plain_delta, plain_line
from temp0.probe.event_stream import Event

LINE = {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "a"}, "done": False}
CHUNK = {"index": 0, "content": "a", "tokens": [1], "stop": False, "id_slot": -1, "tokens_predicted": 1}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}
BEFORE: dict[str, list[Any]] = {
    "ollama": [],
    "llamacpp": [],
    "anthropic": [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}],
}
AFTER: dict[str, Any] = {
    "ollama": {"done": True, "message": {"content": ""}},
    "llamacpp": {"stop": True, "content": ""},
    "anthropic": {"type": "message_stop"},
}
PLAIN = {"ollama": LINE, "llamacpp": CHUNK, "anthropic": DELTA}
NAMES = ("content", "thinking", "tool_calls", "logprobs", "message", "response", "type", "object", "text", "stop")
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, -1, 2**64, 0.5, "", "a", "\ud83c", "\u2028", "error", "text_delta"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=4,
)


def read(name: str, event: dict[str, Any], kind: str) -> object:
    chunks = [*BEFORE[name], event, AFTER[name]]
    names = ["" for _ in BEFORE[name]] + [kind, ""]
    written = [Event(data=json.dumps(chunk).encode(), name=each) for chunk, each in zip(chunks, names, strict=True)]
    outcome = DIALECTS[name].streamed(written)
    return outcome.reason if isinstance(outcome, Failure) else outcome  # its message may quote the event


def test_what_servers_send_again_and_again_is_plain():
    assert plain_line(json.dumps(LINE).encode()) == plain_continuation(json.dumps(CHUNK).encode()) == "a"
    assert plain_delta(json.dumps(DELTA).encode()) == (0, "a")


@pytest.mark.parametrize("name", PLAIN)
@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_plain_or_in_full_it_is_one_reading(name: str, data: st.DataObject):
    """An error that is `false` is none, and keeps an event from being plain."""
    event = dict(PLAIN[name])
    for _ in range(data.draw(st.integers(0, 2))):
        where = event
        inner = [key for key in ("message", "delta") if isinstance(event.get(key), dict)]
        if inner and data.draw(st.booleans()):
            event[inner[0]] = where = dict(event[inner[0]])  # type: ignore[call-overload]
        where[data.draw(st.sampled_from((*where, *NAMES)))] = data.draw(VALUES)
    kind = data.draw(st.sampled_from(["", "content_block_delta", "ping"]))
    assert read(name, event, kind) == read(name, {**event, "error": False}, kind)


@pytest.mark.parametrize("data", [b"", b"7", b"{", b"[" * 100_000, b'{"content":"\xff","stop":false}', b"\x00{"])
def test_what_is_no_plain_event_is_none(data: bytes):
    assert plain_line(data) is plain_continuation(data) is plain_delta(data) is None
