"""A real endpoint that somebody else wrote: llama.cpp's server, asked by the real command."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_server import SLOTS

from peers.gguf_copy import write_copy
from temp0.engine.builtin import builtin_weights
from temp0.errors import ModelError

pytestmark = pytest.mark.peer
LISTENING_LINE_MOST = 400


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: make test GROUPS=peer")
    try:
        weights = builtin_weights()
    except ModelError as error:
        pytest.skip(str(error))
    model = tmp_path_factory.mktemp("peer") / "smollm2-bf16.gguf"
    write_copy(weights, model, "BF16")
    command = [sys.executable, str(Path(__file__).with_name("llama_server.py")), str(model), "0"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = (process.stdout.readline() for _ in range(LISTENING_LINE_MOST))
        yield next(line.strip() for line in lines if line.startswith("http"))
        process.stdin.close()


def probe(url: str, folder: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "temp0", "probe", f"{url}/v1", "--json", "--store", str(folder / "runs.db")]
    call = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=280)
    found: dict[str, Any] = json.loads(call.stdout)
    assert found["exit_code"] == call.returncode, call.stderr
    return found


def test_every_attempt_alone_and_in_company_gives_a_completion(server: str, tmp_path: Path) -> None:
    found = probe(
        server, tmp_path, "-n", "8", "--alone", "2", "--max-tokens", "32", "--prompt", "Write a haiku about rain."
    )
    alone, company = found["prompts"][0]["conditions"]
    assert [alone["completions"], company["completions"]] == [2, 8]
    assert alone["failures"] == company["failures"] == []
    known = {"asked": 1, "reached": 1.0, "measured_by": "server"}
    assert {name: alone["company"][name] for name in known} == known
    assert company["company"]["measured_by"] == "server"
    assert company["company"]["reached"] > SLOTS / 2
    assert found["verdict"] in {"agreed", "diverged"}


def test_tokens_and_margins_are_read_from_its_logprobs(server: str, tmp_path: Path) -> None:
    arguments = (
        "-n",
        "2",
        "--company",
        "1",
        "--max-tokens",
        "24",
        "--logprobs",
        "on",
        "--prompt",
        "Say something about 🌧.",
    )
    found = probe(server, tmp_path, *arguments)
    (condition,) = found["prompts"][0]["conditions"]
    assert condition["completions"] == 2
    assert condition["distinct"]["tokens"] == condition["distinct"]["text"]
    assert condition["distinct"]["logprobs"] is not None


def test_its_anthropic_dialect_is_spoken_too(server: str, tmp_path: Path) -> None:
    arguments = ("--api", "anthropic", "-n", "2", "--company", "1", "--max-tokens", "8", "--prompt", "Say hi.")
    found = probe(server, tmp_path, *arguments)
    assert found["prompts"][0]["conditions"][0]["completions"] == 2
    assert [cause["cause"] for cause in found["causes"]] in ([], ["short-window"])
