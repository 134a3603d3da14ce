"""A model whose products can be looked at row by row, without changing a bit of what it computes.

Products are where an arithmetic acts; what lies between two of them shows in the input of the second.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from temp0.engine.arithmetic import Arithmetic, Linear
from temp0.engine.checkpoint import Array, Checkpoint
from temp0.engine.kv_cache import KvCache
from temp0.engine.model import Batch, Model

Product = Literal["qkv", "o", "gate_up", "down", "head"]
PRODUCTS = ("qkv", "o", "gate_up", "down", "head")
Side = Literal["in", "out"]

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where numbers were seen: one side of a product of a layer (`None`: after all layers), at one position."""

    layer: int | None
    product: Product
    side: Side
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The numbers of one place, copied, and which row of how many they were."""

    numbers: Array
    row: int
    rows: int


@dataclass(slots=True, kw_only=True)
class Sight:
    """What is seen of one slot of a batch: a digest of every place in order of time, and numbers where they are kept.

    `keep` lists the positions whose numbers are kept. `states` are the hidden states after each layer at these.
    """

    keep: frozenset[int] = frozenset()
    digests: dict[Place, bytes] = field(default_factory=dict)
    kept: dict[Place, Seen] = field(default_factory=dict)
    states: dict[tuple[int, int], Array] = field(default_factory=dict)

    def note(self, place: Place, numbers: Array, *, row: int, rows: int) -> None:
        """Take in the numbers of one place."""
        self.digests[place] = hashlib.blake2b(numbers.tobytes(), digest_size=_DIGEST_BYTES).digest()
        if place.position in self.keep:
            self.kept[place] = Seen(numbers=numbers.copy(), row=row, rows=rows)

    def note_state(self, layer: int, position: int, state: Array) -> None:
        """Take in a hidden state after a layer."""
        if position in self.keep:
            self.states[layer, position] = state.copy()


class WatchedModel(Model):
    """A model that shows a `Sight` the rows of one slot, as long as one is set by `watch`."""

    def __init__(self, checkpoint: Checkpoint, arithmetic: Arithmetic, *, rows: int, wanted: int) -> None:
        super().__init__(checkpoint, arithmetic, rows=rows, wanted=wanted)
        self._names: dict[int, tuple[int | None, Product]] = {id(self._head): (None, "head")}
        self._after: dict[int, int] = {}
        for index, layer in enumerate(self._layers):
            products: tuple[tuple[Linear, Product], ...] = (
                (layer.qkv, "qkv"),
                (layer.o, "o"),
                (layer.gate_up, "gate_up"),
                (layer.down, "down"),
            )
            self._names |= {id(linear): (index, name) for linear, name in products}
            self._after[id(layer.following_norm)] = index
        self._sight: Sight | None = None
        self._slot = -1
        self._rows: tuple[tuple[int, int], ...] = ()
        self._head_rows: tuple[tuple[int, int], ...] = ()

    def watch(self, sight: Sight | None, *, slot: int = -1) -> None:
        """Show `sight` the rows of a slot from now on, or nobody anything."""
        self._sight, self._slot = sight, slot

    def forward(self, batch: Batch, cache: KvCache) -> Array:
        """The logits, as the model would give them unwatched."""
        self._rows = _rows_of(self._slot, batch.slots, batch.positions)
        self._head_rows = _rows_of(self._slot, batch.slots[batch.wanted], batch.positions[batch.wanted])
        return super().forward(batch, cache)

    def _predict(self, normed: Array) -> Array:
        logits = super()._predict(normed)
        if len(normed):
            self._show(self._head, normed, logits, self._head_rows)
        return logits

    def _multiply(self, linear: Linear, rows: Array, out: Array, *, bias: Array | None = None) -> None:
        super()._multiply(linear, rows, out, bias=bias)
        self._show(linear, rows, out, self._rows)

    def _add(self, work: object, norm: Array) -> None:
        super()._add(work, norm)  # type: ignore[arg-type]  # the work arrays are the model's own affair
        layer = self._after.get(id(norm))
        if self._sight and layer is not None:
            for row, position in self._rows:
                self._sight.note_state(layer, position, work.hidden[row])  # type: ignore[attr-defined]

    def _show(self, linear: Linear, rows: Array, out: Array, ours: tuple[tuple[int, int], ...]) -> None:
        if not self._sight:
            return
        layer, product = self._names[id(linear)]
        sides: tuple[tuple[Side, Array], ...] = (("in", rows), ("out", out))
        for side, numbers in sides:
            for row, position in ours:
                place = Place(layer, product, side, position)
                self._sight.note(place, numbers[row], row=row, rows=len(rows))


def _rows_of(slot: int, slots: NDArray[np.int32], positions: NDArray[np.int32]) -> tuple[tuple[int, int], ...]:
    """The rows of one slot with their positions."""
    return tuple((int(row), int(positions[row])) for row in np.flatnonzero(slots == slot))
