"""The seam of a dialect: how a question is written, and how an answer is read.

A dialect is pure: it sees values, never a socket or a clock, and it reads any JSON value and any events without
raising.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from temp0.core.run import Completion, Failure, Question
from temp0.probe.dialect.field import FieldError
from temp0.probe.dialect.partial import PartialAnswer
from temp0.probe.dialect.reason import CUT, ERROR_IN_200, MALFORMED
from temp0.probe.event_stream import Event
from temp0.probe.framing import EVENTS, Framing

Headers = tuple[tuple[str, str], ...]

UNREADABLE = (FieldError, RecursionError)
"""What reading a part of an answer may raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One wire format.

    `url` and `models_url` take the URL the user gave and return where questions and the list of models go;
    `headers` takes the key, if any; `body` the question and the model; `read` a parsed answer of any shape, and
    it may raise `FieldError`, which `completion` turns into a failure. `partial` begins to gather a streamed answer.
    `framing` says how a streamed body is cut into events. `dispensable` names the fields of a body that only ask for a
    description of the answer, say again what a temperature of 0 says, or ask to go on from a beginning, which is seen
    in what is answered: a server that refuses to know one is asked without it. `renamed` pairs the name of a field with
    the one that other servers know the same thing by. `continues` says that a last message of the assistant's is sent
    as the beginning of the answer, to be gone on from.
    `forms` pairs the end of a path with the form that the dialect has there, where it has more than one.
    """

    name: str
    key_variable: str
    can_logprobs: bool
    url: Callable[[str], str]
    models_url: Callable[[str], str]
    headers: Callable[[str | None], Mapping[str, str]]
    body: Callable[[Question, str], Mapping[str, object]]
    read: Callable[[object, Headers], Completion | Failure]
    partial: Callable[[], PartialAnswer]
    dispensable: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    framing: Framing = EVENTS
    forms: tuple[tuple[str, Dialect], ...] = ()
    continues: bool = False

    def at(self, url: str) -> Dialect:
        """The form of this dialect that is spoken at a URL."""
        return next((form for end, form in self.forms if path_of(url).endswith(end)), self)

    def completion(self, payload: object, headers: Headers = ()) -> Completion | Failure:
        """The completion in a parsed answer, or the failure that it is; never an exception."""
        try:
            return self.read(payload, headers)
        except UNREADABLE as error:
            return malformed(error)

    def streamed(self, events: Iterable[Event], headers: Headers = ()) -> Completion | Failure:
        """The completion in a streamed answer, or the failure that it is; never an exception."""
        answer = self.partial()
        try:
            for event in events:
                answer.add(event)
        except UNREADABLE as error:
            return malformed(error)
        return self.gathered(answer, headers)

    def gathered(self, answer: PartialAnswer, headers: Headers = ()) -> Completion | Failure:
        """The completion that a stream came to when it ended, equal to that of the same answer unstreamed."""
        if answer.error is not None:
            return Failure(reason=ERROR_IN_200, message=answer.error)
        if not answer.is_whole:
            return Failure(reason=CUT, message="the stream ended before the answer did")
        try:
            payload = answer.payload()
        except UNREADABLE as error:
            return malformed(error)
        return self.completion(payload, headers)


def malformed(error: Exception) -> Failure:
    """The failure of an answer whose reading raised one of `UNREADABLE`."""
    said = str(error) if isinstance(error, FieldError) else "the answer is nested too deeply to read"
    return Failure(reason=MALFORMED, message=said)


def with_path(url: str, path: str) -> str:
    """The same URL with another path; a query string stays where it is.

    >>> with_path("https://host/v1?api-version=2", "/v1/models")
    'https://host/v1/models?api-version=2'
    """
    return urlunsplit(urlsplit(url)._replace(path=path))


def path_of(url: str) -> str:
    """The path of a URL without its trailing slash, so that a bare host has the path `""`."""
    return urlsplit(url).path.rstrip("/")
