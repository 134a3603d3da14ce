"""An explanation as the JSON document that docs/format.md describes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from temp0.core.descent import Descent
from temp0.core.junction import bins
from temp0.core.second_pass import ForkLook, SecondPass
from temp0.report.second_pass import conclusion, descent_sentences
from temp0.report.tree_schema import tree_class_fields


def second_pass_json(second: SecondPass, descents: Sequence[Descent] = (), *, not_followed: str | None = None) -> str:
    """The document, on one line; `not_followed` says why no fork of our own engine's was followed down."""
    return json.dumps(second_pass_document(second, descents, not_followed=not_followed), allow_nan=False)


def second_pass_document(
    second: SecondPass, descents: Sequence[Descent] = (), *, not_followed: str | None = None
) -> dict[str, Any]:
    """The same as a dictionary."""
    return {
        "schema": "temp0/explanation",
        "version": 1,
        "exit_code": exit_code(second),
        "run": second.first,
        "second": second.second,
        "forks": [_fork(fork) for fork in second.forks],
        "positions": [asdict(position) for position in second.positions],
        "junctions": [asdict(one) for one in bins(second.positions)],
        "descents": [_descent(one) for one in descents],
        "not_followed": not_followed,
    }


def exit_code(second: SecondPass) -> int:
    """0, or 3 where forks were to be looked at and not one completion of the second pass came back."""
    asked = any(look.completions for fork in second.forks for look in fork.looks) or second.positions
    return 0 if asked or not second.forks else 3


def _descent(descent: Descent) -> dict[str, Any]:
    trees = None if descent.trees is None else [tree_class_fields(one) for one in descent.trees]
    return {**asdict(replace(descent, trees=None)), "trees": trees, "words": " ".join(descent_sentences(descent))}


def _fork(fork: ForkLook) -> dict[str, Any]:
    branches = [{"text": text, "count": count} for text, count in fork.branches]
    return {**asdict(fork), "branches": branches, "words": conclusion(fork)}
