"""Gathers the evidence of one prompt from its counted attempts.

Everything is taken in the order in which attempts left, which each of them carries, so that the order in which they
are stored changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from temp0.core.analysis import PromptAnalysis
from temp0.core.cause.evidence import EVERY_SECOND, Below, Change, Labelled, PromptEvidence, Singles
from temp0.core.cause.labelling import Values, labelled, pools, present, replica_labels, tells_time
from temp0.core.chapter import Chapter
from temp0.core.company import running_alone
from temp0.core.comparison import Kinds, Stratum
from temp0.core.facts import Facts, Weighed, completions, grouped
from temp0.core.margin import deficit
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Sample

STRETCHES, ONE_BY_ONE_UP_TO = 32, 64
"""Longer series of attempts alone are looked at in 32 stretches of time."""


def singles(
    condition: Condition, attempts: Sequence[Attempt], rows: NDArray[np.int64], kinds: Kinds, chapter: Chapter
) -> Singles | None:
    """The attempts alone under a condition by all their labels; `None` where their texts do not differ.

    `attempts` have counted, in the order in which they left, and `rows` gives the row of each one's block in `kinds`.
    """
    answers = completions(attempts)
    texts = [answer.text for answer in answers]
    if len(set(texts)) < 2:
        return None
    own = kinds.rows(rows)

    def by(values: Values, *, at_least: int = 2) -> Labelled | None:
        def stratum(place_of: Mapping[str, int]) -> Stratum | None:
            return own.stratum(np.array([place_of.get(value or "", -1) for value in values]))

        return labelled(values, texts, stratum, at_least=at_least)

    told = replica_labels(answers)
    before = [chapter.predecessors.get(attempt.order, (None, None)) for attempt in attempts]
    return Singles(
        condition=condition,
        replicas=present({name: by(values) for name, values in told.items()}),
        times=frozenset(name for name, values in told.items() if tells_time(values, texts)),
        places=present(
            {
                "the prompt asked before": by([prompt for prompt, _ in before]),
                "the condition before": by([name for _, name in before]),
                EVERY_SECOND: by(["even places" if attempt.order % 2 == 0 else "odd places" for attempt in attempts]),
            }
        ),
        cached=by([_count(answer.usage.cached) for answer in answers], at_least=1),
        first=by(["first", *["later"] * (len(texts) - 1)], at_least=1)
        if _is_first(condition, attempts, chapter)
        else None,
        change=_change(texts, own),
    )


def _count(cached: int | None) -> str | None:
    return None if cached is None else str(cached)


def _is_first(condition: Condition, attempts: Sequence[Attempt], chapter: Chapter) -> bool:
    """Whether nothing of the prompt was sent before the first of these attempts."""
    own_fillers = [filler.order for filler in chapter.fillers if filler.prompt == chapter.prompt.id]
    earliest = min([chapter.judged[0].order, *own_fillers[:1]])
    return condition.cache == "as-found" and attempts[0].order == earliest


def _change(texts: Sequence[str], kinds: Kinds) -> Change:
    later = len(texts) - 1
    stretches = later if later <= ONE_BY_ONE_UP_TO else STRETCHES
    labels = np.concatenate([[-1], np.arange(later) * stretches // max(later, 1)])
    changes = [place for place in range(2, len(texts)) if texts[place] != texts[place - 1]]
    once = changes[0] - 1 if len(changes) == 1 else None
    return Change(timeline=kinds.stratum(labels), before=once, after=None if once is None else later - once)


def below(answers: Weighed) -> tuple[int, Below | None]:
    """How many completions could tell, and the chosen token that lies furthest below the likeliest, if any does."""
    told_by = {id(one.tokens): one.tokens for one, _ in answers if one.tokens}  # equal tokens are one object
    known = {key: deficit(tokens) for key, tokens in told_by.items()}
    told = [(found, count) for one, count in answers if one.tokens and (found := known[id(one.tokens)]) is not None]
    informative = sum(count for _, count in told)
    lower = [(found, count) for found, count in told if found.nats > 0]
    if not lower:
        return informative, None
    worst = max((found for found, _ in lower), key=lambda found: (found.nats, -found.token))
    return informative, Below(nats=worst.nats, token=worst.token, completions=sum(count for _, count in lower))


def prompt_evidence(known: Facts, prompt: PromptAnalysis, samples: Mapping[int, Sequence[Sample]]) -> PromptEvidence:
    """The evidence of one prompt, of which `prompt` is the analysis; `samples` are the server's counts by block."""
    everything = known.everything
    informative, worst = below(everything)
    alone = [condition for condition in known.plan.conditions if condition.company == 1]
    lonely = [attempt for condition in alone for attempt in known.judged.get(condition.name, ())]
    series = (_singles(known, condition) for condition in alone) if known.kinds else ()
    return PromptEvidence(
        prompt=prompt,
        planned={one.name: known.plan.judged(known.chapter.prompt, one) for one in known.plan.conditions},
        has_reasoned=any(one.reasoning and not one.text for one, _ in everything),
        informative=informative,
        below=worst,
        running_alone=running_alone(
            grouped((attempt.block, attempt) for attempt in lonely if attempt.block in samples), samples
        ),
        kinds=known.kinds,
        condition_of=known.condition_of if known.kinds else None,
        singles=tuple(single for single in series if single is not None),
        pools=pools(known) if known.kinds else (),
    )


def _singles(known: Facts, condition: Condition) -> Singles | None:
    attempts = known.counted.get(condition.name, ())
    if not attempts or known.kinds is None:
        return None
    return singles(condition, attempts, known.rows_of[condition.name], known.kinds, known.chapter)
