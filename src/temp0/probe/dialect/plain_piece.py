"""The text of an event that only adds to a text, read without making objects of what it says again and again.

Nearly every event of a long answer is such a one, in each dialect of its own shape. Any other, also one that only might
hold something else, is none: it is read in full, to the same text.
"""

from __future__ import annotations

from typing import Literal

import msgspec

_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)


class _Piece(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename={"kind": "object"}):
    kind: None = None
    error: None = None


class _Message(msgspec.Struct, frozen=True, gc=False):
    content: str
    thinking: Literal[""] | None = None
    tool_calls: None = None


class _OllamaLine(_Piece, frozen=True, gc=False, kw_only=True):
    done: Literal[False]
    message: _Message
    type: None = None
    logprobs: None = None


class _LlamaCppChunk(_Piece, frozen=True, gc=False, kw_only=True):
    stop: Literal[False]
    content: str
    type: None = None
    completion_probabilities: None = None


class _TextDelta(msgspec.Struct, frozen=True, gc=False):
    type: Literal["text_delta"]
    text: str


class _AnthropicEvent(_Piece, frozen=True, gc=False, kw_only=True):
    type: Literal["content_block_delta"]
    index: int
    delta: _TextDelta


_ollama = msgspec.json.Decoder(_OllamaLine).decode
_llamacpp = msgspec.json.Decoder(_LlamaCppChunk).decode
_anthropic = msgspec.json.Decoder(_AnthropicEvent).decode


def plain_line(data: bytes) -> str | None:
    """The text that a line of Ollama's chat adds, `None` where it may hold more."""
    try:
        return _ollama(data).message.content
    except _UNREADABLE:
        return None


def plain_continuation(data: bytes) -> str | None:
    """The text that a chunk of llama.cpp's native API adds, `None` where it may hold more."""
    try:
        return _llamacpp(data).content
    except _UNREADABLE:
        return None


def plain_delta(data: bytes) -> tuple[int, str] | None:
    """The block of a message of Anthropic's and the text that an event adds to it, `None` where it may hold more."""
    try:
        event = _anthropic(data)
    except _UNREADABLE:
        return None
    return event.index, event.delta.text
