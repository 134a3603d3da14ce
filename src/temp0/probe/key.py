"""The key of an endpoint: where it comes from, and how it is kept out of everything we record.

A key goes to the exact host it belongs to, to this machine, or where the user said, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from temp0.errors import UsageError
from temp0.probe.dialect.reason import MASK
from temp0.probe.header import may_be_secret
from temp0.probe.host import is_loopback, known_host

_ESCAPED = frozenset('"\\/')  # the letters of a key before which JSON may have a backslash
# What people set where a server wants a key and checks none. Such a word may honestly stand in an answer.
_PLACEHOLDERS = frozenset(
    {
        "",
        "0",
        "1",
        "a",
        "abc",
        "dummy",
        "empty",
        "fake",
        "key",
        "local",
        "na",
        "no",
        "none",
        "not",
        "null",
        "ollama",
        "sk",
        "test",
        "token",
        "x",
        "xx",
        "xxx",
    }
)


_SHORTEST_PART = 8  # of a secret header; a shorter word may honestly stand in an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key that does not show itself when it is printed, and other secrets that go out beside it."""

    value: str = field(repr=False)
    others: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_placeholder(self) -> bool:
        """Whether these are words such as `EMPTY` or `x`, sent to servers that want a key but check none.

        Such a word may honestly stand in an answer, which must not be altered.
        """
        return not any(map(_is_secret, self._longest_first()))

    def redact(self, body: bytes) -> bytes:
        """The body as received with `[key]` for each secret, also where JSON escapes or byte lists hide it."""
        for secret in filter(_is_secret, self._longest_first()):
            body = _redacted(body, secret)
        return body

    def redact_text(self, text: str) -> str:
        """A header or a message with `[key]` for each secret; of a placeholder, only whole words."""
        for secret in self._longest_first():
            if _is_secret(secret):
                text = text.replace(repr(secret)[1:-1], MASK).replace(secret, MASK)
            elif secret:
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
        return text

    def _longest_first(self) -> tuple[str, ...]:
        """Each secret, so that none is left in part where it holds another."""
        return tuple(sorted((self.value, *self.others), key=len, reverse=True))


def with_headers(key: Key | None, headers: Iterable[tuple[str, str]]) -> Key | None:
    """The key and what else may be secret in the headers that the user has us send; `None` where nothing is.

    A secret header counts as a whole and by its parts, such as the token after `Bearer` or the values of a cookie.
    """
    found = [key.value] if key else []
    for name, value in headers:
        if may_be_secret(name.lower()):
            parts = re.split(r"[\s;,=\"]+", value)  # a quoted value of Digest, too, but never JSON's own quotes
            found += [value, *(part for part in parts if len(part) >= _SHORTEST_PART)]
    secrets = tuple(dict.fromkeys(found))
    return Key(value=secrets[0], others=secrets[1:]) if secrets else None


def endpoint_key(url: str, *, variable: str, key_env: str | None, environ: Mapping[str, str]) -> Key | None:
    """The key for a URL, from the environment; `None` where none is due or none is set.

    `key_env` names the variable outright. Without it a known host has its own variable, asked for over https only,
    and this machine the dialect's usual one, `variable`.

    Raises:
        UsageError: `key_env` is not set, or a key holds what no HTTP header can carry.

    """
    if key_env is not None:
        if not environ.get(key_env, "").strip():
            raise UsageError(f"the environment variable {key_env} is not set; it should hold the endpoint's key")
        return _key(key_env, environ)
    usual = _usual_variable(url, variable)
    return _key(usual, environ) if usual and environ.get(usual, "").strip() else None


def _usual_variable(url: str, variable: str) -> str | None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return variable
    known = known_host(host)
    return known.key_variable if known and parts.scheme == "https" else None


def _key(variable: str, environ: Mapping[str, str]) -> Key:
    value = environ[variable].strip()
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"the environment variable {variable} holds a line break or a character outside ASCII, "
            "which no HTTP header can carry"
        )
    return Key(value=value)


def _is_secret(value: str) -> bool:
    return value.lower() not in _PLACEHOLDERS


def _redacted(body: bytes, secret: str) -> bytes:
    if b"\\u00" in body or (b"\\" in body and not _ESCAPED.isdisjoint(secret)):
        body = _escaped(secret).sub(MASK.encode(), body)
    body = body.replace(secret.encode(), MASK.encode())
    if b'"bytes"' in body:
        body = _listed(secret).sub(_numbers(MASK).encode(), body)
    return body if body.endswith((b"}", b"]")) else _without_beginning(body, secret.encode())


def _without_beginning(body: bytes, secret: bytes) -> bytes:
    """The body with `[key]` for the part of a key with which it was cut."""
    for length in range(len(secret) - 1, _SHORTEST_PART - 1, -1):
        if body.endswith(secret[:length]):
            return body[:-length] + MASK.encode()
    return body


@lru_cache(maxsize=16)
def _escaped(value: str) -> re.Pattern[bytes]:
    r"""The key with any of its characters escaped as JSON allows: `\u0073`, and `\/` for a slash."""
    return re.compile("".join(f"(?:{'|'.join(_spellings(letter))})" for letter in value).encode())


def _spellings(letter: str) -> tuple[str, ...]:
    plain = re.escape(letter)
    by_code = rf"\\u00(?i:{ord(letter):02x})"
    return (by_code, rf"\\{plain}", plain) if letter in _ESCAPED else (by_code, plain)


@lru_cache(maxsize=16)
def _listed(value: str) -> re.Pattern[bytes]:
    """The key as a list of byte values, which is how logprobs tell a token."""
    numbers = r"\s*,\s*".join(str(byte) for byte in value.encode())
    return re.compile(rf"(?<!\d){numbers}(?!\d)".encode())


def _numbers(text: str) -> str:
    return ",".join(str(byte) for byte in text.encode())
