"""The pytest plugin: a fixture and a marker, and outcomes of their own in the summary.

It costs nothing until it is used: temp0 is imported by the first test that probes, never at collection. Under
pytest-xdist probes of all workers take turns, so that alone means alone. What is undecided or not measured fails the
session with its reason, as a failure does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from temp0.core.analysis import Analysis
    from temp0.core.plan import Prompt

_OUTCOME = "temp0_outcome"
_SHOWN: Mapping[str, tuple[str, str]] = {"undecided": ("U", "UNDECIDED"), "not-measured": ("N", "NOT MEASURED")}
_MARKER = (
    "temp0(**settings): how `temp0_probe` asks in this test: n, company, rate, confidence, undecided, endpoint ..."
)


class Probe:
    """What the fixture gives: call it with a prompt (or several) to assert that the answers agree."""

    def __init__(self, settings: Mapping[str, Any], properties: list[tuple[str, object]], lock: Path) -> None:
        self._settings, self._properties, self._lock = settings, properties, lock

    def __call__(self, prompt: str | Prompt | Sequence[str | Prompt], **settings: Any) -> Analysis:
        """Assert that the answers to `prompt` agree, and give the analysis; see `temp0.assert_agrees`.

        Settings given here go before those of the marker, and these before [tool.temp0.pytest].
        """
        __tracebackhide__ = True
        from temp0.workflow.agreeing import NotAgreedError, UndecidedError, assert_agrees
        from temp0.workflow.settings import header_values

        asked = {**self._settings, **settings}
        if asked.get("headers"):
            asked["headers"] = header_values(asked["headers"], "temp0_probe")
        skips = asked.get("undecided") == "skip"
        if skips:
            asked["undecided"] = "fail"
        try:
            with _turn(self._lock):
                found = assert_agrees(prompt, **asked)
        except NotAgreedError as error:
            self._note(error.analysis, error.outcome)
            if skips and isinstance(error, UndecidedError):
                pytest.skip(str(error).partition("\n")[0])
            raise
        self._note(found, "pass")
        return found

    def _note(self, found: Analysis | None, outcome: str) -> None:
        """Keep what was seen as properties of the test, which JUnit files show."""
        told: list[tuple[str, object]] = [("temp0_outcome", outcome)]
        if found is not None:
            causes = ", ".join(cause.cause for cause in found.causes)
            told += [("temp0_run", found.run), ("temp0_verdict", str(found.verdict)), ("temp0_causes", causes)]
        self._properties.extend(told)


@pytest.fixture
def temp0_probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """Assert that an endpoint answers a prompt alike every time, alone and in company: `temp0_probe("Say hi.")`.

    Set by [tool.temp0.pytest] in pyproject.toml (or temp0.toml) and by `@pytest.mark.temp0(n=30, company=(1, 8), ...)`.
    """
    from temp0.errors import UsageError
    from temp0.workflow.settings import marker_settings, pytest_settings

    settings = dict(pytest_settings(request.config.rootpath))
    for marker in reversed(list(request.node.iter_markers("temp0"))):
        if marker.args:
            raise UsageError(
                f"@pytest.mark.temp0 takes settings by name, such as n=30, and was given {marker.args[0]!r}"
            )
        settings |= marker_settings(marker.kwargs)
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent
    # Not by record_property, which warns of pytest's own default family of JUnit files, though that has them, too.
    return Probe(settings, request.node.user_properties, shared / "temp0.lock")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on the report how an assertion of ours ended, so that the summary can tell the kinds apart."""
    report = yield
    outcome = getattr(call.excinfo.value, "outcome", None) if call.excinfo else None
    if report.failed and outcome in _SHOWN:
        setattr(report, _OUTCOME, outcome)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Count undecided and not measured by themselves; both still fail the session."""
    outcome = getattr(report, _OUTCOME, None)
    if outcome is None:
        return None
    letter, word = _SHOWN[outcome]
    return word.lower(), letter, (word, {"yellow": True})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why, as pytest itself does only of what it counts as failed."""
    if terminalreporter.config.getoption("tbstyle") == "no":
        return
    for _, word in _SHOWN.values():
        reports = terminalreporter.stats.get(word.lower(), [])
        if reports:
            terminalreporter.write_sep("=", word)
        for report in reports:
            terminalreporter.write_sep("_", report.nodeid, yellow=True)
            terminalreporter.write_line(report.longreprtext)


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """One probe at a time over all processes of the session; a lock ends with whoever held it."""
    import fcntl

    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
