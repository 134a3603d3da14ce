"""What is fuzzed: each reader of what a server says, its recorded bodies, and what has to hold of any input.

A target takes a body and the pieces it came in, and says what is wrong; an exception is a finding too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from mutation import Corpus, corpus, cut, mutated
from reading import connection, leaks, record, unsound

from temp0.conformance import samples
from temp0.core.run import Failure
from temp0.probe.dialect import DIALECTS, Dialect
from temp0.probe.dialect.error import may_pass, refused_fields, said
from temp0.probe.event_stream import Event, EventReader
from temp0.probe.framing import Reader
from temp0.probe.json_lines import LineReader
from temp0.probe.listing import model_names, owners
from temp0.probe.stream import Piece
from temp0.probe.streamed_chat import StreamedAnswer, streamed_answer

FIXTURES = Path(__file__).parents[1] / "fixtures"
FOUND = FIXTURES / "fuzz"
"""Where findings are kept: a folder for each reader, a file for each body."""

SECRETS = connection()
TYPES = ("", "application/json", "text/event-stream; charset=utf-8", "application/x-ndjson", "text/plain")
_LONGEST_SAID = 2200  # an excerpt, every character of it an escape
_FIELDS = ("temperature", "max_tokens")

Check = Callable[[bytes, Sequence[bytes]], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One reader: what its inputs are made from, and what is wrong with how it reads a body in pieces."""

    name: str
    recorded: Corpus
    check: Check

    def wrong(self, body: bytes, pieces: Sequence[bytes]) -> list[str]:
        """What is wrong with how a body is read, none where nothing is."""
        try:
            return list(self.check(body, pieces))
        except Exception as error:  # noqa: BLE001 - whatever a reader raises is what is looked for
            return [f"raised {type(error).__name__}: {str(error)[:200]}"]

    def inputs(self, random: Random, count: int) -> Iterator[tuple[bytes, list[bytes]]]:
        """So many bodies, each with the pieces it comes in."""
        for _ in range(count):
            body = mutated(random, self.recorded)
            yield body, cut(random, body)


def targets() -> dict[str, Target]:
    """Every reader by its name."""
    found = [*_framings(), *_others()]
    for name, dialect in spoken().items():
        found += _of_a_dialect(name, dialect)
    return {target.name: target for target in found}


def spoken() -> dict[str, Dialect]:
    """Every dialect and every form of one, by the folder of its samples."""
    forms = {
        f"{name}{end.replace('/api', '').replace('/', '-')}": form
        for name, dialect in DIALECTS.items()
        for end, form in dialect.forms
    }
    return {**DIALECTS, **forms}


def _of_a_dialect(name: str, dialect: Dialect) -> Iterator[Target]:
    folder = FIXTURES / "conformance" / name
    recorded = samples(folder if folder.exists() else FIXTURES / "conformance" / dialect.name)
    documents = [sample.answer for sample in recorded if sample.answer]
    streams = [sample.stream for sample in recorded if sample.stream]
    divider = b"\n" if dialect.framing.reader is LineReader else b"\n\n"
    check = _of_records(dialect)
    yield Target(name=f"{name}-whole", recorded=corpus(documents), check=check)
    yield Target(name=f"{name}-streamed", recorded=corpus([*streams, *_odd(dialect)], divider), check=check)


def _odd(dialect: Dialect) -> list[bytes]:
    """Streams with what servers rarely send, so that it is spoiled too: each event is one that some server has sent."""
    if dialect.framing.reader is LineReader:
        return []
    events: tuple[Any, ...] = (
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]},
                }
            ]
        },
        {"choices": [{"index": 0, "delta": {"function_call": {"name": "f", "arguments": "{}"}}}]},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "text": "a", "finish_reason": None}, {"index": 1, "text": "b"}]},
        {"type": "response.output_text.delta", "delta": "a", "logprobs": [{"token": "a", "logprob": -0.5}]},
        {"type": "response.refusal.delta", "delta": "no"},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    )
    told = [f"data: {json.dumps(event)}\n\n" for event in events]
    error = 'event: error\ndata: {"message": "overloaded"}\n\n'
    return [
        each.encode() for each in ("".join(told[:2]) + error, "".join(told[2:4]), "".join(told[4:]), told[4] + told[6])
    ]


