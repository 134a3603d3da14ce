"""Gathers the evidence of one prompt from its counted attempts.

Everything is taken in the order in which attempts left, which each of them carries, so that the order in which they
are stored changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from temp0.core.analysis import PromptAnalysis
from temp0.core.cause.evidence import Below, Change, Group, Labelled, PromptEvidence, Singles
from temp0.core.chapter import Chapter
from temp0.core.company import running_alone
from temp0.core.comparison import Kinds
from temp0.core.facts import Facts, Weighed, completions, grouped
from temp0.core.header import tells_machine
from temp0.core.margin import deficit
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Sample

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

    def by(values: Sequence[str | None], *, at_least: int = 2) -> Labelled | None:
        return _labelled(values, texts, own, at_least=at_least)

    before = [chapter.predecessors.get(attempt.order, (None, None)) for attempt in attempts]
    return Singles(
        condition=condition,
        replicas=_present({name: by(values) for name, values in _replica_labels(answers).items()}),
        places=_present(
            {
                "the prompt asked before": by([prompt for prompt, _ in before]),
                "the condition before": by([name for _, name in before]),
                "every second request": by(["even" if attempt.order % 2 == 0 else "odd" for attempt in attempts]),
            }
        ),
        cached=by([_count(answer.usage.cached) for answer in answers], at_least=1),
        first=by(["first", *["later"] * (len(texts) - 1)], at_least=1)
        if _is_first(condition, attempts, chapter)
        else None,
        change=_change(texts, own),
    )


def _present(labelled: Mapping[str, Labelled | None]) -> dict[str, Labelled]:
    return {name: one for name, one in labelled.items() if one is not None}


def _labelled(values: Sequence[str | None], texts: Sequence[str], kinds: Kinds, *, at_least: int) -> Labelled | None:
    """Texts by a label; values seen fewer times than `at_least`, and such as were not told, are left out."""
    seen = grouped((value, text) for value, text in zip(values, texts, strict=True) if value)
    names = sorted(value for value, own in seen.items() if len(own) >= at_least)
    if len(names) < 2:
        return None
    place_of = {name: place for place, name in enumerate(names)}
    labels = np.array([place_of.get(value or "", -1) for value in values])
    counts = {name: Counter(seen[name]) for name in names}
    groups = tuple(
        Group(value=name, attempts=own.total(), texts=len(own), modal=min(own, key=lambda text: (-own[text], text)))
        for name, own in counts.items()
    )
    return Labelled(groups=groups, stratum=kinds.stratum(labels))


def _replica_labels(answers: Sequence[Completion]) -> dict[str, list[str | None]]:
    """What may tell machines apart, where more than one value of it came: fingerprint, model, headers."""
    labels: dict[str, list[str | None]] = {
        "fingerprint": [answer.fingerprint for answer in answers],
        "model": [answer.model for answer in answers],
    }
    machines = {
        id(answer): {name: value for name, value in answer.headers if tells_machine(name)}
        for answer in {id(answer): answer for answer in answers}.values()
    }
    told = [machines[id(answer)] for answer in answers]
    for name in sorted({name for headers in machines.values() for name in headers}):
        labels[name] = [headers.get(name) for headers in told]
    return {name: values for name, values in labels.items() if len(set(values)) > 1}


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
    )


def _singles(known: Facts, condition: Condition) -> Singles | None:
    attempts = known.counted.get(condition.name, ())
    if not attempts or known.kinds is None:
        return None
    return singles(condition, attempts, known.rows_of[condition.name], known.kinds, known.chapter)
