"""The sets of conditions that simulated endpoints are asked under, as users ask: from one alone to everything."""

from __future__ import annotations

from temp0.core.plan import Condition

_ALONE, _WITH_LOGPROBS = Condition(), Condition(logprobs=True)
_COLD, _WARM = Condition(cache="cold"), Condition(cache="warm")

ALONE = (_ALONE,)
COMPANY = (_ALONE, Condition(company=8))
MIXED = (_ALONE, Condition(company=8, filler="mixed"))
LADDER = tuple(Condition(company=company) for company in (1, 2, 4, 8))
LOAD = (_ALONE, Condition(company=32))
LOGPROBS = (_ALONE, _WITH_LOGPROBS)
CACHE = (_ALONE, _COLD, _WARM)
EVERYTHING = (_ALONE, Condition(company=8), _WITH_LOGPROBS, _COLD, _WARM)

NAMES = {
    ALONE: "alone",
    COMPANY: "alone and 8",
    MIXED: "alone and 8 mixed",
    LADDER: "1, 2, 4, 8",
    LOAD: "alone and 32",
    LOGPROBS: "with logprobs and without",
    CACHE: "as found, cold, warm",
    EVERYTHING: "everything",
}
"""What the tables call them."""
