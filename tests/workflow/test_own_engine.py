"""A run is followed down only where our own engine answered it, with weights that are here, and from what it read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Run
from temp0.engine.chat import ChatTemplate
from temp0.engine.fingerprint import fingerprint_of
from temp0.workflow.own_engine import NOT_KEPT, OTHER_WEIGHTS, OwnEngine, own_engine

WHOLE = json.dumps({"prompt": "Hi", "messages": [{"role": "developer", "content": "Hi"}], "input": "Hi"}).encode()
TEMPLATE = ChatTemplate("{% for one in messages %}<{{ one.role }}>{{ one.content }}{% endfor %}<assistant>")


def answered(
    *fingerprints: str | None,
    url: str = "http://127.0.0.1:1/v1",
    api: str = "openai-chat",
    sent: bytes | None = WHOLE,
    extra: str = "",
) -> Run:
    """A run of one prompt whose answers name these fingerprints."""
    prompt = Prompt(id="p1", messages=(Message(role="user", content="Hi"),), n=max(1, len(fingerprints)), max_tokens=4)
    attempts = (
        Attempt(
            order=order, prompt="p1", condition="alone", block=order, role="judged", started_s=order, first_byte_s=None,
            ended_s=order + 1,
            in_flight=1, predecessor=None, outcome=Completion(text="Hello", fingerprint=name), sent=sent,
        )
        for order, name in enumerate(fingerprints)
    )  # fmt: skip
    return Run(
        id="run-1",
        created="2026-01-01T00:00:00Z",
        address=Address(url=url, api=api, model="m", extra=extra),
        plan=Plan(prompts=(prompt,), conditions=(Condition(),), seed=0),
        attempts=tuple(attempts),
    )


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and numbers")
    return path


@pytest.mark.parametrize("activations", ["bf16", "fp32"])
@pytest.mark.parametrize("arithmetic", ["stock", "invariant"])
def test_a_served_engine_is_known_by_its_fingerprint(weights: Path, arithmetic: str, activations: str) -> None:
    name = fingerprint_of(weights, arithmetic=arithmetic, activations=activations)
    found = own_engine(answered(name, name), weights)
    assert isinstance(found, OwnEngine)
    assert (found.arithmetic, found.activations) == (arithmetic, activations)


def test_other_weights_are_said(weights: Path) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    weights.write_bytes(b"GGUF and other numbers")
    assert own_engine(answered(name), weights) == OTHER_WEIGHTS


@pytest.mark.parametrize(
    ("api", "url", "read"),
    [
        ("openai-chat", "", "<system>Hi<assistant>"),
        ("vllm", "", "<system>Hi<assistant>"),
        ("openai-completions", "", "Hi"),
        ("openai-completions", "/completions", "Hi"),
        ("openai-responses", "", "<user>Hi<assistant>"),
    ],
)
def test_what_was_read_is_what_the_door_of_the_dialect_makes_of_the_body(
    weights: Path, api: str, url: str, read: str
) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    found = own_engine(answered(name, api=api, url=f"http://127.0.0.1:1/v1{url}"), weights)
    assert isinstance(found, OwnEngine)
    assert found.text_read("p1", TEMPLATE) == read


def test_an_answer_that_was_begun_is_read_as_begun(weights: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hel"}]
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    for api, asked in (("anthropic", {}), ("openai-chat", {"continue_final_message": True})):
        sent = json.dumps({"messages": turns, **asked}).encode()
        found = own_engine(answered(name, api=api, sent=sent), weights)
        assert isinstance(found, OwnEngine)
        assert found.text_read("p1", TEMPLATE) == "<user>Hi<assistant>Hel"


def test_a_run_that_does_not_keep_its_bodies_is_not_followed_down(weights: Path) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    assert own_engine(answered(name, sent=None), weights) == NOT_KEPT


def test_fields_of_the_users_own_that_change_answers_are_said(weights: Path) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    assert "stop was sent beside it" in str(own_engine(answered(name, extra='{"stop":"x","top_k":1}'), weights))
    assert isinstance(own_engine(answered(name, extra='{"top_k":1}'), weights), OwnEngine)


@pytest.mark.parametrize("told", [(None,), ("fp_44",), ("temp0-0", "temp0-1"), ("temp0-0", None), ()])
def test_another_engine_is_not_ours(told: tuple[str | None, ...], weights: Path) -> None:
    assert own_engine(answered(*told), weights) is None


def test_a_built_in_address_says_all_there_is() -> None:
    run = answered(None, url="builtin:some model?arithmetic=invariant")
    found = own_engine(run)
    assert isinstance(found, OwnEngine)
    assert (found.arithmetic, found.model) == ("invariant", "some model")
    assert found.text_read("p1", TEMPLATE) == "<system>Hi<assistant>"


def test_weights_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    assert "none.gguf" in str(own_engine(answered("temp0-0123456789ab"), tmp_path / "none.gguf"))
    assert "only safetensors are read" in str(own_engine(answered("temp0-0123456789ab"), tmp_path))
