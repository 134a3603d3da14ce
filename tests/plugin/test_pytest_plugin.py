"""The plugin as a user has it: a project of its own, pytest in a process of its own."""

from __future__ import annotations

import os
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


def test_junit_files_have_the_outcome_and_the_run_as_properties(tmp_path):
    run_pytest(tmp_path, "--junit-xml", "j.xml", "-o", "junit_family=xunit1", test=asks(VARYING))
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
    loaded = {name for name in sys.modules if name.split(".")[0] in {"temp0", "numpy", "aiohttp", "scipy", "rich"}}
    assert loaded == {"temp0", "temp0.pytest_plugin"}
"""
    call = run_pytest(tmp_path, "-q", "-p", "no:xdist", test=test)
    assert call.returncode == 0, call.stdout


def test_the_plain_function_works_without_the_fixture(tmp_path):
    test = (
        f"import temp0\ndef test_it():\n    temp0.assert_agrees('Say hi.', endpoint={STEADY!r}, n=4, company=(1, 2))\n"
    )
    assert run_pytest(tmp_path, "-q", test=test).returncode == 0
