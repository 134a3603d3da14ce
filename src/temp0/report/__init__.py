"""Shows an analysis, two runs side by side, or a tax: on a terminal, as a page, as a JSON document.

Every function takes a value of `core` and gives text or a renderable back; nothing here prints, writes or asks the
clock, so equal values give equal bytes.
"""

from temp0.report.card import card
from temp0.report.gate import gate_card, gate_json, gate_junit, gate_screen, github_annotations, gitlab_report
from temp0.report.items import items_json, items_screen
from temp0.report.junit import junit
from temp0.report.matrix import matrix_json, matrix_screen
from temp0.report.page import html
from temp0.report.pairing_schema import pairing_json
from temp0.report.pairing_screen import pairing_screen
from temp0.report.schema import document, failure_text, json_text
from temp0.report.screen import rendered, terminal, terminal_text
from temp0.report.second_pass_schema import exit_code as second_pass_exit_code
from temp0.report.second_pass_schema import second_pass_json
from temp0.report.second_pass_screen import second_pass_screen
from temp0.report.tax_schema import tax_json
from temp0.report.tax_screen import tax_terminal

__all__ = [
    "card",
    "document",
    "failure_text",
    "gate_card",
    "gate_json",
    "gate_junit",
    "gate_screen",
    "github_annotations",
    "gitlab_report",
    "html",
    "items_json",
    "items_screen",
    "json_text",
    "junit",
    "matrix_json",
    "matrix_screen",
    "pairing_json",
    "pairing_screen",
    "rendered",
    "second_pass_exit_code",
    "second_pass_json",
    "second_pass_screen",
    "tax_json",
    "tax_terminal",
    "terminal",
    "terminal_text",
]
