"""The bytes that each token of a vocabulary writes, in the middle of a text.

Bytes and not text, because a character may be spread over several tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from temp0.engine.checkpoint import Vocabulary

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    """What each token writes, by id: nothing for control and unused tokens, their text for user-defined ones.

    SentencePiece writes no space at the very beginning of a text, which no token can know: its bytes hold one.
    """
    silent = vocabulary.control | vocabulary.unused
    spelled = _byte_level() if vocabulary.spelling == "byte-level" else _sentencepiece

    def written(token_id: int, token: str) -> bytes:
        if token_id in silent:
            return b""
        return token.encode() if token_id in vocabulary.user_defined else spelled(token)

    return tuple(written(token_id, token) for token_id, token in enumerate(vocabulary.tokens))


def _byte_level() -> Callable[[str], bytes]:
    byte_of = {letter: byte for byte, letter in _letters()}

    def spelled(token: str) -> bytes:
        try:
            return bytes([byte_of[letter] for letter in token])
        except KeyError:
            return token.encode()

    return spelled


def _sentencepiece(token: str) -> bytes:
    byte = _BYTE.fullmatch(token)
    return bytes.fromhex(byte[1]) if byte else token.replace("\u2581", " ").encode()


def _letters() -> Iterator[tuple[int, str]]:
    """Each byte with the letter that stands for it in byte-level tokens: itself if printable, else 256 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    yield from ((byte, chr(byte)) for byte in printable)
    others = [byte for byte in range(256) if byte not in printable]
    yield from ((byte, chr(256 + index)) for index, byte in enumerate(others))
