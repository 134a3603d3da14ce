"""The event-stream format: any bytes, cut anywhere, give the events that the standard says."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.probe.event_stream import Event, EventReader


def read(*pieces: bytes) -> list[Event]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)]


def data(*pieces: bytes) -> list[bytes]:
    return [event.data for event in read(*pieces)]


def cut(body: bytes, places: list[int]) -> list[bytes]:
    borders = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(borders)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_of_the_standard_ends_a_line(end: bytes) -> None:
    assert data(end.join([b"data: a", b"", b"data: b", b"", b""])) == [b"a", b"b"]


def test_line_ends_may_be_mixed() -> None:
    assert data(b"data: a\n\r\ndata: b\r\rdata: c\r\n\n") == [b"a", b"b", b"c"]


def test_a_carriage_return_and_a_line_feed_that_come_apart_are_one_end() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [b"a\nb"]


def test_a_carriage_return_completes_an_event_without_waiting_for_what_follows() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\r\n\r") == [Event(data=b"a")]
    assert reader.feed(b"\ndata: b\n\n") == [Event(data=b"b")]


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1e", "\x00"])
def test_nothing_else_ends_a_line(inside: str) -> None:
    assert data(f"data: a{inside}b\n\n".encode()) == [f"a{inside}b".encode()]


def test_several_data_lines_are_one_text_of_several_lines() -> None:
    assert data(b"data: a\ndata\ndata:\ndata: b\n\n") == [b"a\n\n\nb"]


def test_one_space_after_the_colon_is_no_data_and_a_second_is() -> None:
    assert data(b"data:a\n\ndata: b\n\ndata:  c\n\n") == [b"a", b"b", b" c"]


def test_comments_and_fields_of_others_are_passed_over() -> None:
    assert read(b": ping\n:\nid: 7\nretry: 5\nfoo: bar\ndatas: no\n data: no\ndata: a\n: x\n\n") == [Event(data=b"a")]


def test_an_event_has_a_name_where_it_is_given_one_and_keeps_it_to_itself() -> None:
    assert read(b"event: error\ndata: a\n\ndata: b\n\n") == [Event(data=b"a", name="error"), Event(data=b"b")]
    assert read(b"event: error\n\ndata: b\n\n") == [Event(data=b"b")]


def test_blank_lines_make_no_event() -> None:
    assert data(b"\n\n\r\n\rdata: a\n\n\n\n") == [b"a"]


def test_a_byte_order_mark_at_the_start_is_no_part_of_the_first_line() -> None:
    body = b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n"
    assert data(body) == [b"a", b"\xef\xbb\xbfb"]
    assert data(*(body[at : at + 1] for at in range(len(body)))) == [b"a", b"\xef\xbb\xbfb"]
    assert data(b"\n\xef\xbb\xbfdata: a\n\n") == []


def test_an_event_without_its_blank_line_is_discarded() -> None:
    assert data(b"data: a\n\ndata: [DONE]\n") == [b"a"]
    assert data(b"data: a\n\ndata: [DONE]") == [b"a"]


def test_bytes_that_are_no_text_come_as_they_are() -> None:
    assert data(b"data: \xff\xf0\x9f\n\n") == [b"\xff\xf0\x9f"]


def test_nothing_may_come() -> None:
    assert read() == read(b"") == read(b"", b"") == []


LINES = st.sampled_from(
    ["data: é\U0001f600", "data", "data:", "data:  two", ": comment", "event: e", "id: 1", "", "", "\ufeffdata: x", "d"]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r", "\r\n"])), max_size=12)


def by_the_standard(lines: list[str]) -> list[Event]:
    """The standard's own steps, line by line."""
    events, texts, name = [], [], ""
    for line in lines:
        if line == "":
            if texts:
                events.append(Event(data="\n".join(texts).encode(), name=name))
            texts, name = [], ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            texts.append(value)
        if field == "event":
            name = value
    return events


@given(stream=STREAMS, places=st.lists(st.integers(0, 10_000), max_size=10))
@settings(max_examples=300)
def test_where_the_bytes_are_cut_changes_no_event(stream: list[tuple[str, str]], places: list[int]) -> None:
    joined = "".join(line + end for line, end in stream)
    wanted = by_the_standard(joined.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")[:-1])
    body = joined.encode()
    assert read(*cut(body, places)) == wanted
    assert read(*(body[at : at + 1] for at in range(len(body)))) == wanted


@given(pieces=st.lists(st.binary(max_size=20), max_size=8))
@settings(max_examples=200)
def test_any_bytes_are_read(pieces: list[bytes]) -> None:
    assert read(*pieces) == read(b"".join(pieces))
