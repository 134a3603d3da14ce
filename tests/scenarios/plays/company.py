"""Servers whose answers depend, or seem to depend, on how many requests they work on at once."""

from __future__ import annotations

from scenario import Asked, Scenario, Told, spoken

ALONE = "One, two, three, four."
IN_COMPANY = "One, two, three, go!"
ENDS = ("four.", "four.", "four.", "go!", "alpha.", "bravo.", "charlie.", "delta.")
RARE = frozenset({150, 351, 530})


class EightSlots(Scenario):
    """Case 1: one text alone; of eight together three give it and five give others. Logprobs wobble everywhere."""

    delay_s = 0.05
    judged = 0

    def answer(self, asked: Asked) -> Told:
        text = ALONE
        if asked.has_company and not asked.is_short:
            text = f"One, two, three, {ENDS[self.judged % 8]}"
            self.judged += 1
        wobble = asked.order % 3 * 1e-4
        last = len(text.split(" ")) - 1
        return Told(text=text, tokens=spoken(text, {last: (-0.3 - wobble, {" five": -1.5 + wobble})}))


class OddInCompany(Scenario):
    """Case 5: 3 of 600 answers in company are odd (0.5 %), none alone."""

    delay_s = 0.02
    judged = 0

    def answer(self, asked: Asked) -> str:
        if not asked.has_company or asked.is_short:
            return ALONE
        self.judged += 1
        return IN_COMPANY if self.judged in RARE else ALONE


class Ladder(Scenario):
    """Another kernel from three together on, and a third one from five on."""

    delay_s = 0.07

    def answer(self, asked: Asked) -> str:
        return ALONE if asked.together < 3 else IN_COMPANY if asked.together < 5 else "One, two, three, alpha."


class Band(Scenario):
    """Case 20, scaled down: the text is always the same, and logprobs move only where exactly five are together."""

    delay_s = 0.04

    def answer(self, asked: Asked) -> Told:
        moved = 1e-3 * (1 + asked.order % 3) if asked.together == 5 else 0.0
        return Told(text=ALONE, tokens=spoken(ALONE, {1: (-0.25 - moved, {" six,": -2.0})}))


class Batching(Scenario):
    """One text alone, another in any company; each prompt has its own two."""

    delay_s = 0.05

    def answer(self, asked: Asked) -> str:
        return f"{asked.prompt} {IN_COMPANY if asked.has_company else ALONE}"


class Steady(Scenario):
    """One text, however many are together."""

    delay_s = 0.05

    def answer(self, asked: Asked) -> str:
        return f"{asked.prompt} {ALONE}"


class Coin(Scenario):
    """One of two texts by chance, whatever the company; `rate` is how often the second one comes."""

    delay_s = 0.0
    rate = 0.5

    def answer(self, asked: Asked) -> str:
        return f"{asked.prompt} {IN_COMPANY if self.chance.random() < self.rate else ALONE}"


class OnlyOnePrompt(Scenario):
    """Company changes the answer to the first prompt and to no other; that to a `wild` one varies by chance."""

    delay_s = 0.05

    def answer(self, asked: Asked) -> str:
        varies = self.chance.random() < 0.5 if "wild" in asked.prompt else asked.has_company and "first" in asked.prompt
        return f"{asked.prompt} {IN_COMPANY if varies else ALONE}"


class WaitingLine(Scenario):
    """Answers one at a time, with another text for whoever came while others were waiting."""

    def answer(self, asked: Asked) -> str:
        return f"{asked.prompt} {IN_COMPANY if asked.in_flight > 1 else ALONE}"


class Invariant(Scenario):
    """The same text and the same logprobs, whatever is asked beside it, cold or warm, streamed or whole."""

    delay_s = 0.08

    def answer(self, asked: Asked) -> Told:
        return Told(text=ALONE, tokens=spoken(ALONE), cached_tokens=8 if asked.cached else 0)


class LikeLlama(Scenario):
    """As llama.cpp does in bf16: company changes the text; the prefix cache moves logprobs everywhere and no text."""

    delay_s = 0.05
    means = "llamacpp"
    keeps_prefixes = True

    def answer(self, asked: Asked) -> Told:
        text = IN_COMPANY if asked.has_company else ALONE
        moved = (2e-4 if asked.cached else 0.0) + (1e-3 if asked.has_company else 0.0)
        margins = {place: (-0.3 - moved, {" five": -1.6}) for place in range(4)}
        return Told(text=text, tokens=spoken(text, margins), cached_tokens=8 if asked.cached else 0)
