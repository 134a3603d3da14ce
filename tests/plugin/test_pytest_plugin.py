"""The plugin as a user has it: a project of its own, pytest in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

STEADY = "fake:variants=1,delay_ms=50,seed=3"
VARYING = "fake:variants=3,rate=0.5,seed=3"


def run_pytest(folder: Path, *arguments: str, test: str, settings: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\naddopts = '-p no:cacheprovider'\n{settings}")
    (folder / "test_it.py").write_text(test)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    )  # fmt: skip


def asks(endpoint: str, **settings: object) -> str:
    """A test that probes an endpoint."""
    more = "".join(f", {name}={value!r}" for name, value in settings.items())
    return f"def test_it(temp0_probe):\n    temp0_probe('Say hi.', endpoint={endpoint!r}, n=4, company=(1, 2){more})\n"


def test_answers_that_agree_pass(tmp_path):
    call = run_pytest(tmp_path, "-q", test=asks(STEADY))
    assert call.returncode == 0, call.stdout
    assert "1 passed" in call.stdout


def test_answers_that_differ_fail_with_the_fork_tree_and_the_cause(tmp_path):
    call = run_pytest(tmp_path, "-q", test=asks(VARYING))
    assert call.returncode == 1
    assert "DivergedError: fail: prompt p1:" in call.stdout
    assert "fork at char" in call.stdout
    assert "Why" in call.stdout


def test_undecided_and_not_measured_are_counted_by_themselves_and_fail_the_session(tmp_path):
    test = asks("fake:variants=1,seed=3", rate=0.01).replace("test_it", "test_unsure")
    test += asks("http://127.0.0.1:9/v1", model="m").replace("test_it", "test_gone")
    call = run_pytest(tmp_path, "-q", test=test)
    assert call.returncode == 1
    assert "1 undecided" in call.stdout
    assert "1 not measured" in call.stdout
    assert "passed" not in call.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_undecided_and_not_measured_are_explained_as_failures_are(tmp_path, workers):
    test = asks("fake:variants=1,delay_ms=50,seed=3", rate=0.01).replace("test_it", "test_unsure")
    test += asks("http://127.0.0.1:9/v1", model="m").replace("test_it", "test_gone")
    call = run_pytest(tmp_path, "-q", *workers, test=test)
    unsure = call.stdout.partition(" UNDECIDED ")[2]
    assert "test_it.py::test_unsure" in unsure
    assert "of blocks may be unlike, and 1.0% is tolerated" in unsure
    assert "test_it.py::test_gone" in unsure.partition(" NOT MEASURED ")[2]
    assert "Connection refused" in unsure
    assert "def assert_agrees" not in call.stdout
    assert "tolerated" not in run_pytest(tmp_path, "-q", "--tb=no", *workers, test=test).stdout


def test_one_answer_that_did_not_come_is_asked_for_once_more_and_many_are_an_outage(tmp_path):
    flaky = "fake:variants=1,delay_ms=50,seed={seed},fail_rate={rate}"
    test = f"""
def test_few(temp0_probe):
    found = temp0_probe("Say hi.", endpoint={flaky.format(seed=3, rate=0.1)!r}, n=20, company=1)
    assert sum(tally.count for one in found.prompts[0].conditions for tally in one.failures) > 0
def test_many(temp0_probe):
    temp0_probe("Say hi.", endpoint={flaky.format(seed=2, rate=0.6)!r}, n=20, company=1)
"""
    call = run_pytest(tmp_path, "-q", test=test)
    assert "1 passed" in call.stdout
    assert "1 not measured" in call.stdout
    assert "of 20 answers came" in call.stdout


def test_a_limit_on_requests_is_never_a_smaller_pass(tmp_path):
    call = run_pytest(tmp_path, "-q", test=asks(STEADY, max_requests=5))
    assert "1 not measured" in call.stdout


def test_ctrl_c_ends_the_session_and_not_the_test_alone(tmp_path):
    test = """
def test_first(temp0_probe):
    how = {"endpoint": "fake:delay_ms=200", "n": 500, "company": 1}
    temp0_probe("Say hi.", on_attempt=lambda _: print("ASKED", flush=True), **how)
