"""Strangers' text made safe and honest to look at.

What comes out holds no control character, no bidirectional override, no invisible space and no lone surrogate:
each is replaced by a mark that can be seen. It still must be escaped for HTML.
"""

from __future__ import annotations

import re
import unicodedata

from temp0.report.word import combines

ELLIPSIS = "…"
# A cut may go back to a blank, as long as it keeps at least this share of what would fit.
_NEAR = 0.7
# The Unicode pictures of control characters (U+2400 on) are missing from many fonts; names in guillemets are not.
_OPEN, _CLOSE = "\u2039", "\u203a"
_NAMES = {0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL"}
_BEGUN = re.compile(f"{_OPEN}[A-Z]{{0,3}}$|{_OPEN}U\\+[0-9A-F]{{0,6}}$")
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
    """At most `limit` characters of a text, made visible; a cut shows as an ellipsis, between words where one is near.

    >>> beginning("a stale line of cache", 15), beginning("unbroken", 5)
    ('a stale line…', 'unbr…')
    """
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else visible(text[: _head(text, limit - 1)]).rstrip() + ELLIPSIS


def glimpse(text: str, limit: int) -> str:
    """A beginning that is never blank: where blanks are all there is, they are marked.

    >>> glimpse("  ", 5), glimpse(" a", 5)
    ('␣␣', ' a')
    """
    shown = beginning(text, limit)
    return shown if shown.strip() else visible(shown, spaces=True)


def ending(text: str, limit: int) -> str:
    """At most `limit` characters from a text's end, made visible; cut as a beginning is."""
    shown = visible(text[-limit - 1 :])
    return shown if len(shown) <= limit else ELLIPSIS + visible(text[_tail(text, limit - 1) :]).lstrip()


def elided(text: str, limit: int) -> str:
    """A text made visible; where it is longer than `limit`, its middle gives way to a note of what is left out."""
    if len(text) <= limit and len(shown := visible(text)) <= limit:
        return shown
    end, start = _head(text, limit // 2), _tail(text, limit // 2)
    left_out = "1 character" if start - end == 1 else f"{start - end:,} characters"
    return f"{visible(text[:end]).rstrip()} {ELLIPSIS} {left_out} left out {ELLIPSIS} {visible(text[start:]).lstrip()}"


def _head(text: str, room: int) -> int:
    """Where to cut a text that does not fit, so that what is before takes at most `room` when made visible.

    Never inside a mark or between a character and what combines with it; between words where that costs little.
    """
    end = used = 0
    for char in text[:room]:
        used += len(visible(char))
        if used > room:
            break
        end += 1
    return cut(text, end)


def cut(text: str, end: int) -> int:
    """Where to cut a text at `end`, or a little before: between words where one is near, and never inside a mark."""
    if end >= len(text):
        return end
    end -= len(found[0]) if (found := _BEGUN.search(text[max(0, end - 9) : end])) else 0
    while end and _is_joined(text, end):
        end -= 1
    blank = max(text.rfind(blank, 0, end + 1) for blank in " \n")
    return blank if blank >= max(1, end * _NEAR) else end


def _tail(text: str, room: int) -> int:
    """The same from the end: what is after takes at most `room`."""
    start, used = len(text), 0
    for char in reversed(text[max(0, len(text) - room) :]):
        used += len(visible(char))
        if used > room:
            break
        start -= 1
    while 0 < start < len(text) and _is_joined(text, start):
        start += 1
    blanks = [place for blank in " \n" if (place := text.find(blank, max(0, start - 1))) >= 0]
    near = min(blanks, default=len(text))
    return near + 1 if len(text) - near - 1 >= max(1, (len(text) - start) * _NEAR) else start


def _is_joined(text: str, place: int) -> bool:
    """Whether the character at a place belongs to the one before it."""
    return combines(text[place]) or text[place - 1] == "\u200d"


def _seen(char: str) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    code = ord(char)
    if char in _JOINING or 0xE0020 <= code <= 0xE007F:
        return char
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"} or (char != " " and char.isspace())
    return f"{_OPEN}{_NAMES.get(code, f'U+{code:04X}')}{_CLOSE}" if hidden else char
