"""How much an engine holds at once, as keyword arguments that are handed on.

Their defaults stand in `Engine.__init__` and nowhere else; a command that shows them is held to those by a test.
"""

from __future__ import annotations

from typing import TypedDict


class Limits(TypedDict, total=False):
    """The KV cache holds `kv_tokens` positions in all, and `max_running` requests run at once.

    A step reads up to `chunk_tokens` of prompts; `queue` requests may wait.
    """

    kv_tokens: int
    max_running: int
    chunk_tokens: int
    queue: int
