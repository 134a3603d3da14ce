from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_family import (
    DIM,
    QWEN2,
    QWEN3,
    SMOLLM2,
    config_of,
    weights_of,
    write_directory,
    write_json,
    write_safetensors,
)

from temp0.engine.checkpoint import Array
from temp0.engine.file_fields import Fields
from temp0.engine.huggingface_directory import read_huggingface
from temp0.engine.huggingface_settings import settings_of
from temp0.engine.huggingface_tensors import tensors_of, weight_files
from temp0.errors import ModelError

SETTINGS = settings_of(Fields(path=Path("config.json"), values=config_of(SMOLLM2)))
DOWN = "model.layers.1.mlp.down_proj.weight"
EMBED = "model.embed_tokens.weight"


def read(directory: Path) -> dict[str, Array]:
    return tensors_of(directory, SETTINGS)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_directory(tmp_path_factory.mktemp("good") / "model", SMOLLM2)


def test_a_weight_becomes_the_nearest_bf16_number(good: Path) -> None:
    weights = weights_of(SMOLLM2)[DOWN].astype(np.float64)
    got = read(good)["layers.1.down"]
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    assert not (got.view(np.uint32) & 0xFFFF).any()
    step = np.exp2(np.floor(np.log2(np.abs(got.astype(np.float64)))) - 7)
    assert (np.abs(got - weights) <= step / 2).all()


def test_bf16_is_read_as_it_is(tmp_path: Path) -> None:
    weights = weights_of(SMOLLM2)
    got = read(write_directory(tmp_path / "a", SMOLLM2, kind="BF16"))["layers.1.down"]
    assert np.array_equal(got.view(np.uint32), weights[DOWN].view(np.uint32) & np.uint32(0xFFFF0000))


def test_f16_is_rounded_to_bf16(tmp_path: Path) -> None:
    halves = {name: tensor.astype(np.float16).astype(np.float32) for name, tensor in weights_of(SMOLLM2).items()}
    got = read(write_directory(tmp_path / "a", SMOLLM2, kind="F16"))
    expected = read(write_directory(tmp_path / "b", SMOLLM2, weights=halves))
    assert all(np.array_equal(got[name], expected[name]) for name in expected)


@pytest.mark.parametrize("shards", [2, 5])
def test_shards_hold_what_one_file_holds(tmp_path: Path, good: Path, shards: int) -> None:
    directory = write_directory(tmp_path / "a", SMOLLM2, shards=shards)
    got, expected = read(directory), read(good)
    assert len(weight_files(directory)) == shards
    assert got.keys() == expected.keys()
    assert all(np.array_equal(got[name], expected[name]) for name in expected)


def test_a_copy_of_a_tied_embedding_is_no_reason_to_refuse(tmp_path: Path) -> None:
    weights = weights_of(SMOLLM2)
    tensors = read(write_directory(tmp_path / "a", SMOLLM2, weights=weights | {"lm_head.weight": weights[EMBED]}))
    assert tensors["head"] is tensors["embed"]


