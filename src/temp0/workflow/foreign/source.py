"""Reads a file's bytes and the JSON in them, or says in words what is wrong with them.

What cannot be read whole is refused whole: half of a log would be another finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from temp0.errors import LogFileError
from temp0.probe.json_value import json_value

BEGINNING_BYTES = 65_536
_UTF8_MARK, _UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_LEXEME = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)

Told = TypeVar("Told")


def contents(path: Path) -> bytes:
    """What is in a file, as UTF-8 without its mark. Raises LogFileError where it cannot be read or is empty."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogFileError(f"cannot read {path}: {error.strerror}") from error
    for mark, name in _PACKED.items():
        if data.startswith(mark):
            raise LogFileError(f"{path} is compressed ({name}): unpack it first")
    if data.startswith(_UTF16_MARKS):
        try:
            data = data.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise LogFileError(f"{path} is no whole UTF-16: {error}; was it cut short?") from None
    data = data.removeprefix(_UTF8_MARK)
    if not data.strip():
        raise LogFileError(f"{path} is empty")
    return data


def members(data: bytes) -> frozenset[bytes]:
    """The names in the first object of a file, as far as its beginning shows them.

    >>> sorted(members(b'{"a": {"b": 1}, "c": ["d", {"e": 2}], "f": "g'))
    [b'a', b'c', b'f']
    """
    depth, name, found = 0, None, set()
    for lexeme in _LEXEME.findall(data[:BEGINNING_BYTES]):
        if lexeme == b":":
            if depth == 1 and name is not None:
                found.add(name)
        elif lexeme in b"{[":
            depth += 1
        elif lexeme in b"}]":
            depth -= 1
            if depth == 0:
                break
        name = lexeme[1:-1] if lexeme.startswith(b'"') else None
    return frozenset(found) if data.lstrip().startswith(b"{") else frozenset()


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    return ((place, line) for place, line in enumerate(data.splitlines(), start=1) if line.strip())


def told(data: bytes, kind: type[Told], *, where: str, what: str) -> Told:
    """A JSON text as a value of a kind; `what` it should be is named where it is not, and `where` it stands."""
    return converted(parsed(data, where=where, what=what), kind, where=where, what=what)


def parsed(data: bytes, *, where: str, what: str) -> object:
    """The value of a JSON text."""
    try:
        return json_value(data)
    except RecursionError:
        raise LogFileError(f"{where} is nested too deeply to be {what}") from None
    except ValueError as error:
        raise LogFileError(f"{where} cannot be read as {what}: {error}; was it cut short?") from None


def converted(value: object, kind: type[Told], *, where: str, what: str) -> Told:
    """A value that was parsed already, likewise."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise LogFileError(f"{where} is not {what} as temp0 knows it: {error}") from None
