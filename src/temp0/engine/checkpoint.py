"""The values that a model is loaded as: settings, vocabulary and weights, whatever file they came from.

Weights are float32 arrays that hold bf16-rounded numbers, one row per output, and Q and K rows are ordered for
half-split ("NeoX") rotary embedding: element i of a head turns with element i + head_dim / 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Shape and constants of a model; `vocab` counts rows of the embedding, `context` tokens.

    `qkv_bias` says that q, k and v have biases (Qwen2), `qk_norm` that each head of q and k is normalised before it
    is turned (Qwen3).
    """

    dim: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    context: int
    rope_theta: float
    norm_eps: float
    tied: bool
    qkv_bias: bool = False
    qk_norm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BytePairs:
    """How GGUF tells a byte-level BPE tokenizer: `merges` in order of rank, and the name of the pre-tokenizer.

    `add_bos` is None where the file does not say; then the custom of the pre-tokenizer's family holds.
    """

    merges: tuple[tuple[str, str], ...]
    pre: str
    add_bos: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """How GGUF tells a SentencePiece BPE tokenizer: a score for each token.

    `add_space` says that a text gets a space in front, and so does what follows a special token.
    """

    scores: tuple[float, ...]
    add_bos: bool
    add_space: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFile:
    """The text of a tokenizer.json, which says all about how text becomes ids; `add_bos` is what is said beside it."""

    path: Path
    definition: str
    add_bos: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a tokenizer is built from; there is a token for every row of the embedding.

    `tokens[id]` is a token as written in the file. Ordinary ones are in the letters that `spelling` says: one for
    each byte, or SentencePiece's, with U+2581 for a space and `<0x0A>` for a byte. Special ones are plain text:
    `control` tokens are recognised in a text and have no bytes of their own, `user_defined` ones are recognised too
    and stand for their text. No text has an `unused` one, and it writes nothing. `rules` say how text becomes ids.
    `eos_ids` end an answer; `eos_id` is the one that the file declares, which chat templates may write.
    """

    tokens: tuple[str, ...]
    rules: BytePairs | Pieces | TokenizerFile
    control: frozenset[int]
    user_defined: frozenset[int]
    bos_id: int | None
    eos_ids: frozenset[int]
    eos_id: int | None = None
    unused: frozenset[int] = frozenset()
    spelling: Literal["byte-level", "sentencepiece"] = "byte-level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model as loaded; `tensors` are C-contiguous and laid out [out, in].

    Their names: `embed` [vocab, dim]; `layers.{i}.attention_norm` and `.feed_norm` [dim]; `.q` [heads * head_dim,
    dim]; `.k` and `.v` [kv_heads * head_dim, dim]; `.o` [dim, heads * head_dim]; `.gate` and `.up` [ffn, dim];
    `.down` [dim, ffn]; `norm` [dim]; `head` [vocab, dim], the same object as `embed` where the two are tied. With
    qkv_bias `.q_bias`, `.k_bias` and `.v_bias`, one number for each row; with qk_norm `.q_norm` and `.k_norm`
    [head_dim].
    """

    name: str
    settings: Settings
    tensors: Mapping[str, Array]
    vocabulary: Vocabulary
    chat_template: str | None
