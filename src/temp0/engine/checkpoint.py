"""The values that a model is loaded as: settings, vocabulary and weights, whatever file they came from.

Weights are float32 arrays that hold bf16-rounded numbers, one row per output, and Q and K rows are ordered for
half-split ("NeoX") rotary embedding: element i of a head turns with element i + head_dim / 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Shape and constants of a llama model; `vocab` counts rows of the embedding, `context` tokens."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a byte-level BPE tokenizer is built from.

    `tokens[id]` is a token as written in the file: byte-level letters for ordinary tokens, plain text for the
    special ones. `control` tokens are recognised in a text and have no bytes of their own; `user_defined` ones are
    recognised too and stand for their text. `merges` are pairs in order of rank. `pre` names the pre-tokenizer.
    `eos_ids` end an answer; `eos_id` is the one that the file declares, which chat templates may write.
    `add_bos` is None where the file does not say; then the custom of the pre-tokenizer's family holds.
    """

    tokens: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    pre: str
    control: frozenset[int]
    user_defined: frozenset[int]
    bos_id: int | None
    eos_ids: frozenset[int]
    add_bos: bool | None
    eos_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model as loaded; `tensors` are C-contiguous and laid out [out, in].

    Their names: `embed` [vocab, dim]; `layers.{i}.attention_norm` and `.feed_norm` [dim]; `.q` [heads * head_dim,
    dim]; `.k` and `.v` [kv_heads * head_dim, dim]; `.o` [dim, heads * head_dim]; `.gate` and `.up` [ffn, dim];
    `.down` [dim, ffn]; `norm` [dim]; `head` [vocab, dim], the same object as `embed` where the two are tied.
    """

    name: str
    settings: Settings
    tensors: Mapping[str, Array]
    vocabulary: Vocabulary
    chat_template: str | None