def _of_records(dialect: Dialect) -> Check:
    def check(body: bytes, pieces: Sequence[bytes]) -> Iterator[str]:
        """One body in five is read as one that may hold our key."""
        secrets = None if len(body) % 5 else SECRETS
        content_type = TYPES[len(body) // 5 % len(TYPES)]
        outcome = record(dialect, pieces, content_type, secrets)
        yield from unsound(outcome)
        if secrets:
            yield from leaks(outcome)
        if (whole := record(dialect, [body], content_type, secrets)) != outcome and repr(whole) != repr(outcome):
            yield f"in pieces {outcome!r}, whole {whole!r}"

    return check


def _framings() -> Iterator[Target]:
    events = corpus([(FIXTURES / "bodies" / "llama_messages_stream.sse").read_bytes(), _written()], b"\n\n")
    yield Target(name="event-stream", recorded=events, check=_of_events(EventReader, _by_the_standard))
    lines = corpus([path.read_bytes() for path in sorted(FIXTURES.glob("conformance/ollama*/*.stream"))], b"\n")
    yield Target(name="json-lines", recorded=lines, check=_of_events(LineReader, None))


def _of_events(reader: Callable[[], Reader], wanted: Callable[[bytes], list[Event]] | None) -> Check:
    def check(body: bytes, pieces: Sequence[bytes]) -> Iterator[str]:
        read = _events(reader(), pieces)
        if read != _events(reader(), [body]):
            yield f"in pieces {read}"
        if wanted and read != wanted(body):
            yield f"read {read}, the standard has {wanted(body)}"

    return check


def _events(reader: Reader, pieces: Sequence[bytes]) -> list[Event]:
    return [event for piece in pieces for event in reader.feed(piece)] + reader.end()


def _by_the_standard(body: bytes) -> list[Event]:
    """The standard's own steps on the whole body, line by line."""
    events, data, name = [], [], b""
    *lines, _ = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for line in lines:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            events += [Event(data=b"\n".join(data), name=name.decode("utf-8", "replace"))] if data else []
            data, name = [], b""
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return events


def _others() -> Iterator[Target]:
    errors = corpus([b'{"error":{"message":"temperature is not supported","type":"a","code":400}}', b'{"detail":"a"}'])
    yield Target(name="refusal", recorded=errors, check=_of_a_refusal)
    models = corpus([(FIXTURES / "bodies" / "llama_models.json").read_bytes()])
    yield Target(name="list-of-models", recorded=models, check=_of_a_list)
    chats = [path.read_bytes() for path in sorted(FIXTURES.glob("conformance/openai-chat/*.stream"))]
    yield Target(name="timed-chat", recorded=corpus(chats, b"\n\n"), check=_of_a_timed_chat)


def _of_a_refusal(body: bytes, _: Sequence[bytes]) -> Iterator[str]:
    words = said(body)
    if not words or not words.isprintable() or len(words) > _LONGEST_SAID:
        yield f"a server said {words!r}"
    may_pass(Failure(reason="http-400", message=words, status=400))
    if not set(refused_fields(400, body, _FIELDS)) <= set(_FIELDS):
        yield "another field is refused than was asked about"


_LONGEST_SAID = 2200  # an excerpt, every character of it an escape


def _of_a_list(body: bytes, _: Sequence[bytes]) -> Iterator[str]:
    if not all(isinstance(name, str) for name in (*model_names(body), *owners(body, "a"), *owners(body, None))):
        yield "a model or an owner without a name"


def _of_a_timed_chat(body: bytes, pieces: Sequence[bytes]) -> Iterator[str]:
    whole = streamed_answer([Piece(at_s=1.0, data=body)])
    timed = streamed_answer([Piece(at_s=float(place), data=piece) for place, piece in enumerate(pieces)])
    if isinstance(timed, Failure):
        yield from unsound(timed)
    elif not (0 <= timed.first_s <= timed.last_s < len(pieces)):
        yield f"the first token came at {timed.first_s}, the last at {timed.last_s}, of {len(pieces)} pieces"
    if _untimed(whole) != _untimed(timed):
        yield f"in pieces {timed!r}, whole {whole!r}"


def _untimed(answer: StreamedAnswer | Failure) -> object:
    return answer if isinstance(answer, Failure) else (answer.text, answer.events, answer.usage)


def _written() -> bytes:
    return (
        b"\xef\xbb\xbf: hi\nid: 7\nevent: e\ndata: {}\ndata:\ndata:  two\n\nretry: 1\n\ndata\n\nevent: f\n\ndata: z\n\n"
    )
