from __future__ import annotations

import struct
from pathlib import Path

import pytest

from temp0.engine.gguf_header import Header, read_header
from temp0.errors import ModelError

PATH = Path("model.gguf")
UINT32, STRING, ARRAY = 4, 8, 9
F32, Q8_0 = 0, 8


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def number(key: str, value: int) -> bytes:
    return text(key) + struct.pack("<II", UINT32, value)


def tensor(name: str, *shape: int, kind: int = F32, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def header(*, metadata: tuple[bytes, ...] = (), tensors: tuple[bytes, ...] = ()) -> Header:
    data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + b"".join((*metadata, *tensors))
    return read_header(PATH, memoryview(data + bytes(4096)))


def test_tensors_begin_where_the_alignment_says() -> None:
    read = header(metadata=(number("general.alignment", 64),), tensors=(tensor("a", 4, 2, offset=128),))
    place = read.tensors["a"]
    assert place.shape == (2, 4)
    assert place.start % 64 == 0
    assert place.end - place.start == 32


def test_arrays_and_strings_are_read() -> None:
    strings = text("names") + struct.pack("<IIQ", ARRAY, STRING, 2) + text("a") + text("é")
    numbers = text("numbers") + struct.pack("<IIQ3I", ARRAY, UINT32, 3, 7, 8, 9)
    read = header(metadata=(strings, numbers, text("name") + struct.pack("<I", STRING) + text("tiny")))
    assert read.texts("names") == ["a", "é"]
    assert read.wholes("numbers") == [7, 8, 9]
    assert read.text("name") == "tiny"


@pytest.mark.parametrize(
    ("metadata", "tensors", "said"),
    [
        ((number("general.alignment", 0),), (), "general.alignment is 0, expected a positive number"),
        ((text("a") + struct.pack("<I", 99),), (), "metadata of unknown type 99"),
        ((text("a") + struct.pack("<IIQ", ARRAY, ARRAY, 1),), (), "an array of arrays"),
        ((text("a") + struct.pack("<IIQ", ARRAY, UINT32, 2**60),), (), "an array of the header needs"),
        ((number("a", 1), number("a", 1)), (), "has a metadata key twice"),
        ((text(b"\xff\xfe") + struct.pack("<II", UINT32, 1),), (), "is not UTF-8"),
        ((), (tensor("a", 1), tensor("a", 1)), "has a tensor twice"),
        ((), (tensor("a", 1, 1, 1, 1, 1),), "'a' has 5 dimensions, expected 1 to 4"),
        ((), (tensor("a", 1, kind=999),), "tensor a has the unknown type 999"),
        ((), (tensor("a", 33, kind=Q8_0),), "rows of 33, expected a multiple of 32"),
        ((), (tensor("a", 1, offset=10**6),), "but tensor a needs"),
    ],
)
def test_damage_is_named(metadata: tuple[bytes, ...], tensors: tuple[bytes, ...], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        header(metadata=metadata, tensors=tensors)
    assert said in str(caught.value)


@pytest.mark.parametrize("ask", ["text", "texts", "wholes", "whole", "real"])
def test_what_is_absent_or_of_another_kind_is_named(ask: str) -> None:
    read = header(metadata=(text("flag") + struct.pack("<I?", 7, True),))
    with pytest.raises(ModelError, match="flag is 'True', expected a"):
        getattr(read, ask)("flag")
    with pytest.raises(ModelError, match="nothing is absent, expected a"):
        getattr(read, ask)("nothing")
