"""Strangers' text made safe and honest to look at.

What comes out holds no control character, no bidirectional override, no invisible space and no lone surrogate:
each is replaced by a mark that can be seen. It still must be escaped for HTML.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
# The Unicode pictures of control characters (U+2400 on) are missing from many fonts; names in guillemets are not.
_OPEN, _CLOSE = "\u2039", "\u203a"
_NAMES = {0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL"}
_SIGNS = {"\t": "⇥", "\n": "↵"}
# Joiners shape Persian words and emoji, the tags spell flags: taking them apart would destroy what is shown.
_JOINING = {"\u200c", "\u200d"}


def visible(text: str, *, spaces: bool = False) -> str:
    r"""The text with every character that cannot be seen replaced by one that can; `spaces` marks blanks too.

    >>> visible("two\n\tlines"), ascii(visible("\u202e"))
    ('two↵⇥lines', "'\\u2039U+202E\\u203a'")
    """
    shown = text if text.isascii() and text.isprintable() else "".join(map(_seen, text))
    return shown.replace(" ", "␣") if spaces else shown


def beginning(text: str, limit: int) -> str:
    """At most `limit` characters of a text, made visible; a cut shows as an ellipsis."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + ELLIPSIS


def ending(text: str, limit: int) -> str:
    """At most `limit` characters from a text's end, made visible; a cut shows as an ellipsis."""
    shown = visible(text[-limit - 1 :])
    return shown if len(shown) <= limit else ELLIPSIS + shown[1 - limit :]


def elided(text: str, limit: int) -> str:
    """A text made visible; where it is longer than `limit`, its middle gives way to a note of what is left out."""
    half, left_out = limit // 2, len(text) - limit
    shown = visible(text) if left_out <= 0 else visible(text[:half]) + visible(text[-half:])
    if left_out <= 0 and len(shown) <= limit:
        return shown
    note = f"{left_out:,} characters left out {ELLIPSIS} " if left_out > 0 else ""
    return f"{shown[:half]} {ELLIPSIS} {note}{shown[-half:]}"


def _seen(char: str) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    code = ord(char)
    if char in _JOINING or 0xE0020 <= code <= 0xE007F:
        return char
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"} or (char != " " and char.isspace())
    return f"{_OPEN}{_NAMES.get(code, f'U+{code:04X}')}{_CLOSE}" if hidden else char
