"""Strangers' text made safe and honest to look at.

What comes out holds no control character, no bidirectional override, no invisible space and no lone surrogate:
each is replaced by a mark that can be seen. It still must be escaped for HTML.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
_NAMES = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
).split()
# The Unicode pictures of control characters (U+2400 on) are missing from many fonts; names in guillemets are not.
_CONTROLS = {code: f"‹{name}›" for code, name in enumerate(_NAMES)} | {0x09: "⇥", 0x0A: "↵", 0x7F: "‹DEL›"}
# Joiners shape Persian words and emoji, the tags spell flags: taking them apart would destroy what is shown.
_JOINING = {"\u200c", "\u200d"}


def visible(text: str, *, spaces: bool = False) -> str:
    r"""The text with every character that cannot be seen replaced by one that can; `spaces` marks blanks too.

    >>> visible("a\x1b[31m\n\u202eb\udcb2")
    'a‹ESC›[31m↵‹U+202E›b‹U+DCB2›'
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
    code = ord(char)
    if code in _CONTROLS:
        return _CONTROLS[code]
    if char in _JOINING or 0xE0020 <= code <= 0xE007F:
        return char
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"} or (char != " " and char.isspace())
    return f"‹U+{code:04X}›" if hidden else char
