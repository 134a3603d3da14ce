"""Recorded bodies with something wrong in them: other JSON in a field, events lost or repeated, bytes flipped or cut.

The same random source gives the same inputs. What JSON cannot be written from Python values (numbers of five thousand
digits, values nested a thousand deep) is put in by name and written out last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

KEY = "sk-fuzz/0123+456789"
"""A secret with characters that JSON may write in several ways; it is planted where a server could echo it."""

_RAW = {
    "@huge@": b"9" * 5000,
    "@infinite@": b"1e999",
    "@nan@": b"NaN",
    "@half@": b'"\\ud83c"',
    "@other half@": b'"\\udf78"',
    "@escaped key@": b'"a' + b"".join(b"\\u%04x" % ord(letter) for letter in KEY) + b'b"',
    "@no utf-8@": b'"\xff\xc3"',
    **{f"@lists {depth}@": b"[" * depth + b"]" * depth for depth in (30, 300, 3000)},
    **{f"@objects {depth}@": b'{"error":' * depth + b"7" + b"}" * depth for depth in (30, 200, 3000)},
}
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, 10**400, 0.5, -0.0, -9999.0, 1e308, float("-inf")),
    *("", " ", "a", "\x00", "\x1b[31m", "\u2028", "\ufeff", "\U0001f378", "e\u0301", "\ud83c", "\udf78", "x" * 3000),
    *("error", "stop", "null", "0", "[DONE]", "data: {}\n\n", KEY, f"as {KEY} has it", [*KEY.encode()], [], {}, [[]]),
    *_RAW,
)
_BYTES = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\n\n", b"data: ", b"data:", b": ping\n\n"),
    *(
        b"event: error\n",
        b"event: message_start\n",
        b"id: 1\n",
        b"data: [DONE]\n\n",
        b"[DONE]",
        b"{",
        b"}",
        b'"',
        b"\\",
    ),
    *(b"\\u", b"\\ud83c", b",", b"[", b"]", b"<html>", b"null", b"\xe2\x80\xa8", b"\xc2\x85", b" " * 300, KEY.encode()),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Recorded bodies of one kind, and every JSON value that stands in them."""

    bodies: tuple[bytes, ...]
    values: tuple[Any, ...]
    divider: bytes = b""  # between the events of a stream; a document has none


def corpus(bodies: Sequence[bytes], divider: bytes = b"") -> Corpus:
    """The bodies and what is in them; a value that stands in many places is in the list as often."""
    parts = [part for body in bodies for part in (body.split(divider) if divider else [body])]
    found = [value for part in parts if (told := _parsed(part)) is not None for value in _inner(told[1])]
    return Corpus(bodies=tuple(bodies), values=tuple(found) or ({},), divider=divider)


def mutated(random: Random, recorded: Corpus) -> bytes:
    """One of the bodies with one to four things wrong in it; once in fifty nothing is."""
    body = random.choice(recorded.bodies)
    if not random.randrange(50):
        return body
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        change: Callable[[Random, bytes, Corpus], bytes] = random.choice(_CHANGES)
        body = change(random, body, recorded)
    return body


def cut(random: Random, body: bytes) -> list[bytes]:
    """The body in pieces, cut anywhere: in a few places, or after each few bytes."""
    if random.randrange(20):
        places = sorted(random.randrange(len(body) + 1) for _ in range(random.randrange(1, 6)))
    else:
        places = list(range(0, len(body), random.choice((1, 2, 3, 7)) if len(body) < 4000 else 61))
    return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


def _of_a_value(random: Random, body: bytes, recorded: Corpus) -> bytes:
    """One value in the document, or in one event of the stream, is another."""
    if not recorded.divider:
        return _with_another_value(random, body, recorded.values)
    parts = body.split(recorded.divider)
    place = random.randrange(len(parts))
    parts[place] = _with_another_value(random, parts[place], recorded.values)
    return recorded.divider.join(parts)


def _of_events(random: Random, body: bytes, recorded: Corpus) -> bytes:
    """An event is lost, repeated, moved, or one of another stream; of a document, a stretch of bytes."""
    if not recorded.divider:
        return _of_bytes(random, body, recorded)
    parts = body.split(recorded.divider)
    here, there = random.randrange(len(parts)), random.randrange(len(parts))
    match random.randrange(5):
        case 0:
            del parts[here]
        case 1:
            parts.insert(there, parts[here])
        case 2:
            parts[here], parts[there] = parts[there], parts[here]
        case 3:
            parts[here] = random.choice(random.choice(recorded.bodies).split(recorded.divider))
        case _:
            del parts[here:]
    return recorded.divider.join(parts)


def _of_bytes(random: Random, body: bytes, _: Corpus) -> bytes:
    """Bits are flipped, or a stretch is cut out, repeated, or has something put in its place."""
    start = random.randrange(len(body) + 1)
    end = min(len(body), start + random.choice((0, 1, 1, 2, 8, 40, 400)))
    part = body[start:end]
    match random.randrange(5):
        case 0:
            part = bytes(byte ^ 1 << random.randrange(8) for byte in part[:3]) + part[3:]
        case 1:
            part = b""
        case 2:
            part *= random.choice((2, 3, 50))
        case 3:
            part = random.randbytes(len(part))
        case _:
            part = random.choice(_BYTES)
    return body[:start] + part + body[end:]


def _of_line_ends(random: Random, body: bytes, _: Corpus) -> bytes:
    return body.replace(b"\n", random.choice((b"\r", b"\r\n")))


def _of_its_end(random: Random, body: bytes, _: Corpus) -> bytes:
    return body[: random.randrange(len(body) + 1)]


_CHANGES = (_of_a_value,) * 9 + (_of_events,) * 3 + (_of_bytes,) * 3 + (_of_line_ends, _of_its_end)


def _parsed(part: bytes) -> tuple[bytes, Any] | None:
    """What stands before the JSON in a document, a line or an event, and its value; `None` where there is no JSON."""
    start = part.find(b"{")
    try:
        return (part[:start], json.loads(part[start:])) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _inner(value: Any) -> Iterator[Any]:
    yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inner(below)


def _with_another_value(random: Random, part: bytes, values: Sequence[Any]) -> bytes:
    told = _parsed(part)
    if told is None:
        return part
    before, value = told
    written = json.dumps(_changed(random, value, values), ensure_ascii=bool(random.randrange(2)), separators=(",", ":"))
    data = written.encode("utf-8", "surrogatepass")
    if b'"@' in data:
        for name, raw in _RAW.items():
            data = data.replace(f'"{name}"'.encode(), raw)
    return before + data


def _changed(random: Random, value: Any, values: Sequence[Any]) -> Any:
    """The value with another one anywhere in it: members may be lost, added, repeated or swapped, in place."""
    places = list(_places(value))
    if not places or not random.randrange(30):
        return _another(random, values)
    holder, step = random.choice(places)
    other = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match random.randrange(10):
        case 0:
            del holder[step]
        case 1:
            holder[step], holder[other] = holder[other], holder[step]
        case 2 if isinstance(holder, list):
            holder *= 2
        case 2:
            holder[random.choice(("error", "type", "text", "content", "index", "\x07"))] = random.choice(_VALUES)
        case _:
            holder[step] = _another(random, values)
    return value


def _another(random: Random, values: Sequence[Any]) -> Any:
    return random.choice(_VALUES) if random.randrange(2) else random.choice(values)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of every object and array, as what holds it and where."""
    steps: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        yield value, step
        yield from _places(value[step])
