from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFReader, dequantize, quantize
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gguf import DIM, EOS, HEAD_DIM, HEADS, TOKENS, tiny_tensors, write_gguf

from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import BytePairs, Checkpoint
from temp0.engine.gguf_file import read_gguf
from temp0.engine.gguf_header import read_header
from temp0.errors import ModelError


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="module")
def builtin() -> Checkpoint:
    return read_gguf(builtin_weights())


def test_a_weight_becomes_the_nearest_bf16_number(tiny: Path) -> None:
    weights = tiny_tensors()["blk.1.ffn_down"]
    got = read_gguf(tiny).tensors["layers.1.down"]
    assert got.dtype == np.float32
    assert not (got.view(np.uint32) & 0xFFFF).any()
    step = np.exp2(np.floor(np.log2(np.abs(got.astype(np.float64)))) - 7)
    assert (np.abs(got.astype(np.float64) - weights) <= step / 2).all()


def test_a_tie_rounds_to_the_even_neighbour(tmp_path: Path) -> None:
    tensors = tiny_tensors()
    tensors["output_norm"][:4] = [1 + 2**-8, 1 + 3 * 2**-8, -(1 + 2**-8), 1 + 2**-8 + 2**-20]
    got = read_gguf(write_gguf(tmp_path / "a.gguf", tensors=tensors)).tensors["norm"]
    assert got[:4].tolist() == [1.0, 1 + 2**-6, -1.0, 1 + 2**-7]


@pytest.mark.parametrize("kind", [Kind.F16, Kind.BF16, Kind.Q8_0, Kind.Q4_0, Kind.Q4_1, Kind.Q5_1])
def test_every_type_gives_what_gguf_dequantises(tmp_path: Path, kind: Kind) -> None:
    weights = tiny_tensors()["blk.0.ffn_up"]
    plain = write_gguf(
        tmp_path / "plain.gguf",
        tensors=tiny_tensors() | {"blk.0.ffn_up": dequantize(quantize(weights, kind), kind)},
    )
    packed = write_gguf(tmp_path / "packed.gguf", kind=kind)
    expected = read_gguf(plain).tensors["layers.0.up"]
    assert np.array_equal(read_gguf(packed).tensors["layers.0.up"], expected)


@pytest.mark.parametrize(("name", "plain"), [("attn_q", "q"), ("attn_k", "k")])
def test_rows_that_rotate_together_stand_half_a_head_apart(tmp_path: Path, name: str, plain: str) -> None:
    tensors = tiny_tensors()
    rows = tensors[f"blk.0.{name}"]
    rows[:] = np.arange(len(rows), dtype=np.float32)[:, None]
    got = read_gguf(write_gguf(tmp_path / "a.gguf", tensors=tensors)).tensors[f"layers.0.{plain}"]
    head = [*range(0, HEAD_DIM, 2), *range(1, HEAD_DIM, 2)]
    assert got[:, 0].tolist() == [start + row for start in range(0, len(rows), HEAD_DIM) for row in head]
    assert got.flags.c_contiguous


def test_values_keep_their_order(tiny: Path) -> None:
    got = read_gguf(tiny).tensors["layers.1.v"]
    np.testing.assert_allclose(got, tiny_tensors()["blk.1.attn_v"], rtol=2**-8)


def test_a_tied_head_is_the_embedding_itself(tiny: Path) -> None:
    model = read_gguf(tiny)
    assert model.settings.tied
    assert model.tensors["head"] is model.tensors["embed"]


def test_a_head_of_its_own_is_read(tmp_path: Path) -> None:
    tensors = tiny_tensors(tied=False)
    model = read_gguf(write_gguf(tmp_path / "a.gguf", tensors=tensors))
    assert not model.settings.tied
    np.testing.assert_allclose(model.tensors["head"], tensors["output"], rtol=2**-8)


