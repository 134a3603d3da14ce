"""The hand calculation, for the door."""

from __future__ import annotations

from temp0.lab.sums import SumsResult, order_experiment
from temp0.lab.tie import FORMATS, StoredPair, stored_pair

__all__ = ["LOGITS", "StoredPair", "SumsResult", "order_experiment", "stored_logits"]

LOGITS = (-2.7391, -2.7392)
"""Two logits that a person would call different, and that bf16 cannot tell apart."""


def stored_logits() -> tuple[StoredPair, ...]:
    """The two logits as each format of serving stores them."""
    return tuple(stored_pair(*LOGITS, stored_in) for stored_in in FORMATS)
