"""Reads the body of an answer in whichever of its two forms it came: one JSON document, or a stream of events.

Either way it is the server's answer to our question, and the same text gives the same record.
"""

from __future__ import annotations

import json

from temp0.core.run import Completion, Failure
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.dialect import Headers
from temp0.probe.dialect.reason import NOT_JSON, TRUNCATED_JSON, excerpt


def streamed_outcome(dialect: Dialect, body: bytes, headers: Headers) -> Completion | Failure:
    """What a stream of events came to."""
    reader = dialect.framing.reader()
    return dialect.streamed([*reader.feed(body), *reader.end()], headers)


def json_outcome(dialect: Dialect, body: bytes, headers: Headers) -> Completion | Failure:
    """What one JSON document says."""
    try:
        payload = json.loads(body)
    except json.JSONDecodeError as error:
        return _unreadable(error)
    except (ValueError, RecursionError) as error:
        return Failure(reason=NOT_JSON, message=f"not JSON that can be read: {excerpt(str(error))}")
    return dialect.completion(payload, headers)


def _unreadable(error: json.JSONDecodeError) -> Failure:
    text = error.doc.strip()
    if not text:
        return Failure(reason=NOT_JSON, message="an empty body")
    kind = TRUNCATED_JSON if _is_truncated(text, error) else NOT_JSON
    what = "JSON that ends too early" if kind == TRUNCATED_JSON else "not JSON"
    return Failure(reason=kind, message=f"{what}: {excerpt(text)}")


def _is_truncated(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text begins as JSON does and the reader ran out of it rather than stumbled."""
    closer = {"{": "}", "[": "]"}.get(text[0])
    if closer is None or error.msg == "Extra data":
        return False
    return error.pos >= len(error.doc.rstrip()) or not text.endswith(closer)
