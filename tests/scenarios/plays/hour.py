"""Servers whose answers depend on when and after what they are asked, and servers that only vary by chance."""

from __future__ import annotations

from scenario import Asked, Scenario

OLD = "The old weights answer."
NEW = "The new weights answer."


class ChangePoint(Scenario):
    """One text before request number `at`, another from then on: a deployment."""

    at: int = 0

    def answer(self, asked: Asked) -> str:
        return f"{OLD if asked.order < self.at else NEW} {asked.prompt}"


class Drift(Scenario):
    """The second text becomes likelier from request to request; after `length` of them it is sure."""

    length: int = 1

    def answer(self, asked: Asked) -> str:
        return f"{NEW if self.chance.random() < asked.order / self.length else OLD} {asked.prompt}"


class Predecessor(Scenario):
    """The text depends on which prompt was asked just before: state that leaks from one request into the next."""

    def answer(self, asked: Asked) -> str:
        return f"{asked.prompt} after {asked.previous or 'nothing'}"


class Chance(Scenario):
    """Independent and identical: one of two texts, the second one at `rate`."""

    rate: float = 0.3

    def answer(self, asked: Asked) -> str:
        return f"{NEW if self.chance.random() < self.rate else OLD} {asked.prompt}"


class Alternating(Scenario):
    """Two texts in strict turn over all requests."""

    def answer(self, asked: Asked) -> str:
        return f"{NEW if asked.order % 2 else OLD} {asked.prompt}"


class Hosted(Scenario):
    """The public experiment: 1, 1, 2, 1 and 12 different texts; those of the last part at characters 227 and 323."""

    def answer(self, asked: Asked) -> str:
        if "proverb" in asked.prompt:
            return f"A cache that lies is worse than none{'!' if asked.before == 13 else '.'}"
        if "paragraph" not in asked.prompt:
            return f"The answer to: {asked.prompt}"
        variant = VARIANTS[asked.before % len(VARIANTS)]
        shared = "x" * 227
        if variant == 0:
            return f"{shared}another way"
        return f"{shared}{'y' * 96}{chr(ord('a') + variant)}"


VARIANTS = (0, 1, 2, 1, 3, 1, 4, 0, 5, 1, 6, 1, 7, 8, 1, 9, 0, 10, 1, 11, 1, 1, 0, 1, 2, 1, 1, 3, 1, 1)
