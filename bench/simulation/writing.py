"""Texts of a prompt: the usual one, and variants that fork from it or from each other, word by word.

A text is a pure function of the seed, the prompt and the number of the variant, so that a truth has only to say which
variant an answer is. A word is a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from simulation.server import WORDS
from temp0.core.run import Alternative, Token

Slip = tuple[float, float]
"""By how many nats a chosen token falls below the likeliest one, from and to."""

FRESH = 1_000
"""Variants from here on fork from the usual text only: one for each answer of an endpoint that never repeats."""

_SLIPS = 0.15
_VOCABULARY = """
the a of in and to is that it as for with one each line cache text answer prime number stale word old new slow light
stone river paper morning seven twelve north east left under over before after never always often rarely naïve café
größer 界 слово — first second third keeps holds turns gives takes finds reads writes asks waits
"""
_WORDS = tuple(_VOCABULARY.split())


@dataclass(slots=True, kw_only=True)
class Writing:
    """All texts of one run. `slip` makes some chosen tokens unlikely ones, as sampling does.

    `bits` is how many versions of the logprobs there are of one text: 1 where the arithmetic repeats to the last bit.
    """

    seed: str
    random: Random
    slip: Slip | None = None
    bits: int = 1
    _words: dict[tuple[str, int], Sequence[str]] = field(default_factory=dict)
    _tokens: dict[tuple[str, int, int], tuple[Token, ...]] = field(default_factory=dict)

    def text(self, prompt: str, variant: int, most: int) -> str:
        """The text of a variant, cut after so many words."""
        return " ".join(self.words(prompt, variant)[:most])

    def tokens(self, prompt: str, variant: int, most: int) -> tuple[Token, ...]:
        """Its tokens with logprobs and alternatives, the likeliest first."""
        key = (prompt, variant, self.random.randrange(self.bits))
        if key not in self._tokens:
            self._tokens[key] = tuple(self._spelled(*key))
        return self._tokens[key][:most]

    def words(self, prompt: str, variant: int) -> Sequence[str]:
        """The words of a variant; 0 is the usual text."""
        key = (prompt, variant)
        if key not in self._words:
            self._words[key] = self._usual(prompt) if variant == 0 else self._forked(prompt, variant)
        return self._words[key]

    def _usual(self, prompt: str) -> Sequence[str]:
        draw = Random(f"{self.seed}|{prompt}")
        return draw.choices(_WORDS, k=WORDS + draw.randint(-6, 6))

    def _forked(self, prompt: str, variant: int) -> Sequence[str]:
        draw = Random(f"{self.seed}|{prompt}|{variant}")
        from_usual = variant >= FRESH or draw.random() < 0.6
        parent = self.words(prompt, 0 if from_usual else draw.randrange(variant))
        fork = draw.randrange(3, len(parent) - 12)
        other = draw.choice([word for word in _WORDS if word != parent[fork]])
        return [*parent[:fork], other, *draw.choices(_WORDS, k=len(parent) - fork - 1 + draw.randint(-3, 3))]

    def _spelled(self, prompt: str, variant: int, version: int) -> list[Token]:
        tokens = []
        for place, word in enumerate(self.words(prompt, variant)):
            draw = Random(f"{self.seed}|{prompt}|{variant}|{place}")
            noise = version * 2.0**-12 * draw.uniform(-1, 1)
            tokens.append(self._token(word if place == 0 else f" {word}", draw, noise))
        return tokens

    def _token(self, text: str, draw: Random, noise: float) -> Token:
        likeliest = -draw.uniform(0.01, 0.6) + noise
        others = [f" {word}" for word in draw.sample(_WORDS, 3) if f" {word}" != text][:2]
        behind = draw.uniform(0.02, 5.0)
        logprob = likeliest
        if self.slip and draw.random() < _SLIPS:
            logprob = likeliest - draw.uniform(*self.slip)
        ladder = [likeliest if logprob < likeliest else likeliest - behind, likeliest - behind - 1.0]
        told = [(text, logprob), *zip(others, ladder, strict=True)]
        told.sort(key=lambda pair: -pair[1])
        return Token(
            bytes=text.encode(),
            logprob=logprob,
            top=tuple(Alternative(bytes=word.encode(), logprob=value) for word, value in told),
        )
