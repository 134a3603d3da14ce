import os
from pathlib import Path

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray

from peers.gguf_copy import Format, kept_copy, write_copy
from temp0 import kernels

TOKENS = ["<s>", "a", "Ġb", "é"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "small.Q4_1.gguf"
    random = np.random.default_rng(5)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("small")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_1)
    writer.add_rope_freq_base(100_000.0)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 1, 1, 1])
    writer.add_add_bos_token(False)
    writer.add_array("empty", [])
    q4_1 = gguf.GGMLQuantizationType.Q4_1
    for name in ("blk.0.attn_q.weight", "token_embd.weight"):
        matrix = random.standard_normal((6, 64)).astype(np.float32)
        writer.add_tensor(name, gguf.quantize(matrix, q4_1), raw_dtype=q4_1)
    writer.add_tensor("output_norm.weight", random.standard_normal(64).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def values(path: Path) -> dict[str, NDArray[np.float32]]:
    tensors = gguf.GGUFReader(path).tensors
    return {tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type) for tensor in tensors}


def kinds(path: Path) -> dict[str, str]:
    return {tensor.name: tensor.tensor_type.name for tensor in gguf.GGUFReader(path).tensors}


def metadata(path: Path) -> dict[str, object]:
    reader = gguf.GGUFReader(path)
    return {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}


def test_a_bf16_copy_holds_the_bits_that_the_engine_computes_with(source: Path, tmp_path: Path) -> None:
    write_copy(source, tmp_path / "copy.gguf", "BF16")
    copied = values(tmp_path / "copy.gguf")
    for name, expected in values(source).items():
        if expected.ndim > 1:
            kernels.round_bf16(expected)
        assert copied[name].tobytes() == expected.tobytes()


def test_an_f16_copy_is_rounded_from_the_dequantised_weights(source: Path, tmp_path: Path) -> None:
    write_copy(source, tmp_path / "copy.gguf", "F16")
    copied, original = values(tmp_path / "copy.gguf"), values(source)
    expected = original["token_embd.weight"].astype(np.float16).astype(np.float32)
    assert copied["token_embd.weight"].tobytes() == expected.tobytes()
    assert copied["output_norm.weight"].tobytes() == original["output_norm.weight"].tobytes()


@pytest.mark.parametrize("stored_as", ["BF16", "F16"])
def test_only_matrices_change_their_kind_and_tensors_keep_their_order(
    source: Path, tmp_path: Path, stored_as: Format
) -> None:
    write_copy(source, tmp_path / "copy.gguf", stored_as)
    assert list(kinds(tmp_path / "copy.gguf").items()) == [
        ("blk.0.attn_q.weight", stored_as),
        ("token_embd.weight", stored_as),
        ("output_norm.weight", "F32"),
    ]


def test_all_metadata_is_copied_but_the_type_of_the_file(source: Path, tmp_path: Path) -> None:
    write_copy(source, tmp_path / "copy.gguf", "BF16")
    expected = {**metadata(source), "general.file_type": gguf.LlamaFileType.MOSTLY_BF16}
    assert metadata(tmp_path / "copy.gguf") == expected
    assert expected["tokenizer.ggml.tokens"] == TOKENS


def test_a_copy_is_written_again_only_where_its_source_is_newer(source: Path, tmp_path: Path) -> None:
    copy = kept_copy(source, tmp_path / "kept", "F16")
    assert copy.name == "small-F16.gguf"
    os.utime(source, (1, 1))
    written = copy.stat().st_mtime_ns
    assert kept_copy(source, tmp_path / "kept", "F16").stat().st_mtime_ns == written
    os.utime(copy, (0, 0))
    assert kept_copy(source, tmp_path / "kept", "F16").stat().st_mtime_ns > 0
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["small-F16.gguf"]
