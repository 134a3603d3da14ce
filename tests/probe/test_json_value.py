"""The fast reader of JSON gives what the standard library gives, or refuses what that refuses."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.probe.json_value import json_value


def outcome(reader: object, data: bytes) -> str:
    """The value to its last bit and in its order, or that there is none."""
    try:
        return repr(reader(data))  # type: ignore[operator]
    except (ValueError, RecursionError):
        return "no JSON"


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
ODD = st.sampled_from(
    [
        b"-0",
        b"-0.0",
        b"1e309",
        b"5e-324",
        b"2.2250738585072011e-308",
        b"9007199254740993.0",
        b"18446744073709551616",
        b"-9223372036854775809",
        b"9" * 400,
        b"NaN",
        b"-Infinity",
        b'"\\ud83c"',
        b'"\\ud83c\\udf78"',
        b'"\xed\xb2\xb2"',
        b'"\xc0\xaf"',
        b"\xef\xbb\xbf1",
        b"\xff\xfe1\x00",
        b'{"a":1,"a":2}',
        b"[1,]",
        b"01",
        b"+1",
        b".5",
        b"1.",
        b'"\t"',
        b"'a'",
        b"",
        b" ",
        b"\x0b1",
        b"[1] 2",
    ]
)


@given(value=VALUES, ascii_only=st.booleans())
@settings(max_examples=1000, deadline=None)
def test_any_value_that_is_written_is_read_the_same(value: object, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert outcome(json_value, data) == outcome(json.loads, data) != "no JSON"


@given(value=VALUES, place=st.integers(0, 60), put=ODD | st.binary(max_size=3), taken=st.integers(0, 3))
@settings(max_examples=1000, deadline=None)
def test_json_that_was_damaged_is_read_the_same_or_not_at_all(value: object, place: int, put: bytes, taken: int):
    data = json.dumps(value).encode()
    damaged = data[:place] + put + data[place + taken :]
    assert outcome(json_value, damaged) == outcome(json.loads, damaged)


@given(data=ODD)
def test_odd_json_is_read_the_same_or_not_at_all(data: bytes) -> None:
    assert outcome(json_value, data) == outcome(json.loads, data)


def test_what_is_no_json_is_told_as_the_standard_library_tells_it() -> None:
    with pytest.raises(json.JSONDecodeError, match="Expecting value"):
        json_value(b"oops")
    with pytest.raises(RecursionError):
        json_value(b"[" * 100_000)
    read = json_value(b"[NaN]")
    assert isinstance(read, list)
    assert math.isnan(read[0])
