"""Why an attempt can fail: the one list of reasons, and how a failure quotes what the server said.

The names are recorded in runs and counted in reports, so they are stable. Besides these, an answer with an HTTP
status other than 2xx fails for the reason `http-` and its status, such as `http-429`.
"""

from __future__ import annotations

from temp0.core.run import Failure

REFUSED = "refused"  # no connection: refused, unreachable, or a host name that does not resolve
TLS = "tls"  # no secure connection: a certificate or a handshake that failed
PROXY = "proxy"  # the proxy of the environment would not connect us
TIMEOUT = "timeout"  # no whole answer within the time-out
TIMEOUT_CONNECT = "timeout-connect"  # no connection within its own time-out
TIMEOUT_FIRST_BYTE = "timeout-first-byte"  # nothing of an answer within its own time-out
CUT = "cut"  # disconnected, fewer bytes than announced, or bytes that do not decompress
NOT_HTTP = "not-http"  # bytes that are no HTTP answer
TOO_LARGE = "too-large"  # more bytes than an answer can honestly have
NOT_JSON = "not-json"  # HTML, plain text, nothing at all
TRUNCATED_JSON = "truncated-json"  # JSON that ends too early
NO_CHOICES = "no-choices"  # JSON without an answer in it
NULL_CONTENT = "null-content"  # an answer whose text is null, with nothing that would explain it
MALFORMED = "malformed"  # a field of another type than the dialect has
ERROR_IN_200 = "error-in-200"  # an error delivered under a status of success
INTERRUPTED = "interrupted"  # we stopped before the answer came

REASONS = (
    REFUSED,
    TLS,
    PROXY,
    TIMEOUT,
    TIMEOUT_CONNECT,
    TIMEOUT_FIRST_BYTE,
    CUT,
    NOT_HTTP,
    TOO_LARGE,
    NOT_JSON,
    TRUNCATED_JSON,
    NO_CHOICES,
    NULL_CONTENT,
    MALFORMED,
    ERROR_IN_200,
    INTERRUPTED,
)

MASK = "[key]"
"""Stands wherever a key stood, in all that is read and recorded."""

EXCERPT_CHARACTERS = 200


def excerpt(text: str) -> str:
    r"""The first 200 characters on one line: white space folded, what cannot be printed written as an escape.

    >>> excerpt("<html>\n  <b>no\x1b</b>")
    '<html> <b>no\\x1b</b>'
    """
    start = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())
    shown = start if len(start) <= EXCERPT_CHARACTERS else start[: EXCERPT_CHARACTERS - 1] + "…"
    return printable(shown)


def printable(text: str) -> str:
    """The text with control characters and lone surrogates written as escapes, safe to store and to show."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def http_failure(status: int, said: str) -> Failure:
    """The failure of an answer with another status than 2xx, with what the server said."""
    return Failure(reason=f"http-{status}", message=f"HTTP {status}: {said}", status=status)
