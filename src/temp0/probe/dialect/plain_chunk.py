"""The text of a chunk that holds nothing else, read without making objects of what it says again and again.

Nearly every chunk of a long answer is such a one. Any other, also one that only might hold something else, is none:
it is read in full, to the same text.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class _Delta(msgspec.Struct, frozen=True, gc=False):
    content: str
    reasoning_content: None = None
    reasoning: None = None
    refusal: None = None
    tool_calls: None = None
    function_call: None = None


class _Choice(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename={"kind": "object"}):
    kind: None = None
    type: None = None
    index: Literal[0] | None = None
    finish_reason: None = None
    logprobs: None = None
    message: None = None
    error: None = None


class _ChatChoice(_Choice, frozen=True, gc=False, kw_only=True):
    delta: _Delta


class _LegacyChoice(_Choice, frozen=True, gc=False, kw_only=True):
    text: str
    delta: None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename={"kind": "object"}):
    kind: str = ""
    type: str = ""
    error: None = None
    usage: None = None


class _ChatChunk(_Chunk, frozen=True, gc=False, kw_only=True):
    choices: tuple[_ChatChoice]


class _LegacyChunk(_Chunk, frozen=True, gc=False, kw_only=True):
    choices: tuple[_LegacyChoice]


_chat = msgspec.json.Decoder(_ChatChunk).decode
_legacy = msgspec.json.Decoder(_LegacyChunk).decode


def plain_chat(data: bytes) -> str | None:
    """The text of a plain chunk of the openai-chat dialect, `None` where the chunk is not plain."""
    try:
        chunk = _chat(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return None if "error" in (chunk.kind, chunk.type) else chunk.choices[0].delta.content


def plain_legacy(data: bytes) -> str | None:
    """The same of the openai-completions dialect."""
    try:
        chunk = _legacy(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return None if "error" in (chunk.kind, chunk.type) else chunk.choices[0].text
