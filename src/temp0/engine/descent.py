"""Follows a fork of our own engine down to the first operation whose bits differ.

A prompt is computed alone and as one of several twins that arrived together, by the engine's own scheduler. Nothing is
taken from a record: whether they fork, and where, is seen anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from temp0 import kernels
from temp0.core.descent import Candidate, Descent, LayerDifference, Origin
from temp0.engine.arithmetic import Arithmetic
from temp0.engine.checkpoint import Array, Checkpoint
from temp0.engine.kv_cache import KvCache
from temp0.engine.page import PAGE_TOKENS, pages_of
from temp0.engine.request import Request, check
from temp0.engine.scheduler import Scheduler, batch_of
from temp0.engine.ticket import Ticket
from temp0.engine.tokenizer import TextDecoder, Tokenizer
from temp0.engine.watched_model import Place, Sight, WatchedModel

CHUNK_TOKENS = 256
"""As many rows of prompts in one step as the engine reads by default."""

_MADE_BY = {"qkv": "norm", "o": "attention", "gate_up": "norm", "down": "silu", "head": "norm"}
"""What made the input of each product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The tokens of every twin, and what was seen of one of them."""

    tokens: list[list[int]]
    sight: Sight


class Diver:
    """One model in one arithmetic, asked where its answers part by company.

    `most` is the largest company that will be tried. Raises what `Model` raises for a model it cannot load.
    """

    def __init__(self, checkpoint: Checkpoint, arithmetic: Arithmetic, *, most: int) -> None:
        self._settings = checkpoint.settings
        self._arithmetic = arithmetic
        self._tokenizer = Tokenizer(checkpoint.vocabulary)
        self._model = WatchedModel(checkpoint, arithmetic, rows=most + CHUNK_TOKENS, wanted=most)

    def descend(
        self,
        text: str,
        *,
        prompt: str,
        companies: Iterable[int],
        max_tokens: int,
        on_company: Callable[[int], None] | None = None,
    ) -> Descent:
        """The first of `companies` in which a twin's answer leaves that of the prompt alone, followed down.

        Where none does, the last of them is followed down at the position where the two best tokens were closest.
        `text` is what the model reads, with whatever a template puts around the `prompt` that a person knows it by.
        `on_company` hears of each company before it is tried. Raises RequestError for a text the model cannot read.
        """
        read = tuple(self._tokenizer.encode(text))
        alone = self._answers(read, company=1, max_tokens=max_tokens).tokens[0]
        company, place, token = 1, 0, None
        for company in companies:
            if on_company:
                on_company(company)
            twins = self._answers(read, company=company, max_tokens=max_tokens).tokens
            forks = [(at, number) for number, twin in enumerate(twins) if (at := _fork(alone, twin)) is not None]
            if forks:
                token, place = min(forks)
                break
        has_forked = token is not None
        if token is None:
            token = self._closest(read, alone)
        return self._followed(
            read, alone, company=company, place=place, token=token, has_forked=has_forked, text=prompt
        )

    def _followed(
        self,
        prompt: tuple[int, ...],
        alone: list[int],
        *,
        company: int,
        place: int,
        token: int,
        has_forked: bool,
        text: str,
    ) -> Descent:
        decides = len(prompt) + token - 1  # the position whose logits choose the token
        seen, seen_in_company = (
            self._watched(prompt, company=k, place=at, tokens=token + 1) for k, at in ((1, 0), (company, place))
        )
        first = _first_difference(seen, seen_in_company, decides)
        keep = frozenset({decides} if first is None else {decides, first.position})
        ours, theirs = (
            self._watched(prompt, company=k, place=at, tokens=token + 1, keep=keep)
            for k, at in ((1, 0), (company, place))
        )
        decoder = TextDecoder()
        answer = "".join(decoder.push(self._tokenizer.bytes_of(one)) for one in alone[:token])
        return Descent(
            prompt=text,
            arithmetic=self._arithmetic.name,
            company=company,
            place=place,
            has_forked=has_forked,
            prompt_tokens=len(prompt),
            token=token,
            char=len(answer),
            text=answer,
            candidates=self._candidates(_logits(ours, decides), _logits(theirs, decides)),
            origin=None if first is None else _origin(first, ours, theirs),
            layers=tuple(
                _layer_difference(layer, state, theirs.states[layer, position])
                for (layer, position), state in ours.states.items()
                if position == decides
            ),
        )

    def _candidates(self, alone: Array, in_company: Array) -> tuple[Candidate, Candidate]:
        """The token chosen alone, and the one chosen in company, or else the second best alone."""
        first, other = int(kernels.argmax(alone[None])[0]), int(kernels.argmax(in_company[None])[0])
        if other == first:
            rest = alone.copy()
            rest[first] = -np.inf
            other = int(kernels.argmax(rest[None])[0])
        return self._candidate(first, alone, in_company), self._candidate(other, alone, in_company)

    def _candidate(self, token: int, alone: Array, in_company: Array) -> Candidate:
        text = self._tokenizer.bytes_of(token).decode("utf-8", "replace")
        return Candidate(token=token, text=text, alone=float(alone[token]), in_company=float(in_company[token]))

    def _closest(self, prompt: tuple[int, ...], alone: list[int]) -> int:
        """The token of the answer whose logit was closest to the second best."""
        keep = frozenset(range(len(prompt) - 1, len(prompt) + len(alone) - 1))
        sight = self._watched(prompt, company=1, place=0, tokens=len(alone), keep=keep)
        margins = [float(np.subtract(*np.sort(_logits(sight, position))[:-3:-1])) for position in sorted(keep)]
        return int(np.argmin(margins))

    def _watched(
        self, prompt: tuple[int, ...], *, company: int, place: int, tokens: int, keep: frozenset[int] = frozenset()
    ) -> Sight:
        return self._answers(prompt, company=company, max_tokens=tokens, place=place, sight=Sight(keep=keep)).sight

    def _answers(
        self,
        prompt: tuple[int, ...],
        *,
        company: int,
        max_tokens: int,
        place: int = 0,
        sight: Sight | None = None,
    ) -> _Answers:
        """Every twin's answer, computed as the engine does when all of them arrive at once."""
        request = Request(tokens=prompt, max_tokens=max_tokens)
        capacity = company * (pages_of(request.most_tokens) + 1) * PAGE_TOKENS
        check(request, vocab=self._settings.vocab, context_tokens=self._settings.context, cache_tokens=capacity)
        cache = KvCache(self._settings, tokens=capacity, slots=company)
        scheduler = Scheduler(cache, chunk_tokens=min(CHUNK_TOKENS, capacity), queue=company)
        tickets = [Ticket(number=number, request=request, on_emission=_unheard) for number in range(company)]
        for ticket in tickets:
            scheduler.enqueue(ticket)
        while shares := scheduler.next_shares():
            ours = tickets[place].slot
            self._model.watch(sight if ours is not None else None, slot=-1 if ours is None else ours)
            chosen = kernels.argmax(self._model.forward(batch_of(shares), cache))
            scheduler.complete(shares)
            for ticket, token in zip((share.ticket for share in shares if share.is_last), chosen, strict=True):
                ticket.tokens.append(int(token))
                if ticket.emitted == max_tokens or token in self._tokenizer.eos_ids:
                    scheduler.remove(ticket)
        self._model.watch(None)
        return _Answers(tokens=[ticket.tokens[len(prompt) :] for ticket in tickets], sight=sight or Sight())


