"""Text as bytes: one rule for hashing and for byte positions; and the folding that is shown beside.

For hashes and positions nothing is normalised, stripped or replaced. A lone surrogate, which strict UTF-8 cannot
carry, is written as its three bytes (`surrogatepass`, U+DCB2 as ED B2 B2), so that every text has bytes and different
texts have different ones.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LEADING = re.compile(r"\A[\s\ufeff]+")


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


def folded(text: str) -> str:
    r"""The text in Unicode NFC, with LF for line ends, without outer white space and byte-order marks before it.

    A byte-order mark says how bytes were encoded and is no part of an answer, so it goes; one inside the text stays.
    What else cannot be normalised, as a lone surrogate, stays as it is. Folding twice changes nothing more. NFC is
    that of Python's own Unicode tables, so that characters newer than those are not composed.

    >>> folded("\ufeff 4 x\r\n2\n")
    '4 x\n2'
    """
    with_one_line_end = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _LEADING.sub("", with_one_line_end).rstrip())