def test_settings_and_vocabulary_are_the_files(tiny: Path) -> None:
    model = read_gguf(tiny)
    assert model.name == "tiny"
    assert model.settings.heads == HEADS
    assert model.settings.head_dim == HEAD_DIM
    assert model.settings.vocab == len(TOKENS)
    assert model.settings.norm_eps == pytest.approx(1e-5)
    assert isinstance(model.vocabulary.rules, BytePairs)
    assert model.vocabulary.rules.merges[2] == ("he", "ll")
    assert model.vocabulary.rules.add_bos is None
    assert model.vocabulary.eos_ids == {EOS}
    assert model.vocabulary.eos_id == EOS
    assert model.chat_template == "{{ messages[0].content }}"


def test_a_model_without_a_chat_template_is_read(tmp_path: Path) -> None:
    assert read_gguf(write_gguf(tmp_path / "a.gguf", without="tokenizer.chat_template")).chat_template is None


def test_a_feature_that_is_off_is_no_reason_to_refuse(tmp_path: Path) -> None:
    off = {"llama.rope.scaling.type": "none", "llama.expert_count": 0, "llama.attention.causal": True}
    assert read_gguf(write_gguf(tmp_path / "a.gguf", metadata=off)).settings.dim == DIM


@pytest.mark.parametrize(("window", "context"), [(0, 128), (4096, 128), (32, 32)])
def test_a_sliding_window_limits_the_context(tmp_path: Path, window: int, context: int) -> None:
    metadata = {"llama.attention.sliding_window": window}
    assert read_gguf(write_gguf(tmp_path / "a.gguf", metadata=metadata)).settings.context == context


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"architecture": "gemma3"}, "architecture 'gemma3', expected one of llama, qwen2, qwen3"),
        ({"metadata": {"llama.rope.scaling.type": "linear"}}, "llama.rope.scaling.type = linear"),
        ({"metadata": {"llama.rope.scaling.factor": 4.0}}, "llama.rope.scaling.factor = 4.0"),
        ({"metadata": {"llama.attention.sliding_window_pattern": 2}}, "llama.attention.sliding_window_pattern = 2"),
        ({"metadata": {"llama.expert_count": 8}}, "llama.expert_count = 8"),
        ({"metadata": {"llama.rope.freq_base": 0.5}}, "rope_theta is 0.5, expected 1 to 1e30"),
        ({"metadata": {"llama.attention.layer_norm_rms_epsilon": -1.0}}, "norm_eps is -1.0, expected 0 or more"),
        ({"tensors": tiny_tensors() | {"blk.0.attn_q.bias": np.ones(64, np.float32)}}, "such as blk.0.attn_q.bias"),
        ({"metadata": {"llama.never_heard_of": 1}}, "llama.never_heard_of = 1"),
        ({"metadata": {"llama.rope.dimension_count": 8}}, "llama.rope.dimension_count = 8"),
        ({"metadata": {"llama.attention.head_count": 0}}, "heads is 0, expected more than 0"),
        ({"metadata": {"llama.attention.head_count_kv": 3}}, "4 heads over 3 KV heads"),
        ({"metadata": {"llama.block_count": 2**32 - 1}}, "blk.2.attn_norm.weight is absent"),
        ({"metadata": {"llama.context_length": 2**32 - 1}}, "context is 4294967295, expected at most 16777216"),
        ({"metadata": {"llama.block_count": 3}}, "blk.2.attn_norm.weight is absent"),
        ({"metadata": {"llama.feed_forward_length": 97}}, "has shape [96, 64], expected shape [97, 64]"),
        ({"without": "llama.attention.layer_norm_rms_epsilon"}, "layer_norm_rms_epsilon is absent, expected a number"),
        ({"metadata": {"llama.context_length": "long"}}, "llama.context_length is 'long', expected a whole number"),
        ({"metadata": {"tokenizer.ggml.model": "llama"}}, "tokenizer.ggml.scores is absent"),
        ({"metadata": {"tokenizer.ggml.add_eos_token": True}}, "wants an end token after every prompt"),
        ({"metadata": {"tokenizer.ggml.eos_token_id": 9999}}, "eos_token_id is 9999, expected less than"),
        ({"metadata": {"tokenizer.ggml.token_type": [1, 1]}}, "but 2 token types"),
        ({"metadata": {"tokenizer.ggml.merges": ["alone"]}}, "'alone' is not a pair"),
        ({"tensors": tiny_tensors() | {"rope_freqs": np.ones(8, np.float32)}}, "such as rope_freqs.weight"),
        ({"tensors": tiny_tensors() | {"blk.0.attn_q_norm": np.ones(8, np.float32)}}, "blk.0.attn_q_norm.weight"),
        ({"metadata": {"tokenizer.ggml.add_bos_token": 1}}, "tokenizer.ggml.add_bos_token"),
        ({"tensors": tiny_tensors() | {"output_norm": np.full(DIM, np.nan, np.float32)}}, "holds a NaN"),
        ({"tensors": tiny_tensors() | {"output_norm": np.full(DIM, -np.inf, np.float32)}}, "holds a NaN"),
        ({"tensors": tiny_tensors() | {"output_norm": np.ones(DIM, np.int32)}}, "is of type I32"),
    ],
)
def test_what_would_be_computed_wrongly_is_refused(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    path = write_gguf(tmp_path / "wrong.gguf", **wrong)
    with pytest.raises(ModelError) as caught:
        read_gguf(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def _absent(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_absent, "No such file"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.touch(), "is empty"),
        (lambda path: path.write_bytes(b"GGU"), "it is not a GGUF file"),
        (lambda path: path.write_bytes(b"PK\3\4" + bytes(100)), "it is not a GGUF file"),
        (lambda path: path.write_bytes(b"GGUF\1\0\0\0" + bytes(100)), "GGUF version 1, expected 2 or 3"),
        (lambda path: path.write_bytes(b"GGUF\0\0\0\3" + bytes(100)), "expected 2 or 3, little-endian"),
        (lambda path: path.write_bytes(b"GGUF\3\0\0\0" + b"\xff" * 100), "truncated or damaged"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    path = tmp_path / "model.gguf"
    make(path)
    with pytest.raises(ModelError, match=said):
        read_gguf(path)


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0, 0.999))
def test_a_file_cut_anywhere_is_refused(tiny: Path, tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    data = tiny.read_bytes()
    cut = tmp_path_factory.mktemp("cut") / "cut.gguf"
    cut.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError):
        read_gguf(cut)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_header_is_read_or_refused(
    tiny: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    good = bytearray(tiny.read_bytes())
    end = min(place.start for place in read_header(tiny, memoryview(good)).tensors.values())
    for _ in range(data.draw(st.integers(1, 3))):
        good[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path_factory.mktemp("damaged") / "damaged.gguf"
    damaged.write_bytes(good)
    with suppress(ModelError):
        assert len(read_gguf(damaged).tensors) == len(read_gguf(tiny).tensors)


def test_the_header_is_what_the_gguf_package_reads(tiny: Path) -> None:
    reader = GGUFReader(tiny)
    header = read_header(tiny, reader.data.data)
    fields = {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    assert header.values == fields
    assert [(place.name, place.start, place.end) for place in header.tensors.values()] == [
        (tensor.name, tensor.data_offset, tensor.data_offset + tensor.n_bytes) for tensor in reader.tensors
    ]


@pytest.mark.model
def test_the_builtin_model_is_smollm2(builtin: Checkpoint) -> None:
    shape = builtin.settings
    assert (shape.dim, shape.layers, shape.heads, shape.kv_heads, shape.head_dim) == (576, 30, 9, 3, 64)
    assert (shape.ffn, shape.vocab, shape.context, shape.rope_theta) == (1536, 49152, 8192, 100000.0)
    assert shape.tied
    assert isinstance(builtin.vocabulary.rules, BytePairs)
    assert builtin.vocabulary.rules.pre == "smollm"
    assert builtin.vocabulary.rules.add_bos is False
    assert builtin.vocabulary.eos_ids == {0, 2}
    assert builtin.vocabulary.eos_id == 2
    assert len(builtin.tensors) == 30 * 9 + 3
