"""Servers to which temperature 0 never came, and some that only look like it."""

from __future__ import annotations

from collections.abc import Mapping

from scenario import Asked, Fault, Scenario, Told, spoken

NOUNS = ("river", "stone", "lamp", "cloud", "garden", "mirror", "engine", "harbour", "violin", "window")


class Sampled(Scenario):
    """Case 31: samples at temperature 1 whatever is asked; the third word is one of ten, far below the top one."""

    def answer(self, _asked: Asked) -> Told:
        first, second = self.chance.sample(NOUNS, 2)
        text = f"I saw {first} and {second} {self.chance.randrange(10_000)}"
        logprobs = {2: (-0.2 if first == "river" else -3.1, {} if first == "river" else {" river": -0.2})}
        return Told(text=text, tokens=spoken(text, logprobs))


class OneWildPrompt(Scenario):
    """Nearly every text of one prompt (`wild`) is another, and the other prompts have one text each."""

    def answer(self, asked: Asked) -> str:
        return f"I saw {self.chance.randrange(100_000)}" if "wild" in asked.prompt else f"I saw {asked.prompt}"


class AtTheFork(Scenario):
    """Two texts that part at the third word, with `own` and `other` as the logprobs of the chosen and the other."""

    own: float = -0.6931
    other: float = -0.6931

    def answer(self, _asked: Asked) -> Told:
        word, rest = (" river", " stone") if self.chance.random() < 0.5 else (" stone", " river")
        margins: dict[int, tuple[float, Mapping[str, float]]] = {2: (self.own, {rest: self.other, " lamp": -5.0})}
        return Told(text=f"I saw{word}", tokens=spoken(f"I saw{word}", margins))


class RefusesTemperature(Scenario):
    """Refuses temperature 0, as models that only sample do."""

    def answer(self, _asked: Asked) -> Fault:
        return Fault(
            status=400,
            message="Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported.",
        )


class Observed(Scenario):
    """Case 32: one plain text; asking for logprobs changes long answers, those to prompts that say `long`."""

    chance_plain: float = 0.0

    def answer(self, asked: Asked) -> str:
        if "long" not in asked.prompt:
            return "I saw river"
        if self.chance.random() < self.chance_plain:
            return "I saw lamp"
        return f"I saw {NOUNS[1 + asked.order % 3]}" if asked.wants_logprobs else "I saw river"