def _unheard(_: object) -> None:
    """The tickets here are read when they have ended."""


def _fork(alone: Sequence[int], twin: Sequence[int]) -> int | None:
    """The first token that differs; one answer is never a part of the other, since both end in the same way."""
    return next((at for at, (a, b) in enumerate(zip(alone, twin, strict=False)) if a != b), None)


def _first_difference(ours: Sight, theirs: Sight, decides: int) -> Place | None:
    """The earliest place whose numbers differ, of those that have a part in the logits at position `decides`."""
    for place, digest in ours.digests.items():
        if theirs.digests[place] != digest and (place.product != "head" or place.position == decides):
            return place
    return None


def _logits(sight: Sight, position: int) -> Array:
    return sight.kept[Place(None, "head", "out", position)].numbers


def _origin(first: Place, ours: Sight, theirs: Sight) -> Origin:
    a, b = ours.kept[first], theirs.kept[first]
    bits = np.flatnonzero(a.numbers.view(np.uint32) != b.numbers.view(np.uint32))
    inputs = ours.kept[Place(first.layer, first.product, "in", first.position)].numbers
    return Origin(
        position=first.position,
        layer=first.layer,
        operation=first.product if first.side == "out" else _MADE_BY[first.product],
        inputs=len(inputs),
        outputs=len(a.numbers),
        differing=len(bits),
        column=int(bits[0]),
        largest=float(np.abs(a.numbers - b.numbers).max()),
        rows_alone=a.rows,
        row_alone=a.row,
        rows_in_company=b.rows,
        row_in_company=b.row,
    )


def _layer_difference(layer: int, alone: Array, in_company: Array) -> LayerDifference:
    difference = in_company.astype(np.float64) - alone
    return LayerDifference(
        layer=layer,
        share=float(np.mean(alone.view(np.uint32) != in_company.view(np.uint32))),
        relative=float(np.linalg.norm(difference) / np.linalg.norm(alone.astype(np.float64))),
        largest=float(np.abs(difference).max()),
    )
