"""A price as text, in the form that a door asks for."""

from __future__ import annotations

from temp0.report.tax_schema import tax_json
from temp0.report.tax_screen import tax_terminal

__all__ = ["tax_json", "tax_terminal"]
