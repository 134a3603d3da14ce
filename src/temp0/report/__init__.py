"""Shows an analysis: on a terminal, as a page, as a JSON document.

Every function takes an `Analysis` and gives text back; nothing here prints, writes or asks the clock, so equal
analyses give equal bytes.
"""

from temp0.report.page import html
from temp0.report.pairing_schema import pairing_json
from temp0.report.pairing_screen import pairing_screen
from temp0.report.schema import document, failure_text, json_text
from temp0.report.screen import rendered, terminal, terminal_text

__all__ = [
    "document",
    "failure_text",
    "html",
    "json_text",
    "pairing_json",
    "pairing_screen",
    "rendered",
    "terminal",
    "terminal_text",
]