def test_second():
    print("BEGAN", flush=True)
"""
    (tmp_path / "test_it.py").write_text(test)
    session = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-s"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert session.stdout is not None
    while "ASKED" not in session.stdout.readline():
        assert session.poll() is None
    session.send_signal(signal.SIGINT)
    rest = session.communicate(timeout=120)[0]
    assert session.returncode == pytest.ExitCode.INTERRUPTED, rest
    assert "BEGAN" not in rest


def test_a_server_that_is_down_is_not_measured_and_an_address_that_cannot_be_right_is_an_error(tmp_path):
    test = asks("http://127.0.0.1:9/v1").replace("test_it", "test_down")
    test += asks("ftp://127.0.0.1/v1").replace("test_it", "test_wrong")
    call = run_pytest(tmp_path, "-q", test=test)
    assert "1 failed" in call.stdout
    assert "1 not measured" in call.stdout
    assert "begins with 'ftp'" in call.stdout


@pytest.mark.parametrize(("undecided", "told"), [("skip", "1 skipped"), ("pass", "1 passed")])
def test_what_is_done_when_undecided_can_be_set(tmp_path, undecided, told):
    call = run_pytest(tmp_path, "-q", test=asks("fake:variants=1,seed=3", rate=0.01, undecided=undecided))
    assert call.returncode == 0, call.stdout
    assert told in call.stdout


def test_the_nearest_marker_goes_before_the_file_and_the_file_before_our_defaults(tmp_path):
    settings = f"[tool.temp0.pytest]\nendpoint = '{STEADY}'\nn = 3\ncompany = [1]\n"
    test = """
import pytest
def test_file(temp0_probe):
    assert temp0_probe("Say hi.").requests == 3
@pytest.mark.temp0(n=5)
def test_marker(temp0_probe):
    assert temp0_probe("Say hi.").requests == 5
    assert temp0_probe("Say hi.", n=2).requests == 2
"""
    call = run_pytest(tmp_path, "-q", "--strict-markers", test=test, settings=settings)
    assert call.returncode == 0, call.stdout


def test_a_setting_that_cannot_be_right_is_named(tmp_path):
    call = run_pytest(tmp_path, "-q", test=asks(STEADY), settings="[tool.temp0.pytest]\ncompany = 0\n")
    assert call.returncode == 1
    assert "`pytest.company`" in call.stdout


def test_markers_and_arguments_that_cannot_be_right_are_refused_by_name(tmp_path):
    markers = {
        "30": "takes settings by name, such as n=30, and was given 30",
        "m=30": "unknown field `m`",
        "n='x'": "Expected `int | null`, got `str` - at `n`",
        "undecided='maybe'": "Invalid enum value 'maybe' - at `undecided`",
    }
    arguments = {
        "m=30": "assert_agrees() takes no argument 'm'",
        "undecided='maybe'": "undecided is 'maybe', expected 'fail' or 'pass'",
        "rate='x'": "rate is 'x' and confidence 0.95, expected numbers",
        "confidence=1": "rate is 0.0 and confidence 1, expected numbers",
        "headers={'Authorization': '$NO_SUCH_VARIABLE'}": "wants the variable NO_SUCH_VARIABLE",
    }
    told = [f"@pytest.mark.temp0({one})\ndef test_m{at}(temp0_probe): pass\n" for at, one in enumerate(markers)]
    told += [f"def test_a{at}(temp0_probe): temp0_probe('Hi', {one})\n" for at, one in enumerate(arguments)]
    call = run_pytest(tmp_path, "-q", "--strict-markers", test="import pytest\n" + "".join(told))
    assert f"{len(arguments)} failed" in call.stdout
    assert f"{len(markers)} errors" in call.stdout
    for why in (*markers.values(), *arguments.values()):
        assert why in call.stdout


def test_settings_at_the_root_of_the_repository_hold_in_the_folders_below(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "temp0.toml").write_text(f"[pytest]\nendpoint = '{STEADY}'\nn = 3\ncompany = 1\n")
    below = tmp_path / "tests"
    below.mkdir()
    test = "def test_it(temp0_probe):\n    assert temp0_probe('Say hi.').requests == 3\n"
    call = run_pytest(below, "-q", test=test)
    assert call.returncode == 0, call.stdout


def test_classes_parameters_and_coroutines_are_tests_as_any_other(tmp_path):
    test = """
