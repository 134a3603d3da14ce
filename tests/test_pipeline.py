"""The composite action and the example workflows: they parse, and their commands are run or held against the CLI."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from temp0.cli.main import temp0

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / "docs" / "ci").glob("*.yml"))
SETTINGS = '[check]\nn = 4\ncompany = [1, 2]\nprompts = ["Why?"]\n[[check.endpoints]]\nurl = "fake:{how}"\n'


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def scripts(value: object) -> Iterator[str]:
    """Every shell command of a workflow."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in {"run", "script", "after_script"}:
                yield from [inner] if isinstance(inner, str) else inner
            else:
                yield from scripts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scripts(inner)


COMMANDS = [
    line.replace('"$RUNNER_TEMP/temp0/bin/temp0"', "temp0")
    for path in [*WORKFLOWS, ROOT / "action.yml"]
    for script in scripts(parsed(path))
    for line in script.replace("\\\n", " ").splitlines()
    if re.match(r'("\$RUNNER_TEMP/temp0/bin/temp0"|temp0) ', line)
]


def test_there_is_a_workflow_for_each_forge() -> None:
    assert [path.stem for path in WORKFLOWS] == ["github", "gitlab"]
    assert len(COMMANDS) == 4


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_a_workflow_takes_its_flags(line: str) -> None:
    line = re.sub(r"\$\{SETTINGS:\+(.*?)\}", r"\1", line).split("||")[0]
    asked = CliRunner().invoke(temp0, [*shlex.split(line)[1:], "--help"])
    assert asked.exit_code == 0, asked.output
    flags = set(re.findall(r"--[a-z]+", asked.output))
    assert set(re.findall(r"--[a-z]+", line)) <= flags


def test_the_workflow_gives_the_action_only_inputs_that_it_has() -> None:
    (step,) = [
        one
        for one in parsed(ROOT / "docs" / "ci" / "github.yml")["jobs"]["check"]["steps"]
        if "temp0@" in one.get("uses", "")
    ]
    assert set(step.get("with", {})) <= set(parsed(ROOT / "action.yml")["inputs"])


def test_what_the_action_installs_from_is_there() -> None:
    install, _ = parsed(ROOT / "action.yml")["runs"]["steps"]
    assert re.findall(r'"\$SOURCE([^"]*)"', install["run"]) == ["", "/model.txt"]
    assert (ROOT / "model.txt").is_file()


def test_a_second_gate_of_one_job_finds_temp0_installed(tmp_path: Path) -> None:
    installed = tmp_path / "temp0" / "bin" / "temp0"
    installed.parent.mkdir(parents=True)
    installed.touch(mode=0o755)
    install, _ = parsed(ROOT / "action.yml")["runs"]["steps"]
    environ = {"RUNNER_TEMP": str(tmp_path), "PYTHON": "no-such-python", "SOURCE": "no-such-source", "MODEL": "false"}
    again = ["bash", "-eo", "pipefail", "-c", install["run"]]
    assert subprocess.run(again, env={**os.environ, **environ}, check=False).returncode == 0
    installed.unlink()
    assert subprocess.run(again, env={**os.environ, **environ}, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize(("how", "code"), [("delay_ms=30", 0), ("variants=3,rate=0.5,seed=3", 1), ("fail_rate=1", 3)])
def test_the_actions_check_ends_with_the_gates_exit_code_and_leaves_its_files(
    tmp_path: Path, how: str, code: int
) -> None:
    (tmp_path / "temp0" / "bin").mkdir(parents=True)
    (tmp_path / "temp0" / "bin" / "temp0").symlink_to(Path(sys.executable).parent / "temp0")
    (tmp_path / "gate.toml").write_text(SETTINGS.format(how=how), encoding="utf-8")
    _, check = parsed(ROOT / "action.yml")["runs"]["steps"]
    call = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", check["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "SETTINGS": "gate.toml",
            "JUNIT": "temp0.xml",
            "STORE": "temp0-runs.db",
        },
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert call.returncode == code, call.stderr
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert {"temp0.xml", "summary.md", "temp0-runs.db"} <= {path.name for path in tmp_path.iterdir()}
    assert ("::error" in call.stderr) == (code != 0)
