"""What a message quotes from the wire is an excerpt, however long the names are that a server uses."""

from __future__ import annotations

import json

import pytest

from temp0.core.run import Failure
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.dialect import Dialect
from temp0.probe.dialect.reason import EXCERPT_CHARACTERS
from temp0.probe.event_stream import Event

LONG = "long " * 10_000
LARGEST = EXCERPT_CHARACTERS + 100
"""An excerpt and the words around it."""

DIALECTS_AND_FORMS = {
    f"{name} {end}".strip(): form for name, dialect in DIALECTS.items() for end, form in [("", dialect), *dialect.forms]
}
ANSWERS: list[dict[str, object]] = [
    {LONG: 1},
    {f"{LONG} {number}": number for number in range(100)},
    {"choices": [{LONG: 1}]},
    {"choices": [{"message": {"content": None}, "finish_reason": LONG}]},
    {"choices": [{"text": None, "finish_reason": LONG}]},
    {"choices": [{"message": {"content": 7}, "finish_reason": LONG}]},
    {"output": [], "status": LONG},
    {"output": None, "status": LONG},
    {"output": [], "status": "failed", "error": {"message": LONG, "type": LONG}},
    {"message": {"role": "assistant", "content": None}, "done": True, "done_reason": LONG},
    {"text": "a", "meta_info": {"finish_reason": {"type": "abort", "message": LONG}}},
    {"type": "error", "error": {"type": LONG, "message": LONG}},
    {"content": LONG, "stop_reason": 7, LONG: 1},
    {"type": LONG, "content": [{"type": LONG, "text": 7}]},
    {"error": LONG},
]
STREAMS: list[list[dict[str, object]]] = [
    [{"choices": [{"text": "a", LONG: 1}]}],
    [
        {"choices": [{"delta": {"content": "a"}, "finish_reason": LONG}]},
        {"choices": [{"delta": {"content": "b"}, "finish_reason": None}]},
    ],
    [{"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": LONG}}],
    [{"type": LONG, "delta": 7}, {"type": "response.output_text.delta", "delta": {LONG: LONG}}],
    [{LONG: 1, "done": True, "response": [LONG]}],
]


@pytest.mark.parametrize("dialect", DIALECTS_AND_FORMS.values(), ids=DIALECTS_AND_FORMS)
def test_a_failure_quotes_no_more_than_an_excerpt(dialect: Dialect) -> None:
    events = [[Event(data=json.dumps(one).encode()) for one in stream] for stream in STREAMS]
    found = [*map(dialect.completion, ANSWERS), *map(dialect.streamed, events)]
    messages = [outcome.message for outcome in found if isinstance(outcome, Failure)]
    assert len(messages) > len(STREAMS)
    assert [message[:80] for message in messages if len(message) > LARGEST] == []
