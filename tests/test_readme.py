"""The README is followed to the letter."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from temp0.cli.main import VERBS, temp0
from temp0.probe.dialect.reason import REASONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip() for _, code in CODE for line in code.splitlines() if line.startswith(("temp0 ", "make "))
]


PYTHON = [code for language, code in CODE if language == "python"]


def test_the_library_asks_as_printed() -> None:
    assert re.match(r"(diverged|agreed) \[\d+", printed(next(code for code in PYTHON if "temp0.ask" in code)))


@pytest.mark.model
def test_the_engine_answers_as_printed() -> None:
    assert "proverb" in printed(next(code for code in PYTHON if "Engine.load" in code))


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("temp0 ")])
def test_a_command_takes_the_options_it_is_shown_with(line: str) -> None:
    verb, *arguments = shlex.split(line)[1:]
    asked = CliRunner().invoke(temp0, [verb, *arguments, "--help"])
    assert asked.exit_code == 0, asked.output


def test_the_simulated_endpoint_runs_as_printed(tmp_path: Path) -> None:
    (line,) = [line for line in COMMANDS if "fake:" in line]
    store = ["--store", str(tmp_path / "runs.db"), "-n", "4"]
    run = subprocess.run(
        [sys.executable, "-m", *shlex.split(line), *store], capture_output=True, text=True, check=False
    )
    assert run.returncode in {0, 1}
    assert "fork at char" in run.stdout or run.returncode == 0


def test_make_has_the_targets_it_is_shown_with() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {line.split()[1] for line in COMMANDS if line.startswith("make ")}
    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_every_reason_of_a_failure_is_documented() -> None:
    measuring = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
    assert {reason for reason in REASONS if f"`{reason}`" not in measuring} == set()


def test_every_verb_is_in_the_readme() -> None:
    assert {verb for verb in VERBS if f"temp0 {verb}" not in README} == set()


def test_every_exit_code_is_in_the_readme() -> None:
    assert {code for code in ("0", "1", "2", "3", "4", "70") if not re.search(rf"\b{code} \w", README)} == set()
