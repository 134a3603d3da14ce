"""The seam of a dialect: how a question is written, and how an answer is read.

A dialect is pure: it sees values, never a socket or a clock, and it reads any JSON value without raising.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from temp0.core.run import Completion, Failure, Question
from temp0.probe.dialect.field import FieldError
from temp0.probe.dialect.reason import MALFORMED

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One wire format.

    `url` and `models_url` take the URL the user gave and return where questions and the list of models go;
    `headers` takes the key, if any; `body` the question and the model; `read` a parsed answer of any shape, and
    it may raise `FieldError`, which `completion` turns into a failure.
    """

    name: str
    key_variable: str
    can_logprobs: bool
    url: Callable[[str], str]
    models_url: Callable[[str], str]
    headers: Callable[[str | None], Mapping[str, str]]
    body: Callable[[Question, str], Mapping[str, object]]
    read: Callable[[object, Headers], Completion | Failure]

    def completion(self, payload: object, headers: Headers = ()) -> Completion | Failure:
        """The completion in a parsed answer, or the failure that it is; never an exception."""
        try:
            return self.read(payload, headers)
        except FieldError as error:
            return Failure(reason=MALFORMED, message=str(error))
        except RecursionError:
            return Failure(reason=MALFORMED, message="the answer is nested too deeply to read")


def with_path(url: str, path: str) -> str:
    """The same URL with another path; a query string stays where it is.

    >>> with_path("https://host/v1?api-version=2", "/v1/models")
    'https://host/v1/models?api-version=2'
    """
    return urlunsplit(urlsplit(url)._replace(path=path))


def path_of(url: str) -> str:
    """The path of a URL without its trailing slash, so that a bare host has the path `""`."""
    return urlsplit(url).path.rstrip("/")
