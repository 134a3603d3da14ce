"""The size of a page: how many positions of a request are given and taken back together."""

from __future__ import annotations

PAGE_TOKENS = 16


def pages_of(tokens: int) -> int:
    """Pages that hold that many positions."""
    return -(-tokens // PAGE_TOKENS)
