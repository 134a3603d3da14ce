"""A gate in words: for a terminal, for a program, for CI, and for a pull request.

Passed, failed, undecided and not measured are told apart everywhere, and never by colour alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from rich.console import Group, RenderableType
from rich.text import Text

from temp0.core.gate import Checked, Gate, Outcome
from temp0.report.card import code, plain
from temp0.report.figure import UNKNOWN, percent, some
from temp0.report.prose import Prose
from temp0.report.table import plain_table
from temp0.report.visible import beginning, visible

_STYLES: dict[Outcome, str] = {"pass": "green", "fail": "red", "undecided": "yellow", "not-measured": "magenta"}
_SIGNS: dict[Outcome, str] = {"pass": "✅", "fail": "❌", "undecided": "❔", "not-measured": "⚠️"}
_PAST: dict[Outcome, str] = {
    "pass": "passed",
    "fail": "failed",
    "undecided": "undecided",
    "not-measured": "not measured",
}
_HEADS = ("endpoint", "prompt", "outcome", "since the baseline", "unlike blocks", "rate")
_WORDS = 90
_ROWS = 500  # GitHub takes a summary of at most 1 MiB


def sentence(gate: Gate) -> str:
    """What the gate says in one sentence."""
    if not gate.checked:
        return "Nothing was checked."
    counts = {kind: sum(one.outcome == kind for one in gate.checked) for kind in _PAST}
    told = [f"{count} {_PAST[kind]}" for kind, count in counts.items() if count]
    return f"Of {some(len(gate.checked), 'prompt')}: {', '.join(told)}."


def gate_screen(gate: Gate, *, cannot: Sequence[str] = ()) -> RenderableType:
    """The gate as a rich renderable."""
    table = plain_table(*_HEADS, right=("unlike blocks",))
    for one in gate.checked:
        table.add_row(
            Text(beginning(one.endpoint, 24)),
            Text(beginning(one.prompt, 24)),
            Text(one.outcome, style=_STYLES[one.outcome]),
            Prose(beginning(one.words, _WORDS)),
            f"{one.unlike} of {one.blocks}" if one.blocks else UNKNOWN,
            Prose(_rate(one)),
        )
    verdict = Text(sentence(gate), style="bold")
    reasons = [Prose(told(one)) for one in gate.checked if one.outcome != "pass"]
    notes = [Prose(f"note: {visible(why)}") for why in (*cannot, *gate.notes)]
    return Group(verdict, "", table, *([""] if reasons else []), *reasons, *notes)


def _rate(one: Checked) -> str:
    if one.low is None or one.high is None:
        return UNKNOWN
    return f"≤ {percent(one.high)}" if not one.unlike else f"{percent(one.low)} to {percent(one.high)}"


def gate_json(gate: Gate, *, exit_code: int, cannot: Sequence[str] = (), runs: Sequence[tuple[str, str]] = ()) -> str:
    """The gate as a JSON document on one line; `runs` are run ids by endpoint."""
    document: dict[str, Any] = {
        "schema": "temp0/check",
        "version": 1,
        "exit_code": exit_code,
        "checked": [asdict(one) for one in gate.checked],
        "cannot": list(cannot),
        "notes": list(gate.notes),
        "runs": [{"endpoint": endpoint, "run": run} for endpoint, run in runs],
    }
    return json.dumps(document, allow_nan=False)


def gate_card(gate: Gate, *, cannot: Sequence[str] = ()) -> str:
    """The gate as Markdown, for a job summary or a pull request; it ends with its newline.

    Of very many prompts only those that did not pass are listed, and of those only the first.
    """
    is_long = len(gate.checked) > _ROWS
    listed = [one for one in gate.checked if not (is_long and one.outcome == "pass")][:_ROWS]
    rows = [
        (
            code(one.endpoint, in_table=True),
            code(one.prompt, in_table=True),
            f"{_SIGNS[one.outcome]} {one.outcome}",
            plain(beginning(one.words, _WORDS)),
            f"{one.unlike} of {one.blocks}" if one.blocks else UNKNOWN,
            plain(_rate(one)),
        )
        for one in listed
    ]
    lines = [_HEADS, tuple("---" for _ in _HEADS), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    reasons = [told(one) for one in listed if one.outcome != "pass"]
    more = [f"{some(len(gate.checked) - len(listed), 'more prompt')} not listed here"] if is_long else []
    notes = "".join(f"\n* {plain(why)}" for why in (*reasons, *more, *cannot, *gate.notes))
    return f"### temp0 check\n\n{plain(sentence(gate))}\n\n{table}\n{notes}\n"


def gate_junit(gate: Gate, *, runs: Sequence[tuple[str, str]] = ()) -> str:
    """The gate as JUnit XML: a failure, an error for what was not measured, skipped for what is undecided.

    `runs` are run ids by endpoint, which become properties of the suite.
    """
    tags: dict[Outcome, str] = {"fail": "failure", "not-measured": "error", "undecided": "skipped"}
    outcomes = [one.outcome for one in gate.checked]
    suite = ElementTree.Element(
        "testsuite",
        name="temp0 check",
        tests=str(len(outcomes)),
        failures=str(outcomes.count("fail")),
        errors=str(outcomes.count("not-measured")),
        skipped=str(outcomes.count("undecided")),
    )
    properties = ElementTree.SubElement(suite, "properties") if runs else suite
    for endpoint, run in runs:
        ElementTree.SubElement(properties, "property", name=f"run of {beginning(endpoint, 60)}", value=visible(run))
    for one in gate.checked:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"temp0.{beginning(one.endpoint, 60)}", name=beginning(one.prompt, 80)
        )
        if one.outcome in tags:
            ElementTree.SubElement(case, tags[one.outcome], type=one.kind, message=told(one))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def told(one: Checked) -> str:
    """One prompt in a line."""
    seen = f"{one.unlike} of {one.blocks} blocks unlike the commonest text" if one.unlike else ""
    words = "; ".join(visible(each) for each in (one.words, seen, one.why) if each)
    return f"{visible(one.endpoint)}, prompt {visible(one.prompt)}: {_PAST[one.outcome]}: {words}"


def github_annotations(gate: Gate, *, path: str, cannot: Sequence[str] = ()) -> str:
    """Lines that GitHub Actions shows beside the settings file and the job; GitHub shows ten of a kind for a step.

    An error for what failed or was not measured, a warning for what is undecided or cannot be, a notice for the rest.
    """
    kinds: dict[Outcome, str] = {"fail": "error", "not-measured": "error", "undecided": "warning"}
    lines = [(kinds[one.outcome], told(one)) for one in gate.checked if one.outcome in kinds]
    lines += [("warning", visible(why)) for why in cannot] + [("notice", visible(why)) for why in gate.notes]
    file = _github(path).replace(":", "%3A").replace(",", "%2C")
    return "".join(f"::{kind} file={file},title=temp0 check::{_github(text)}\n" for kind, text in lines)


def _github(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def gitlab_report(gate: Gate, *, path: str) -> str:
    """GitLab's Code Quality report (JSON): one finding for each prompt that did not pass, at the settings file.

    `path` is the file's, from the root of the repository.
    """
    severities: dict[Outcome, str] = {"fail": "critical", "not-measured": "blocker", "undecided": "minor"}
    findings = [
        {
            "description": told(one),
            "check_name": f"temp0/{one.kind}",
            "fingerprint": hashlib.sha256(json.dumps([one.endpoint, one.prompt, one.kind]).encode()).hexdigest(),
            "severity": severities[one.outcome],
            "location": {"path": path, "lines": {"begin": 1}},
        }
        for one in gate.checked
        if one.outcome in severities
    ]
    return json.dumps(findings, allow_nan=False, indent=1) + "\n"
