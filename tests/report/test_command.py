"""A remedy's command can be pasted: the user's own endpoint, as a shell reads it, and nothing of a stranger's."""

from __future__ import annotations

import shlex
from dataclasses import replace

import analysis_samples as samples
import pytest

from temp0.core.run import Address
from temp0.report import document, html, terminal_text
from temp0.report.command import addressed, measured_again

ADDRESS = Address(url="http://127.0.0.1:8000/v1", api="openai-chat", model="a model; rm -rf ~")
BUILTIN = "builtin:SmolLM2?arithmetic=stock"
REMEDY = "do this; then measure again: temp0 probe URL --ask repeatable --exclusive"


def test_the_command_names_the_endpoint_as_a_shell_reads_it() -> None:
    words, command = measured_again(REMEDY, ADDRESS)

    assert words == "do this; then measure again:"
    assert command is not None
    assert shlex.split(command) == [
        *("temp0", "probe", ADDRESS.url, "--model", ADDRESS.model, "--api", "openai-chat"),
        *("--ask", "repeatable", "--exclusive"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "arguments"),
    [
        (Address(url="fake:rate=0.1,seed=7", api="fake", model="fake"), "fake:rate=0.1,seed=7"),
        (Address(url="fake:rate=0.1", api="fake", model="other"), "fake:rate=0.1 --model other"),
        (Address(url=BUILTIN, api="openai-chat", model="SmolLM2"), f"'{BUILTIN}'"),
    ],
)
def test_simulated_and_built_in_endpoints_are_named_by_their_address(address: Address, arguments: str) -> None:
    assert measured_again(REMEDY, address)[1] == f"temp0 probe {arguments} --ask repeatable --exclusive"


@pytest.mark.parametrize(
    "remedy",
    ["raise --max-tokens", "see to it: http-500: temp0 probe URL --store x", "temp0 probe URL --ask company now"],
)
def test_nothing_but_our_own_ending_becomes_a_command(remedy: str) -> None:
    assert measured_again(remedy, ADDRESS) == (remedy, None)
    assert addressed(remedy, ADDRESS) == remedy


def test_where_nothing_can_be_asked_the_remedy_stays_as_it_is() -> None:
    assert measured_again(REMEDY, replace(ADDRESS, url="file:runs.jsonl")) == (REMEDY, None)


def test_every_report_gives_the_same_command() -> None:
    command = "temp0 probe https://api.example.com/v1 --model example-8b --api openai-chat --ask company"
    found = samples.five_prompts()

    assert command in document(found)["causes"][0]["remedy"]
    assert f'<p class="command"><code>{command}</code></p>' in html(found)
    assert command in terminal_text(found, width=120)


def test_a_command_on_a_narrow_terminal_can_be_pasted_as_it_stands() -> None:
    url = f"fake:seed={'x' * 90}"
    found = replace(samples.five_prompts(), address=Address(url=url, api="fake", model="fake"))
    for width in (40, 60, 80):
        lines = terminal_text(found, width=width).splitlines()
        first = next(place for place, line in enumerate(lines) if "temp0 probe" in line)
        pasted = "\n".join(lines[first : first + 2])

        assert shlex.split(pasted.replace("\\\n", "")) == ["temp0", "probe", url, "--ask", "company"]
