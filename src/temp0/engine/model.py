"""The forward pass of a model over one batch of rows.

A row is one position of one request. The pass knows rows, positions and pages, never requests: what a row's bits
depend on is decided by the arithmetic and by the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from temp0 import kernels
from temp0.engine.arithmetic import Arithmetic, Linear
from temp0.engine.checkpoint import Array, Checkpoint, Settings
from temp0.engine.kv_cache import KvCache


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows to compute: token, position and cache slot of each [M], and the rows whose logits are wanted [L].

    Rows of one slot are consecutive positions, and every earlier position of it is in the cache already.
    """

    tokens: NDArray[np.int32]
    positions: NDArray[np.int32]
    slots: NDArray[np.int32]
    wanted: NDArray[np.intp]


class Model:
    """Weights prepared for one arithmetic, with work arrays for at most `rows` rows and `wanted` rows of logits."""

    def __init__(self, checkpoint: Checkpoint, arithmetic: Arithmetic, *, rows: int, wanted: int) -> None:
        settings, tensors = checkpoint.settings, checkpoint.tensors
        self.settings = settings
        self._arithmetic = arithmetic
        self._rounded = arithmetic.rounded
        self._embed = tensors["embed"]
        self._layers = [_Layer.of(checkpoint, index, arithmetic) for index in range(settings.layers)]
        self._first_norm = tensors["layers.0.attention_norm"]
        self._head = arithmetic.linear(tensors["head"])
        self._rotary = kernels.rotary_tables(settings.context, settings.head_dim, settings.rope_theta)
        self._work = _Work.for_rows(settings, rows)
        self._logits = np.empty((wanted, settings.vocab), dtype=np.float32)

    def forward(self, batch: Batch, cache: KvCache) -> Array:
        """Logits [L, vocab] of the wanted rows; keys and values of all rows go to the cache.

        Logits are the head's fp32 sums as they are: activations are rounded between operations, and none follows.
        The array is overwritten by the next call.
        """
        work = self._work.first(len(batch.tokens))
        places = cache.places(batch.slots, batch.positions)
        np.take(self._embed, batch.tokens, axis=0, out=work.hidden)
        with self._arithmetic.limited():
            kernels.rms_norm(work.hidden, self._first_norm, self.settings.norm_eps, work.normed, rounded=self._rounded)
            for index, layer in enumerate(self._layers):
                self._attend(index, layer, work, batch, cache, places)
                self._add(work, layer.feed_norm)
                self._feed(layer, work)
                self._add(work, layer.following_norm)
            return self._predict(work.normed[batch.wanted])

    def _attend(
        self, index: int, layer: _Layer, work: _Work, batch: Batch, cache: KvCache, places: NDArray[np.int32]
    ) -> None:
        keys, values = cache.keys[index], cache.values[index]
        self._multiply(layer.qkv, work.normed, work.qkv, bias=layer.qkv_bias)
        kernels.place_qkv(
            work.qkv,
            places,
            batch.positions,
            self._rotary,
            work.query,
            keys,
            values,
            norms=layer.qk_norms,
            eps=self.settings.norm_eps,
            rounded=self._rounded,
        )
        kernels.attention(
            work.query, keys, values, cache.tables, batch.slots, batch.positions, work.attended, rounded=self._rounded
        )
        self._multiply(layer.o, work.attended.reshape(len(work.hidden), -1), work.added)

    def _feed(self, layer: _Layer, work: _Work) -> None:
        self._multiply(layer.gate_up, work.normed, work.gate_up)
        kernels.silu_multiply(work.gate_up, work.gated, rounded=self._rounded)
        self._multiply(layer.down, work.gated, work.added)

    def _add(self, work: _Work, norm: Array) -> None:
        """Add what a half of a block has made, and normalise the sums for what follows it."""
        kernels.add_rms_norm(work.hidden, work.added, norm, self.settings.norm_eps, work.normed, rounded=self._rounded)

    def _predict(self, normed: Array) -> Array:
        logits = self._logits[: len(normed)]
        if len(normed):
            self._head(normed, logits)
        return logits

    def _multiply(self, linear: Linear, rows: Array, out: Array, *, bias: Array | None = None) -> None:
        """A product whose bias, if it has one, is added to the fp32 sums: the two are one operation, rounded once."""
        linear(rows, out, rounded=self._rounded and bias is None)
        if bias is not None:
            np.add(out, bias, out=out)
            if self._rounded:
                kernels.round_bf16(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """One block's weights; q, k and v are one product, gate and up another. None is what the model has not.

    The norm that the block begins with is kept with what goes before it, since adding and normalising are one call:
    `following_norm` is the next block's, or the head's.
    """

    qkv: Linear
    qkv_bias: Array | None
    qk_norms: tuple[Array, Array] | None
    o: Linear
    feed_norm: Array
    gate_up: Linear
    down: Linear
    following_norm: Array

    @classmethod
    def of(cls, checkpoint: Checkpoint, index: int, arithmetic: Arithmetic) -> _Layer:
        settings = checkpoint.settings

        def tensor(name: str) -> Array:
            return checkpoint.tensors[f"layers.{index}.{name}"]

        following = f"layers.{index + 1}.attention_norm" if index + 1 < settings.layers else "norm"

        def fused(*names: str) -> Array:
            return np.concatenate([tensor(name) for name in names])

        return cls(
            qkv=arithmetic.linear(fused("q", "k", "v")),
            qkv_bias=fused("q_bias", "k_bias", "v_bias") if settings.qkv_bias else None,
            qk_norms=(tensor("q_norm"), tensor("k_norm")) if settings.qk_norm else None,
            o=arithmetic.linear(tensor("o")),
            feed_norm=tensor("feed_norm"),
            gate_up=arithmetic.linear(fused("gate", "up")),
            down=arithmetic.linear(tensor("down")),
            following_norm=checkpoint.tensors[following],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Arrays that a pass writes to, one line per row; all C-contiguous."""

    hidden: Array
    normed: Array
    qkv: Array
    query: Array
    attended: Array
    added: Array
    gate_up: Array
    gated: Array

    @classmethod
    def for_rows(cls, settings: Settings, rows: int) -> _Work:
        def array(*shape: int) -> Array:
            return np.zeros((rows, *shape), dtype=np.float32)

        heads = settings.heads + 2 * settings.kv_heads
        return cls(
            hidden=array(settings.dim),
            normed=array(settings.dim),
            qkv=array(heads * settings.head_dim),
            query=array(settings.heads, settings.head_dim),
            attended=array(settings.heads, settings.head_dim),
            added=array(settings.dim),
            gate_up=array(2 * settings.ffn),
            gated=array(settings.ffn),
        )

    def first(self, rows: int) -> _Work:
        """The same arrays, cut to the rows of one batch."""
        return _Work(**{name: getattr(self, name)[:rows] for name in self.__slots__})
