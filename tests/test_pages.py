"""The pages for each reader are followed to the letter: their files are written, their commands run in order.

A code block whose first line names a file is that file. A command ends with 0 or 1, or as its comment says (`exit N`).
Only the addresses of the endpoints are ours: a scripted server, or the built-in engine, stands where a page names one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from listening import JsonHandler, listening
from served_engine import served_engine

from temp0.cli.main import temp0

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("evals", "product", "serving", "kernels")
ADDRESSES = re.compile(r"http://127\.0\.0\.1:8000/v1|https://api\.example\.com/v1")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LONGEST_PAGE = 80


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def followed(name: str, folder: Path, address: str) -> None:
    """Do what a page says, in its order."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environ |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    for language, file, content in BLOCK.findall(ADDRESSES.sub(address, page(name))):
        if file:
            (folder / file).write_text(content, encoding="utf-8")
        elif language == "sh":
            exports = [line for line in content.splitlines() if line.startswith("export ")]
            for line in content.splitlines():
                if line in exports:
                    variable, _, value = line.removeprefix("export ").partition("=")
                    environ[variable] = value
                    continue
                call = subprocess.run(
                    ["bash", "-c", line], cwd=folder, env=environ,
                    capture_output=True, text=True, timeout=280, check=False,
                )  # fmt: skip
                assert call.returncode in expected(line), f"{line}\n{call.stdout[-2000:]}{call.stderr[-2000:]}"


def expected(line: str) -> set[int]:
    """The exit codes that a command may end with: what its comment says, else agreed or diverged for a probe."""
    told = re.search(r"# .*?exit (\d)", line)
    if told:
        return {int(told[1])}
    return {0, 1} if line.startswith(("temp0 probe", "temp0 compare last", "temp0 explain")) else {0}


@contextmanager
def steady_server() -> Iterator[str]:
    """An OpenAI-style server that always answers alike, many requests at once."""
    numbers = count()

    class Handler(JsonHandler):
        def listed(self) -> None:
            self.send_json({"data": [{"id": "our-model"}]})

        def answered(self, body: dict[str, Any]) -> None:
            time.sleep(0.1)
            choice = {"index": 0, "message": {"role": "assistant", "content": "Welcome!"}, "finish_reason": "stop"}
            self.send_json({"id": f"c{next(numbers)}", "model": body["model"], "choices": [choice]})

    with listening(Handler) as address:
        yield address


@pytest.mark.parametrize("name", ["evals", "product"])
def test_a_page_for_those_who_ask_others_works_as_written(name: str, tmp_path: Path) -> None:
    with steady_server() as address:
        followed(name, tmp_path, address)


@pytest.mark.model
@pytest.mark.timeout(600)
def test_the_page_for_those_who_serve_works_as_written(tmp_path: Path) -> None:
    with served_engine("--arithmetic", "invariant") as address:
        followed("serving", tmp_path, address)


def test_the_page_for_those_who_write_kernels_works_as_written(tmp_path: Path) -> None:
    followed("kernels", tmp_path, "")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_on_a_screen_or_two_and_its_links_lead_somewhere(name: str) -> None:
    text = page(name)
    assert text.count("\n") <= LONGEST_PAGE
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCS / link).exists(), link


@pytest.mark.parametrize(
    "line", sorted({line for name in PAGES for line in re.findall(r"`(temp0 [a-z][^`]+)`", page(name))})
)
def test_a_command_named_in_passing_takes_the_options_it_is_shown_with(line: str) -> None:
    asked = CliRunner().invoke(temp0, [*shlex.split(line)[1:], "--help"])
    assert asked.exit_code == 0, asked.output


def test_the_readme_leads_every_reader_to_a_page() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert {name for name in PAGES if f"docs/{name}.md" not in readme} == set()
