"""Servers that remember: a prefix cache that changes the arithmetic, and response caches that answer for the model."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from scenario import Asked, Scenario, Told, spoken

COLD = "A stale line waits in silence."
WARM = "A stale line waits, then wakes."


class Prefix(Scenario):
    """Cases 2 and 3: a prompt read anew gets one text, a prompt found in the prefix cache another."""

    means = "vllm"
    keeps_prefixes = True

    def answer(self, asked: Asked) -> Told:
        return Told(text=WARM if asked.cached else COLD, cached_tokens=8 if asked.cached else 0)


class FortyPrompts(Scenario):
    """Case 3: cold against warm moves the logprobs of all 40 prompts and the text of 18 (those that say `flips`)."""

    means = "vllm"
    keeps_prefixes = True

    def answer(self, asked: Asked) -> Told:
        flips = asked.cached and "flips" in asked.prompt
        text = f"{WARM if flips else COLD} {asked.prompt}"
        moved = 0.1 if asked.cached else 0.0
        return Told(text=text, tokens=spoken(text, {1: (-0.4 - moved, {" fresh": -1.2})}))


class PrefixUnseen(Scenario):
    """A prefix cache that changes no text and no logprob: only the usage tells of it."""

    means = "vllm"
    keeps_prefixes = True

    def answer(self, asked: Asked) -> Told:
        return Told(text=f"{COLD} {asked.prompt}", cached_tokens=8 if asked.cached else 0)


class PrefixAndChance(Scenario):
    """A prefix cache beside texts that vary by chance, cold as well as warm."""

    means = "vllm"
    keeps_prefixes = True

    def answer(self, asked: Asked) -> Told:
        return Told(text=WARM if self.chance.random() < 0.5 else COLD, cached_tokens=8 if asked.cached else 0)


class FirstDiffers(Scenario):
    """Case 2 where nothing can be flushed: the first answer to each prompt is another than all later ones."""

    def answer(self, asked: Asked) -> str:
        return COLD if asked.before == 0 else WARM


class OnceByChance(Scenario):
    """One odd answer to each prompt, at any place: `places` has it by prompt, in the order in which they come."""

    places: tuple[int, ...] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.place_of: dict[str, int] = {}

    def answer(self, asked: Asked) -> str:
        place = self.place_of.setdefault(asked.prompt, self.places[len(self.place_of) % len(self.places)])
        return COLD if asked.before == place else WARM


class Replaying(Scenario):
    """Case 30: the first answer to a prompt is kept and told again. `header` names the field that says so, if any.

    `fresh` lists what a replay makes anew: `id`, `created`. Where `texts` has more than one, the cache is none: it
    only looks like one.
    """

    header: str | None = None
    hit: str = "HIT"
    miss: str = "MISS"
    fresh: tuple[str, ...] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept: dict[str, Told] = {}

    def stay_s(self, asked: Asked) -> float:
        return 0.01 if asked.before else 0.2

    def answer(self, asked: Asked) -> Told:
        told = self.kept.get(asked.prompt)
        if told is None:
            told = Told(text=f"{COLD} {asked.prompt}", id=f"r-{asked.order}", created=1_767_225_600 + asked.order)
            self.kept[asked.prompt] = told
            return replace(told, headers={self.header: self.miss} if self.header else {})
        return replace(
            told,
            id=None if "id" in self.fresh else told.id,
            created=None if "created" in self.fresh else told.created,
            headers={self.header: self.hit} if self.header else {},
        )


class Lazy(Scenario):
    """Not a cache: every answer is computed, though its id, or its header, or its speed look like one.

    `id` and `created` are told with every answer where they are set; `texts` are told in turn.
    """

    id: str | None = None
    created: int | None = None
    header: str | None = None
    value: str = "MISS"
    slow_first_s: float = 0.0
    texts: tuple[str, ...] = (COLD,)

    def stay_s(self, asked: Asked) -> float:
        return self.slow_first_s if asked.before == 0 else 0.0

    def answer(self, asked: Asked) -> Told:
        return Told(
            text=f"{self.texts[asked.before % len(self.texts)]} {asked.prompt}",
            id=self.id,
            created=self.created,
            headers={self.header: self.value} if self.header else {},
        )


class Aging(Scenario):
    """A caching proxy that says nothing: a kept answer comes under a new id and no faster, with its time of creation.

    An answer is kept for `keeps_s`; the clock is `ahead_s` ahead of ours. Where `keeps_s` is 0 nothing is kept.
    """

    delay_s: float = 0.2
    keeps_s: float = 60.0
    ahead_s: int = 0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept: dict[str, tuple[float, int]] = {}

    def stay_s(self, _asked: Asked) -> float:
        in_full_minutes = int(time.time() + self.delay_s) % 60 == 0  # which a clock of minutes would tell
        return self.delay_s + in_full_minutes

    def answer(self, asked: Asked) -> Told:
        since_s, created = self.kept.get(asked.prompt, (0.0, 0))
        if not created or asked.since_s - since_s >= self.keeps_s:
            created = int(time.time()) + self.ahead_s
            self.kept[asked.prompt] = asked.since_s, created
        return Told(text=f"{COLD} {asked.prompt}", created=created)
