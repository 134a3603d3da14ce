"""What crossed the wire in a stored run, as one file for each attempt: both bodies, and the headers that were kept."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from temp0.core.run import Attempt, Completion
from temp0.errors import UsageError
from temp0.workflow.keeping import open_store


def write_raw(run: str, folder: Path, *, store: Path | None) -> int:
    """Write the files into `folder`, which is made; how many. Raises `UsageError` where nothing is kept or to write.

    A body is text where it is UTF-8, and base64 where it is not.
    """
    with open_store(store) as kept:
        found = kept.load(kept.resolve(run))
        attempts = [one for one in found.attempts if one.sent is not None or one.received is not None]
        if not attempts:
            raise UsageError(f"run {found.id} holds no bodies: it is from before they were kept, or a simulated one")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for one in attempts:
                received = None if one.received is None else kept.body(found.id, one.received)
                text = json.dumps(_document(one, received), ensure_ascii=True, allow_nan=False, indent=2)
                (folder / f"{one.order:06}.json").write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write into {folder}: {error.strerror}; name another folder") from error
    return len(attempts)


def _document(attempt: Attempt, received: bytes | None) -> dict[str, object]:
    outcome = attempt.outcome
    return {
        "schema": "temp0/raw",
        "version": 1,
        "order": attempt.order,
        "prompt": attempt.prompt,
        "condition": attempt.condition,
        "block": attempt.block,
        "role": attempt.role,
        "failure": None if isinstance(outcome, Completion) else outcome.reason,
        "headers": [list(pair) for pair in outcome.headers] if isinstance(outcome, Completion) else [],
        **_body("sent", attempt.sent),
        **_body("received", received),
    }


def _body(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode("ascii")}
