"""JSON lines: any bytes, cut anywhere, give one event for each line."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.probe.event_stream import Event
from temp0.probe.json_lines import JSON_LINES, LineReader


def read(*pieces: bytes) -> list[Event]:
    reader = LineReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.end()


def data(*pieces: bytes) -> list[bytes]:
    return [event.data for event in read(*pieces)]


def test_each_line_is_an_event_without_a_name():
    assert read(b'{"a":1}\n{"b":2}\n') == [Event(data=b'{"a":1}'), Event(data=b'{"b":2}')]


def test_a_line_comes_out_with_the_byte_that_ends_it():
    reader = LineReader()
    assert reader.feed(b'{"a":') == []
    assert reader.feed(b"1}\n") == [Event(data=b'{"a":1}')]
    assert reader.end() == []


def test_line_ends_of_two_characters_and_blank_lines_are_passed_over():
    assert data(b'\r\n{"a":1}\r\n\n  \t\r\n{"b":2}\r', b"\n\n") == [b'{"a":1}', b'{"b":2}']


def test_a_last_line_without_its_end_counts_where_it_is_whole():
    assert data(b'{"a":1}\n{"b":2}') == [b'{"a":1}', b'{"b":2}']
    assert data(b'{"a":1}\n{"b":2') == [b'{"a":1}']
    assert data(b'{"a":"\xe2\x80') == []


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085", "\u000b", "\x1c", "\x1e"])
def test_nothing_but_a_line_feed_ends_a_line(inside: str):
    line = f'{{"a":"x{inside}y"}}'.encode()
    assert data(line + b"\n") == [line]


def test_a_byte_order_mark_is_no_part_of_the_first_line_and_of_no_other():
    mark = b"\xef\xbb\xbf"
    assert data(mark + b'{"a":1}\n' + mark + b"2\n") == [b'{"a":1}', mark + b"2"]
    assert data(mark[:1], mark[1:] + b'{"a":1}') == [b'{"a":1}']
    assert data(mark + b"\n\n7\n") == [b"7"]


LINES = st.sampled_from(['{"a":"é\U0001f600"}', "", "  ", "\ufeff", '{"a":"\u2028"}', "{", "7", '"'])


@given(lines=st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n"])), max_size=10), places=st.lists(st.integers(0)))
@settings(max_examples=300)
def test_where_the_bytes_are_cut_changes_no_event(lines: list[tuple[str, str]], places: list[int]):
    body = "".join(line + end for line, end in lines).encode()
    borders = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    assert read(*(body[start:end] for start, end in pairwise(borders))) == read(body)
    assert read(*(body[at : at + 1] for at in range(len(body)))) == read(body)


@given(pieces=st.lists(st.binary(max_size=20), max_size=8))
@settings(max_examples=300)
def test_any_bytes_are_read(pieces: list[bytes]):
    assert read(*pieces) == read(b"".join(pieces))
    assert isinstance(JSON_LINES.begins(b"".join(pieces), ""), bool)


@given(values=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=5), min_size=1), max_size=5))
def test_what_was_written_in_lines_is_read_back(values: list[dict[str, str]]):
    body = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode("utf-8", "surrogatepass")
    assert [json.loads(line) for line in data(body)] == values


@pytest.mark.parametrize(
    ("body", "content_type", "is_streamed"),
    [
        (b'{"a":1}\n{"b":2}\n', "application/x-ndjson", True),
        (b'{"a":1}', "application/x-ndjson; charset=utf-8", True),
        (b"", "application/x-ndjson", True),
        (b"<html>", "application/x-ndjson", False),
        (b'{"a":1}\n{"b":2}\n', "", True),
        (b'\xef\xbb\xbf\r\n{"a":1}\r\n{"b"', "application/json", True),
        (b'{"a":1}', "application/json", False),
        (b'{"a":1}\n\n', "application/json", False),
        (b'{\n  "a": 1\n}\n', "application/json", False),
        (b'{"a":1} and so on\n{"b":2}', "", False),
        (b"[1]\n[2]\n", "", False),
        (b'data: {"a":1}\n\ndata: {"b":2}\n\n', "text/event-stream", False),
        (b"", "", False),
    ],
)
def test_lines_are_told_by_the_body_and_by_what_it_is_called(body: bytes, content_type: str, is_streamed: bool):
    assert JSON_LINES.begins(body, content_type) is is_streamed