import unittest
import asyncio
import pytest
@pytest.mark.temp0(n=3)
class TestMarked:
    def test_outer(self, temp0_probe):
        assert temp0_probe("Say hi.").requests == 3
    @pytest.mark.temp0(n=2)
    def test_inner(self, temp0_probe):
        assert temp0_probe("Say hi.").requests == 2
@pytest.mark.parametrize("prompt", ["Say hi.", "Say ho."])
def test_each(temp0_probe, prompt):
    temp0_probe(prompt)
class Old(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _given(self, temp0_probe):
        self.probe = temp0_probe
    def test_old(self):
        self.probe("Say hi.")
def test_inside_a_loop(temp0_probe):
    async def probe():
        return temp0_probe("Say hi.")
    assert asyncio.run(probe()).requests == 4
"""
    settings = f"[tool.temp0.pytest]\nendpoint = '{STEADY}'\nn = 4\ncompany = 1\n"
    call = run_pytest(tmp_path, "-q", "--strict-markers", test=test, settings=settings)
    assert call.returncode == 0, call.stdout
    assert "6 passed" in call.stdout


def test_junit_files_have_the_outcome_and_the_run_as_properties(tmp_path):
    editable = "ignore::pytest.PytestAssertRewriteWarning"
    call = run_pytest(tmp_path, "-W", "error", "-W", editable, "--junit-xml", "j.xml", test=asks(VARYING))
    assert "1 failed" in call.stdout
    assert "error" not in call.stdout.splitlines()[-1]
    properties = ElementTree.parse(tmp_path / "j.xml").getroot().iter("property")
    told = {one.get("name"): one.get("value") for one in properties}
    assert told["temp0_outcome"] == "fail"
    assert told["temp0_verdict"] == "diverged"
    assert told["temp0_run"]


def test_workers_of_xdist_take_turns_so_that_alone_is_alone(tmp_path):
    test = """
import time
import pytest
@pytest.mark.parametrize("number", range(4))
def test_it(temp0_probe, number, tmp_path_factory):
    began = time.time()
    temp0_probe("Say hi.", endpoint="fake:variants=1,delay_ms=100,seed=3", n=3, company=1)
    with (tmp_path_factory.getbasetemp().parent / "spans").open("a") as file:
        file.write(f"{time.time()} ok\\n")
"""
    call = run_pytest(tmp_path, "-q", "-n", "2", "--basetemp", str(tmp_path / "base"), test=test)
    assert call.returncode == 0, call.stdout
    assert "4 passed" in call.stdout
    ends = sorted(float(line.split()[0]) for line in (tmp_path / "base" / "spans").read_text().splitlines())
    assert all(later - earlier > 0.25 for earlier, later in pairwise(ends))


def test_collecting_imports_nothing_of_temp0_but_the_plugin_itself(tmp_path):
    test = """
import sys
from itertools import pairwise
def test_nothing_is_loaded():
    heavy = {"numpy", "scipy", "aiohttp", "sqlalchemy", "rich", "click", "jinja2", "msgspec", "tokenizers", "gguf"}
    loaded = {name for name in sys.modules if name.split(".")[0] in {"temp0", *heavy}}
    assert loaded == {"temp0", "temp0.pytest_plugin"}
"""
    call = run_pytest(tmp_path, "-q", "-p", "no:xdist", test=test)
    assert call.returncode == 0, call.stdout


def test_the_plain_function_works_without_the_fixture(tmp_path):
    test = (
        f"import temp0\ndef test_it():\n    temp0.assert_agrees('Say hi.', endpoint={STEADY!r}, n=4, company=(1, 2))\n"
    )
    assert run_pytest(tmp_path, "-q", test=test).returncode == 0
