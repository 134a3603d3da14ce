"""GGUF files of every supported family against llama.cpp, which reads them too; by tolerance, never by bits."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_family import CONTEXT, FAMILIES, TEXTS, Family, gguf_tensors, weights_of, write_family_gguf
from tiny_pieces import write_pieces_gguf

from temp0.engine import Emission, Engine, Request
from temp0.engine.checkpoint import Array
from temp0.engine.tokenizer import Tokenizer
from temp0.engine.weights import read_checkpoint

pytestmark = pytest.mark.peer
xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")

PROMPTS = ("Hello, world", "def main():\n    return 17", "1 + 1 = ")
# llama.cpp keeps keys and values in f16, which moved no logprob by more than 0.011; a wrong rotation moves them by 1.
CLOSE = 0.03


def llama_cpp(weights: Path) -> Any:
    """Its server on a free port of this process."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.warmup = False
    parameters.cpuparams.n_threads = 1
    return xllamacpp.Server(parameters)


def post(server: Any, path: str, body: object) -> Any:
    request = urllib.request.Request(
        server.listening_address + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def most_likely(server: Any, prompt: list[int]) -> dict[int, float]:
    """The ten most likely tokens after a prompt, with their logprobs."""
    body = {"prompt": prompt, "n_predict": 1, "temperature": 0, "n_probs": 10, "post_sampling_probs": False}
    said = post(server, "/completion", body)["completion_probabilities"][0]
    return {token["id"]: token["logprob"] for token in said["top_logprobs"]}


def _bf16(numbers: Array) -> Array:
    """Cut to bf16, so that llama.cpp, which rounds no weight, has ours."""
    return (numbers.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_likeliest_tokens_are_those_of_llama_cpp(tmp_path: Path, family: Family) -> None:
    exact = {name: _bf16(tensor) for name, tensor in weights_of(family).items()}
    weights = write_family_gguf(tmp_path / "model.gguf", family, tensors=gguf_tensors(family, exact))
    engine = Engine.load(weights, activations="fp32", threads=1, kv_tokens=CONTEXT, max_running=1, chunk_tokens=64)
    server = llama_cpp(weights)
    for prompt in [engine.tokenizer.encode(text) for text in PROMPTS]:
        expected = most_likely(server, prompt)
        arrived: list[Emission] = []
        request = Request(tokens=tuple(prompt), max_tokens=1, logprobs=True, top_logprobs=40)
        engine.submit(request, arrived.append)
        while engine.step():
            pass
        ours = dict(arrived[0].top)
        assert len(expected) == 10
        differences = [ours[token] - logprob for token, logprob in expected.items()]
        np.testing.assert_allclose(differences, 0, atol=CLOSE)


def test_pieces_are_cut_as_llama_cpp_cuts_them(tmp_path: Path) -> None:
    weights = write_pieces_gguf(tmp_path / "model.gguf")
    tokenizer, server = Tokenizer(read_checkpoint(weights).vocabulary), llama_cpp(weights)

    def theirs(text: str) -> list[int]:
        body = {"content": text, "parse_special": True, "add_special": True}
        return list(post(server, "/tokenize", body)["tokens"])

    # Where a text begins with the token for the beginning, llama.cpp puts another one in front.
    texts = [text for text in TEXTS if not text.startswith("<s>")]
    assert [text for text in texts if tokenizer.encode(text) != theirs(text)] == []
