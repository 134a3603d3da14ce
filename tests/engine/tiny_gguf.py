"""Writes a llama model of a few thousand weights as a GGUF file, whole or wrong in one respect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFValueType, GGUFWriter, TokenType, quantize
from tokenizers.pre_tokenizers import ByteLevel

from temp0.engine.checkpoint import Array

DIM, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN = 64, 2, 4, 2, 16, 96
MERGES = ["h e", "l l", "he ll", "! !"]
TOKENS = [*sorted(ByteLevel.alphabet()), "he", "ll", "hell", "!!", "<|im_start|>", "<|im_end|>", "<user>"]
KINDS = [TokenType.NORMAL] * (len(TOKENS) - 3) + [TokenType.CONTROL, TokenType.CONTROL, TokenType.USER_DEFINED]
BOS, EOS, USER = len(TOKENS) - 3, len(TOKENS) - 2, len(TOKENS) - 1

METADATA: Mapping[str, Any] = {
    "llama.block_count": LAYERS,
    "llama.context_length": 128,
    "llama.embedding_length": DIM,
    "llama.feed_forward_length": FFN,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KV_HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10000.0,
    "llama.rope.dimension_count": HEAD_DIM,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [int(kind) for kind in KINDS],
    "tokenizer.ggml.merges": MERGES,
    "tokenizer.ggml.bos_token_id": BOS,
    "tokenizer.ggml.eos_token_id": EOS,
    "tokenizer.chat_template": "{{ messages[0].content }}",
}


def tiny_tensors(*, tied: bool = True) -> dict[str, Array]:
    """Weights under their GGUF names, [out, in], seeded."""
    noise = np.random.default_rng(7)

    def weights(*shape: int) -> Array:
        return noise.standard_normal(shape, np.float32)

    tensors = {"token_embd": weights(len(TOKENS), DIM), "output_norm": weights(DIM)}
    for layer in range(LAYERS):
        tensors |= {
            f"blk.{layer}.attn_norm": weights(DIM),
            f"blk.{layer}.attn_q": weights(HEADS * HEAD_DIM, DIM),
            f"blk.{layer}.attn_k": weights(KV_HEADS * HEAD_DIM, DIM),
            f"blk.{layer}.attn_v": weights(KV_HEADS * HEAD_DIM, DIM),
            f"blk.{layer}.attn_output": weights(DIM, HEADS * HEAD_DIM),
            f"blk.{layer}.ffn_norm": weights(DIM),
            f"blk.{layer}.ffn_gate": weights(FFN, DIM),
            f"blk.{layer}.ffn_up": weights(FFN, DIM),
            f"blk.{layer}.ffn_down": weights(DIM, FFN),
        }
    return tensors if tied else tensors | {"output": weights(len(TOKENS), DIM)}


def write_gguf(
    path: Path,
    *,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
    architecture: str = "llama",
    metadata: Mapping[str, Any] | None = None,
    without: str | None = None,
    tensors: Mapping[str, Array] | None = None,
) -> Path:
    """Write the tiny model to `path`. `metadata` replaces and adds keys, `without` leaves one out.

    Matrices are stored as `kind`, vectors as float32, as llama.cpp does. A tensor is a weight unless its name says
    bias.
    """
    writer = GGUFWriter(path, architecture)
    for key, value in (METADATA | dict(metadata or {})).items():
        if key != without:
            _add(writer, key, value)
    for name, weights in (tiny_tensors() if tensors is None else tensors).items():
        full = name if name.endswith(".bias") else f"{name}.weight"
        if weights.ndim == 1 or kind is GGMLQuantizationType.F32:
            writer.add_tensor(full, weights)
        else:
            writer.add_tensor(full, quantize(weights, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: GGUFWriter, key: str, value: Any) -> None:
    kinds = {bool: GGUFValueType.BOOL, int: GGUFValueType.UINT32, float: GGUFValueType.FLOAT32}
    if isinstance(value, list):
        writer.add_array(key, value)
    else:
        writer.add_key_value(key, value, kinds.get(type(value), GGUFValueType.STRING))
