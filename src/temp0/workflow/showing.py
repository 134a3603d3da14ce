"""An analysis or a tax as text, in the form that a door asks for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from temp0.core.analysis import Analysis
from temp0.core.descent import Descent
from temp0.core.second_pass import SecondPass
from temp0.errors import UsageError
from temp0.report import (
    card,
    failure_text,
    gate_card,
    gate_json,
    gate_junit,
    gate_screen,
    github_annotations,
    gitlab_report,
    html,
    json_text,
    junit,
    rendered,
    second_pass_exit_code,
    second_pass_json,
    second_pass_screen,
    tax_json,
    tax_terminal,
    terminal,
    terminal_text,
)

__all__ = [
    "SUFFIXES",
    "Form",
    "check_writable",
    "failure_text",
    "gate_card",
    "gate_json",
    "gate_junit",
    "gate_screen",
    "github_annotations",
    "gitlab_report",
    "rendered",
    "second_pass_exit_code",
    "second_pass_json",
    "second_pass_screen",
    "shown",
    "tax_json",
    "tax_terminal",
    "terminal",
    "terminal_text",
    "write_explanation",
    "write_report",
    "write_text",
]

Form = Literal["html", "json", "md", "junit"]
SUFFIXES: dict[Form, str] = {"html": "html", "json": "json", "md": "md", "junit": "xml"}


def shown(analysis: Analysis, form: Form, *, store: Path | None = None) -> str:
    """The analysis as a page, a JSON document, a card or JUnit XML; `store` is where its run is kept."""
    kept = None if store is None else str(store)
    match form:
        case "html":
            return html(analysis, store=kept)
        case "md":
            return card(analysis, store=kept)
        case "junit":
            return junit(analysis)
        case "json":
            return json_text(analysis) + "\n"


def check_writable(path: Path) -> None:
    """Raise `UsageError` where a report could not be written, before anything is paid for it."""
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {path}; name a file in a folder that exists and can be written")


def write_report(analysis: Analysis, form: Form, path: Path, *, store: Path | None = None) -> None:
    """Write the analysis into a file. Raises `UsageError` where that cannot be."""
    write_text(path, shown(analysis, form, store=store))


def write_explanation(
    analysis: Analysis,
    second: SecondPass,
    descents: Sequence[Descent],
    path: Path,
    *,
    store: Path | None = None,
) -> None:
    """Write the page of an analysis with its explanation. Raises `UsageError` where that cannot be."""
    kept = None if store is None else str(store)
    write_text(path, html(analysis, store=kept, second=second, descents=descents))


def write_text(path: Path, text: str, *, append: bool = False) -> None:
    """Write a text into a file, or at its end. Raises `UsageError` where that cannot be."""
    try:
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file") from error