def _changed(name: str, index: int, value: float) -> dict[str, Array]:
    weights = weights_of(SMOLLM2)
    weights[name].reshape(-1)[index] = value
    return weights


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (_changed(DOWN, 3, np.nan), f"tensor {DOWN} holds a NaN or an infinity"),
        (_changed(DOWN, -1, np.inf), f"tensor {DOWN} holds a NaN or an infinity"),
        (_changed(EMBED, 100_000, -np.inf), f"tensor {EMBED} holds a NaN or an infinity"),
        (_changed("model.norm.weight", 0, 3.4e38), "tensor model.norm.weight holds a NaN or an infinity"),
        ({name: tensor for name, tensor in weights_of(SMOLLM2).items() if name != DOWN}, f"{DOWN} is absent"),
        (weights_of(SMOLLM2) | {DOWN: np.ones((DIM, 97), np.float32)}, "has shape [64, 97], expected shape [64, 96]"),
        (weights_of(SMOLLM2) | {DOWN: np.ones((96, DIM), np.float32)}, "has shape [96, 64], expected shape [64, 96]"),
        (weights_of(QWEN2), "holds 6 tensors that such a model has not, such as model.layers.0.self_attn.k_proj.bias"),
        (weights_of(SMOLLM2) | {"lm_head.weight": np.ones((3, DIM), np.float32)}, "such as lm_head.weight"),
        (weights_of(SMOLLM2) | {"model.layers.0.experts.0": np.ones(3, np.float32)}, "model.layers.0.experts.0"),
        (weights_of(QWEN3), "self_attn.q_proj.weight has shape [96, 64], expected shape [64, 64]"),
    ],
)
def test_tensors_that_are_not_the_models_are_refused(tmp_path: Path, weights: dict[str, Array], said: str) -> None:
    directory = write_directory(tmp_path / "a", SMOLLM2, weights=weights)
    with pytest.raises(ModelError) as caught:
        read(directory)
    assert said in str(caught.value)
    assert str(directory) in str(caught.value)


def test_another_type_of_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is of type I32, expected one of F32, F16, BF16"):
        read(write_directory(tmp_path / "a", SMOLLM2, kind="I32"))


INDEX = "model.safetensors.index.json"
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def _name_another_folder(directory: Path) -> None:
    path = directory / INDEX
    path.write_text(path.read_text().replace(FIRST, f"../{FIRST}"))


def _name_no_file(directory: Path) -> None:
    write_json(directory / INDEX, {"weight_map": {EMBED: 7}})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda directory: (directory / SECOND).unlink(), f"{SECOND} is absent, but {INDEX} lists it"),
        (lambda directory: (directory / INDEX).unlink(), f"holds neither model.safetensors nor {INDEX}"),
        (lambda directory: (directory / INDEX).write_text("{}"), "weight_map is absent, expected an object"),
        (lambda directory: (directory / INDEX).write_text("{"), "is not JSON"),
        (lambda directory: (directory / FIRST).write_bytes(b""), "is not a whole safetensors file"),
        (lambda directory: (directory / FIRST).write_bytes(b"\xff" * 64), "is not a whole safetensors file"),
        (lambda directory: (directory / FIRST).write_bytes((directory / SECOND).read_bytes()), "once more"),
        (_name_another_folder, "expected one of its own directory"),
        (_name_no_file, f"{EMBED} is '7', expected a string"),
    ],
)
def test_shards_that_are_not_whole_are_refused(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    directory = write_directory(tmp_path / "a", SMOLLM2, shards=2)
    damage(directory)
    with pytest.raises(ModelError) as caught:
        read(directory)
    assert said in str(caught.value)


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0, 0.9999))
def test_a_file_cut_anywhere_is_refused(good: Path, tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    data = (good / "model.safetensors").read_bytes()
    cut = tmp_path_factory.mktemp("cut")
    (cut / "model.safetensors").write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError, match="is not a whole safetensors file"):
        read(cut)


def test_a_header_that_does_not_cover_its_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_safetensors(path, {"a": np.ones(4, np.float32)})
    path.write_bytes(path.read_bytes() + bytes(4))
    with pytest.raises(ModelError, match="is not a whole safetensors file"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"num_hidden_layers": 10**12}, "model.layers.2.input_layernorm.weight is absent"),
        ({"vocab_size": 10**12}, f"tensor {EMBED} has shape"),
    ],
)
def test_sizes_that_no_file_bears_out_are_refused(tmp_path: Path, config: dict[str, int], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_huggingface(write_directory(tmp_path / "a", SMOLLM2, config=config))
    assert said in str(caught.value)


def test_an_empty_directory_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(json.dumps({}).encode())
    with pytest.raises(ModelError, match="only safetensors are read, so convert the weights"):
        read(tmp_path)
