"""Whatever JSON stands in whatever field, a dialect's reader answers with a value, whole or streamed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.conformance import samples
from temp0.core.run import Completion, Failure
from temp0.core.text import utf8
from temp0.probe.dialect import DIALECTS, Dialect
from temp0.probe.dialect.reason import REASONS
from temp0.probe.event_stream import Event


def events(dialect: Dialect, stream: bytes) -> list[Event]:
    """The events of a recorded stream, but for one that only says that it is done."""
    reader = dialect.framing.reader()
    return [event for event in [*reader.feed(stream), *reader.end()] if event.data != b"[DONE]"]


CONFORMANCE = Path(__file__).parents[1] / "fixtures" / "conformance"
RECORDED = {name: samples(CONFORMANCE / name) for name in DIALECTS}
SAMPLES = {name: [json.loads(each.answer) for each in found if each.answer] for name, found in RECORDED.items()}
STREAMS = {
    name: [events(DIALECTS[name], each.stream) for each in found if each.stream] for name, found in RECORDED.items()
}
TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=5)
NAMES = st.sampled_from(
    [
        "type",
        "text",
        "thinking",
        "content",
        "message",
        "choices",
        "error",
        "logprobs",
        "token",
        "bytes",
        "logprob",
        "reasoning",
        "delta",
        "index",
        "finish_reason",
        "content_block",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=4),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, below in inner for place in places(below, (*path, step)))]


def with_value(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = with_value(value[step], tuple(rest), new)
    return copy


def is_sound(outcome: Completion | Failure) -> bool:
    if isinstance(outcome, Failure):
        return outcome.reason in REASONS and bool(outcome.message)
    spelled = utf8(outcome.text) if outcome.tokens is None else b"".join(token.bytes for token in outcome.tokens)
    return isinstance(outcome.text, str) and spelled.startswith(utf8(outcome.text))


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_value_in_any_field_is_a_completion_or_a_failure(name: str, data: st.DataObject):
    sample = data.draw(st.sampled_from(SAMPLES[name]))
    payload = with_value(sample, data.draw(st.sampled_from(places(sample))), data.draw(JSON))
    assert is_sound(DIALECTS[name].completion(payload, ()))


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=100, deadline=None)
@given(payload=JSON)
def test_any_json_at_all_is_a_completion_or_a_failure(name: str, payload: object):
    assert is_sound(DIALECTS[name].completion(payload, ()))


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_value_in_any_field_of_a_stream_is_a_completion_or_a_failure(name: str, data: st.DataObject):
    events = list(data.draw(st.sampled_from(STREAMS[name])))
    place = data.draw(st.integers(0, len(events) - 1))
    chunk = json.loads(events[place].data)
    odd = with_value(chunk, data.draw(st.sampled_from(places(chunk))), data.draw(JSON))
    events[place] = Event(data=json.dumps(odd).encode(), name=events[place].name)
    assert is_sound(DIALECTS[name].streamed(events))


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=100, deadline=None)
@given(chunks=st.lists(JSON | st.binary(max_size=5), max_size=3), event=st.sampled_from(["", "error", "message_start"]))
def test_any_events_at_all_are_a_completion_or_a_failure(name: str, chunks: list[object], event: str):
    written = [chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode() for chunk in chunks]
    assert is_sound(DIALECTS[name].streamed([Event(data=each, name=event) for each in written]))
