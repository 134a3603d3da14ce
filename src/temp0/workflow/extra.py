"""Fields of the user's own that are merged into every body: read, and held against what a run is about.

They are recorded with the run, so that none may hold a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from temp0.errors import UsageError

_SECRET_NAME = re.compile(
    r"(api|access|auth|secret|private|subscription)[-_]?(key|token)|passw|secret|authorization|bearer", re.IGNORECASE
)
_OURS = ("stream",)  # what a condition varies


def extra_fields(told: str | Mapping[str, object] | None) -> dict[str, object]:
    """The fields of a JSON object, or of a mapping that could be one; none where nothing is told.

    Raises `UsageError` for anything else, for a field that a condition decides, and for one that looks like a secret.
    """
    if not told:
        return {}
    try:
        fields = json.loads(told if isinstance(told, str) else json.dumps(told, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"the extra fields are no JSON: {error}; expected an object, such as '{{\"top_k\": 1}}'"
        ) from None
    if not isinstance(fields, dict):
        raise UsageError(
            f"the extra fields are {type(fields).__name__}, expected a JSON object such as '{{\"top_k\": 1}}'"
        )
    for name, _ in _everywhere(fields):
        if _SECRET_NAME.search(name):
            raise UsageError(f"the extra field {name!r} may be a secret, and would be recorded; send it as a header")
    for name in _OURS:
        if name in fields:
            raise UsageError(f"the extra field {name!r} is what the plan varies; use --{name}")
    return fields


def is_greedy(fields: Mapping[str, object]) -> bool:
    """Whether the fields leave the temperature at 0, wherever it stands in them."""
    return all(value == 0 and value is not False for name, value in _everywhere(fields) if name == "temperature")


def _everywhere(value: object) -> Iterator[tuple[str, object]]:
    """Every name in a JSON value, however deep, with what it names."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name, inner
            yield from _everywhere(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _everywhere(inner)
