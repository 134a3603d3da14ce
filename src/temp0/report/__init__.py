"""Shows an analysis: on a terminal, as a page, as a JSON document.

Every function takes an `Analysis` and gives text back; nothing here prints, writes or asks the clock, so equal
analyses give equal bytes.
"""

from temp0.report.page import html
from temp0.report.schema import document, failure_text, json_text
from temp0.report.screen import terminal, terminal_text

__all__ = ["document", "failure_text", "html", "json_text", "terminal", "terminal_text"]
