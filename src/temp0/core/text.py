"""Text as bytes: one rule for hashing and for byte positions.

Nothing is normalised, stripped or replaced. A lone surrogate, which strict UTF-8 cannot carry, is written as its
three bytes (`surrogatepass`, U+DCB2 as ED B2 B2), so that every text has bytes and different texts have different
ones.
"""

from __future__ import annotations

import hashlib


def utf8(text: str) -> bytes:
    r"""The bytes of a text, lone surrogates included.

    >>> utf8("\udcb2").hex()
    'edb2b2'
    """
    return text.encode("utf-8", "surrogatepass")


def from_utf8(data: bytes) -> str:
    """The text of bytes that `utf8` made."""
    return data.decode("utf-8", "surrogatepass")


def sha256(text: str) -> str:
    """The hash by which a text is known: SHA-256 of its bytes, in hexadecimal."""
    return hashlib.sha256(utf8(text)).hexdigest()
