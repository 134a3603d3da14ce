"""A run is followed down only where our own engine answered it, with weights that are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Completion, Run
from temp0.engine.fingerprint import fingerprint_of
from temp0.workflow.own_engine import OTHER_WEIGHTS, OwnEngine, own_engine


def answered(*fingerprints: str | None, url: str = "http://127.0.0.1:1/v1", api: str = "openai-chat") -> Run:
    """A run of one prompt whose answers name these fingerprints."""
    prompt = Prompt(id="p1", messages=(Message(role="user", content="Hi"),), n=max(1, len(fingerprints)), max_tokens=4)
    attempts = (
        Attempt(
            order=order, prompt="p1", condition="alone", block=order, role="judged", started_s=order, first_byte_s=None,
            ended_s=order + 1,
            in_flight=1, predecessor=None, outcome=Completion(text="Hello", fingerprint=name),
        )
        for order, name in enumerate(fingerprints)
    )  # fmt: skip
    return Run(
        id="run-1",
        created="2026-01-01T00:00:00Z",
        address=Address(url=url, api=api, model="m"),
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
    assert own_engine(answered(name, name), weights) == OwnEngine(arithmetic=arithmetic, activations=activations)


def test_other_weights_are_said(weights: Path) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    weights.write_bytes(b"GGUF and other numbers")
    assert own_engine(answered(name), weights) == OTHER_WEIGHTS


def test_an_answer_of_a_raw_text_is_not_followed_down(weights: Path) -> None:
    name = fingerprint_of(weights, arithmetic="stock", activations="bf16")
    assert "only chats are followed down" in str(own_engine(answered(name, api="openai-completions"), weights))


@pytest.mark.parametrize("told", [(None,), ("fp_44",), ("temp0-0", "temp0-1"), ("temp0-0", None), ()])
def test_another_engine_is_not_ours(told: tuple[str | None, ...], weights: Path) -> None:
    assert own_engine(answered(*told), weights) is None


def test_a_built_in_address_says_all_there_is() -> None:
    run = answered(None, url="builtin:some model?arithmetic=invariant")
    assert own_engine(run) == OwnEngine(arithmetic="invariant", model="some model")


def test_weights_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    assert "none.gguf" in str(own_engine(answered("temp0-0123456789ab"), tmp_path / "none.gguf"))
    assert "only safetensors are read" in str(own_engine(answered("temp0-0123456789ab"), tmp_path))
