from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.engine.request import Emission
from temp0.engine.server.text_stream import Ending, TextStream

END = -1


def stream_of(tokens, stops=(), finish="stop"):
    """All pieces of an answer of these tokens; an end token follows them unless the length ends it."""
    table = list(tokens)
    stream = TextStream(lambda token: b"" if token == END else table[token], tuple(stops))
    ids = list(range(len(table))) + ([END] if finish == "stop" else [])
    pieces = []
    for place, token in enumerate(ids):
        pieces.append(stream.push(Emission(token=token, finish=finish if place + 1 == len(ids) else None)))
        if pieces[-1].ending:
            break
    return pieces


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


def tokens_of(pieces):
    return [emission.token for piece in pieces for emission in piece.emissions]


def cuts(data):
    """Byte strings cut into tokens at random places."""
    return st.lists(st.integers(0, len(data)), max_size=8).map(
        lambda places: [data[a:b] for a, b in zip([0, *sorted(places)], [*sorted(places), len(data)], strict=True)]
    )


SMALL = st.text(alphabet="ab\u00e9\u20ac\U0001f600", max_size=12)
STOPS = st.lists(st.text(alphabet="ab\u00e9\u20ac\U0001f600", min_size=1, max_size=4), max_size=3)


@settings(max_examples=150, deadline=None)
@given(st.data(), SMALL, STOPS)
def test_the_text_does_not_depend_on_the_token_cuts(data, text, stops):
    whole = stream_of([text.encode()], stops)
    cut = stream_of(data.draw(cuts(text.encode())), stops)
    assert text_of(cut) == text_of(whole)
    assert cut[-1].ending == whole[-1].ending


@settings(max_examples=60, deadline=None)
@given(st.data(), st.binary(max_size=12))
def test_any_bytes_come_out_as_decoded_at_once(data, raw):
    pieces = stream_of(data.draw(cuts(raw)))
    assert text_of(pieces) == raw.decode("utf-8", "replace")


@settings(max_examples=100, deadline=None)
@given(SMALL, STOPS)
def test_the_text_ends_where_a_stop_string_is_first_complete(text, stops):
    ends = [end for end in range(len(text) + 1) if any(text[:end].endswith(stop) for stop in stops)]
    pieces = stream_of([character.encode() for character in text], stops)
    if not ends:
        assert text_of(pieces) == text
        assert pieces[-1].ending == Ending(reason="stop")
    else:
        longest = max((stop for stop in stops if text[: ends[0]].endswith(stop)), key=len)
        assert text_of(pieces) == text[: ends[0] - len(longest)]
        assert pieces[-1].ending == Ending(reason="stop_sequence", stop=longest)


def test_a_character_waits_for_its_last_byte():
    euro = "\u20ac".encode()
    assert [piece.text for piece in stream_of([euro[:1], euro[1:2], euro[2:]])] == ["", "", "\u20ac", ""]


def test_an_unfinished_character_at_the_end_becomes_a_replacement_character():
    pieces = stream_of([b"a", b"\xe2\x82"], finish="length")
    assert text_of(pieces) == "a\ufffd"
    assert pieces[-1].ending == Ending(reason="length")


def test_text_that_may_become_a_stop_string_is_held_back():
    assert [piece.text for piece in stream_of([b"a", b"<", b"en", b"x"], ["<end>"])] == ["a", "", "", "<enx", ""]


def test_a_held_back_beginning_of_a_stop_string_is_given_at_the_end():
    assert text_of(stream_of([b"a", b"<e"], ["<end>"], finish="length")) == "a<e"


def test_every_token_comes_once_and_the_end_token_last():
    pieces = stream_of([b"a", b"\xe2", b"\x82\xac", b"b"])
    assert tokens_of(pieces) == [0, 1, 2, 3, END]


def test_tokens_of_a_stop_string_belong_to_no_piece():
    pieces = stream_of([b"ab", b"<", b"end", b">c", b"d"], ["<end>"])
    assert text_of(pieces) == "ab"
    assert tokens_of(pieces) == [0]


def test_a_token_that_the_stop_string_begins_in_stays():
    pieces = stream_of([b"a", b"b<", b"end>"], ["<end>"])
    assert text_of(pieces) == "ab"
    assert tokens_of(pieces) == [0, 1]


def test_of_two_stop_strings_the_first_complete_one_ends_the_text():
    assert text_of(stream_of([b"xabcd"], ["abcd", "bc"])) == text_of(stream_of([b"xab", b"cd"], ["abcd", "bc"])) == "xa"
