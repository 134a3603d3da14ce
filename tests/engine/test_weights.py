"""The two forms of every supported family against each other, by bits; never against float64."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_family import (
    CONTEXT,
    FAMILIES,
    LAYERS,
    MISTRAL,
    QWEN2,
    QWEN3,
    ROWS,
    SMOLLM2,
    TEXTS,
    Family,
    write_directory,
    write_family_gguf,
)

from temp0.core.plan import Message
from temp0.engine import Engine
from temp0.engine.arithmetic import arithmetic
from temp0.engine.checkpoint import Checkpoint
from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch, Model
from temp0.engine.tokenizer import Tokenizer
from temp0.engine.weights import read_checkpoint
from temp0.errors import ModelError

TOKENS = np.random.default_rng(5).integers(0, ROWS, 60).astype(np.int32)

by_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def both(folder: Path, family: Family) -> tuple[Checkpoint, Checkpoint]:
    file = write_family_gguf(folder / "model.gguf", family)
    return read_checkpoint(file), read_checkpoint(write_directory(folder / "model", family))


def logits(checkpoint: Checkpoint, *texts: NDArray[np.int32]) -> list[NDArray[np.float32]]:
    """The logits of every token of each text, all texts in one batch."""
    rows = sum(map(len, texts))
    cache = KvCache(checkpoint.settings, tokens=8 * CONTEXT, slots=len(texts))
    model = Model(checkpoint, arithmetic("invariant", threads=1), rows=rows, wanted=rows)
    batch = Batch(
        tokens=np.concatenate(texts),
        positions=np.concatenate([np.arange(len(text), dtype=np.int32) for text in texts]),
        slots=np.concatenate([np.full(len(text), cache.hold(len(text)), np.int32) for text in texts]),
        wanted=np.arange(rows),
    )
    ends = np.cumsum([len(text) for text in texts])
    return [part.copy() for part in np.split(model.forward(batch, cache), ends[:-1])]


@by_family
def test_both_forms_give_the_same_logits(tmp_path: Path, family: Family) -> None:
    file, directory = (logits(checkpoint, TOKENS)[0] for checkpoint in both(tmp_path, family))
    assert np.array_equal(file.view(np.uint32), directory.view(np.uint32))
    assert np.isfinite(file).all()
    assert len(set(file.argmax(axis=1))) > 10


@by_family
def test_a_lone_text_equals_the_same_text_in_company(tmp_path: Path, family: Family) -> None:
    checkpoint = read_checkpoint(write_directory(tmp_path / "model", family))
    (alone,) = logits(checkpoint, TOKENS)
    company = logits(checkpoint, TOKENS[:7], TOKENS[::-1], TOKENS, TOKENS[30:])
    assert np.array_equal(alone.view(np.uint32), company[2].view(np.uint32))
    assert np.array_equal(alone[:7].view(np.uint32), company[0].view(np.uint32))


@by_family
def test_both_forms_hold_the_same_settings_and_tensors(tmp_path: Path, family: Family) -> None:
    file, directory = both(tmp_path, family)
    # A GGUF file keeps its constants as float32, which is how they are used.
    eps = np.float32(file.settings.norm_eps)
    assert eps == np.float32(directory.settings.norm_eps)
    assert dataclasses.replace(file.settings, norm_eps=0) == dataclasses.replace(directory.settings, norm_eps=0)
    assert file.tensors.keys() == directory.tensors.keys()
    assert all(np.array_equal(file.tensors[name], directory.tensors[name]) for name in file.tensors)
    assert len(file.tensors) == 3 + LAYERS * (9 + 3 * family.bias + 2 * family.norm)
    assert (file.tensors["head"] is file.tensors["embed"]) is family.tied


@by_family
def test_both_forms_give_the_same_ids_bytes_and_prompts(tmp_path: Path, family: Family) -> None:
    engines = [
        Engine(
            checkpoint, arithmetic("stock", threads=1), fingerprint="", kv_tokens=256, max_running=1, chunk_tokens=64
        )
        for checkpoint in both(tmp_path, family)
    ]
    file, directory = (engine.tokenizer for engine in engines)
    assert [text for text in TEXTS if file.encode(text) != directory.encode(text)] == []
    assert [file.bytes_of(token) for token in range(ROWS)] == [directory.bytes_of(token) for token in range(ROWS)]
    assert file.eos_ids == directory.eos_ids
    assert len({engine.chat.render([Message(role="user", content="hi")]) for engine in engines}) == 1


@by_family
def test_a_family_differs_from_llama_where_it_should(tmp_path: Path, family: Family) -> None:
    settings = read_checkpoint(write_directory(tmp_path / "model", family)).settings
    assert settings.qkv_bias is (family is QWEN2)
    assert settings.qk_norm is (family is QWEN3)
    assert (settings.heads * settings.head_dim == settings.dim) is (family in (SMOLLM2, QWEN2))


def test_mistral_begins_every_prompt_once(tmp_path: Path) -> None:
    for checkpoint in both(tmp_path, MISTRAL):
        tokenizer = Tokenizer(checkpoint.vocabulary)
        bos = checkpoint.vocabulary.bos_id
        assert tokenizer.encode("hi")[0] == bos
        assert tokenizer.encode("<|im_start|>hi") == tokenizer.encode("hi")


def test_an_engine_answers_from_a_directory(tmp_path: Path) -> None:
    directory = write_directory(tmp_path / "little", QWEN3)
    limits = {"kv_tokens": 128, "max_running": 1, "chunk_tokens": 32}
    with Engine.load(directory, arithmetic="invariant", threads=1, **limits) as engine:
        assert engine.name == "little"
        assert engine.generate("hi", max_tokens=5, ignore_eos=True)


def test_the_fingerprint_of_a_directory_names_config_tokenizer_and_weights(tmp_path: Path) -> None:
    def fingerprint() -> str:
        return Engine.load(tmp_path / "a", threads=1, kv_tokens=128, max_running=1, chunk_tokens=32).fingerprint

    directory = write_directory(tmp_path / "a", SMOLLM2, shards=2)
    prints = [fingerprint(), fingerprint()]
    assert prints[0] == prints[1]
    changed = {
        "config.json": (b"128", b"120"),
        "tokenizer.json": (b"[", b"[ "),
        "model-00002-of-00002.safetensors": (b'"pt"', b'"np"'),
    }
    for name, (old, new) in changed.items():
        path = directory / name
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new, 1))
        prints.append(fingerprint())
    assert len(set(prints)) == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "does not exist, expected a GGUF file or a Hugging Face directory"),
        ("a/model.safetensors", "is one file of a Hugging Face directory; give the directory"),
        ("a/config.json", "is one file of a Hugging Face directory; give the directory"),
        ("notes.txt", "it is not a GGUF file"),
        ("empty", "config.json cannot be read: No such file"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, name: str, said: str) -> None:
    write_directory(tmp_path / "a", SMOLLM2)
    (tmp_path / "notes.txt").write_text("read me")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError) as caught:
        read_checkpoint(tmp_path / name)
    assert said in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
