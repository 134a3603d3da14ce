"""A real server that somebody else wrote, asked in every dialect that it speaks: one model, one answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import test_llama_server

from temp0.core.plan import Message
from temp0.core.run import Completion, Question
from temp0.probe.dialect import DIALECTS
from temp0.probe.endpoint import ColdMeans, Endpoint
from temp0.probe.opening import open_endpoint

pytestmark = pytest.mark.peer
llama = test_llama_server.server

TEXT = "Say something short about \U0001f327 and é."
MOST_TOKENS = 16
OF_MESSAGES = [name for name in ("openai-chat", "openai-responses", "anthropic") if name in DIALECTS]
OF_TEXT = [name for name in ("llamacpp", "openai-completions") if name in DIALECTS]
SPOKEN = OF_MESSAGES + OF_TEXT
# Its responses refuse `top_logprobs` for want of a `logprobs` that OpenAI's dialect has not.
WITH_LOGPROBS = [name for name in SPOKEN if DIALECTS[name].can_logprobs and name != "openai-responses"]


def templated(url: str) -> str:
    """The text that the server makes of our message."""
    body = json.dumps({"messages": [{"role": "user", "content": TEXT}]}).encode()
    request = urllib.request.Request(f"{url}/apply-template", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        prompt: str = json.load(reply)["prompt"]
    return prompt


async def asked(endpoint: Endpoint, text: str, *, is_cold: bool, stream: bool, logprobs: bool) -> Completion:
    question = Question(
        messages=(Message(role="user", content=text),),
        max_tokens=MOST_TOKENS,
        stream=stream,
        logprobs=logprobs,
        cache="cold" if is_cold else "as-found",
    )
    outcome = (await endpoint.complete(question)).outcome
    assert isinstance(outcome, Completion), outcome
    return outcome


def answers(url: str, name: str, *, logprobs: bool = False, warm: bool = False) -> tuple[Completion, Completion]:
    """The same question whole and streamed, with a cold cache where the dialect can say so, else a warm one."""
    text = templated(url) if name in OF_TEXT else TEXT

    async def both() -> tuple[Completion, Completion]:
        endpoint = await open_endpoint(url, api=name, environ=dict(os.environ))
        try:
            is_cold = isinstance(await endpoint.cold_means(), ColdMeans) and not warm
            if not is_cold:
                await asked(endpoint, text, is_cold=False, stream=False, logprobs=logprobs)
            whole = await asked(endpoint, text, is_cold=is_cold, stream=False, logprobs=logprobs)
            return whole, await asked(endpoint, text, is_cold=is_cold, stream=True, logprobs=logprobs)
        finally:
            await endpoint.close()

    return asyncio.run(both())


@pytest.fixture(scope="module")
def chat(llama: str) -> Completion:
    """The answer in the usual dialect."""
    return answers(llama, "openai-chat", logprobs=True)[0]


@pytest.mark.parametrize("name", SPOKEN)
def test_a_streamed_answer_is_the_whole_one_in_every_dialect(llama: str, name: str) -> None:
    whole, streamed = answers(llama, name)
    assert whole.text
    assert (streamed.text, streamed.finish) == (whole.text, whole.finish)
    assert (streamed.reasoning, streamed.tool_calls) == (whole.reasoning, whole.tool_calls)
    # Its stream of messages has no opening, and so no model, where the first token is a part of a character.
    assert streamed.model == (None if name == "anthropic" else whole.model)
    assert whole.usage.completion == MOST_TOKENS


@pytest.mark.parametrize("name", SPOKEN)
def test_one_prompt_has_one_answer_in_every_dialect(llama: str, chat: Completion, name: str) -> None:
    """A text dialect is given the prompt as the server's own template makes it.

    Whether a warm cache gives another text is up to the machine, and not every dialect can ask for a cold one.
    """
    whole, _ = answers(llama, name)
    assert whole.text in {chat.text, answers(llama, "openai-chat", warm=True)[0].text}
    assert whole.usage.prompt == chat.usage.prompt


@pytest.mark.parametrize("name", WITH_LOGPROBS)
def test_logprobs_are_the_same_streamed_or_not_and_in_every_dialect(llama: str, chat: Completion, name: str) -> None:
    """Bit for bit, with one request in flight and a cold cache each time."""
    whole, streamed = answers(llama, name, logprobs=True)
    assert whole.tokens is not None
    assert streamed.tokens == whole.tokens
    assert chat.tokens is not None
    assert [(token.bytes, token.logprob) for token in whole.tokens] == [
        (token.bytes, token.logprob) for token in chat.tokens
    ]
    assert all(len(token.top) == 5 for token in whole.tokens)


def test_the_native_dialect_is_told_by_the_path_and_judged_like_any_other(llama: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "temp0",
        "probe",
        f"{llama}/completion",
        "--json",
        "--store",
        str(tmp_path / "r.db"),
    ]
    arguments = ["--prompt", "Once upon a time", "--company", "1", "-n", "2", "--max-tokens", "8", "--logprobs", "both"]
    call = subprocess.run(
        [*command, *arguments, "--cache", "cold"], capture_output=True, text=True, check=False, timeout=280
    )
    found: dict[str, Any] = json.loads(call.stdout)
    assert found["endpoint"]["api"] == "llamacpp", call.stderr
    assert [one["completions"] for one in found["prompts"][0]["conditions"]] == [2, 2]
    assert found["prompts"][0]["distinct"]["text"] == 1
    assert [cause["cause"] for cause in found["causes"]] == ["short-window"]
