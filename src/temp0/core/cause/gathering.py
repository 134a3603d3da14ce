"""Gathers the evidence of one prompt from its counted attempts.

Everything is taken in the order in which attempts left, which each of them carries, so that the order in which they
are stored changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from temp0.core.analysis import PromptAnalysis
from temp0.core.cause.evidence import Below, Change, Group, Labelled, PromptEvidence, Singles
from temp0.core.chapter import Chapter
from temp0.core.company import running_alone
from temp0.core.comparison import Kinds
from temp0.core.facts import Facts, grouped
from temp0.core.margin import deficit
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Sample

STRETCHES, ONE_BY_ONE_UP_TO = 32, 64
"""Longer series of attempts alone are looked at in 32 stretches of time."""

_MACHINE = frozenset(
    {
        "backend",
        "build",
        "canary",
        "cell",
        "cluster",
        "colo",
        "color",
        "container",
        "datacenter",
        "dc",
        "deployment",
        "edge",
        "engine",
        "gateway",
        "gpu",
        "host",
        "hostname",
        "instance",
        "location",
        "machine",
        "model",
        "node",
        "pod",
        "pop",
        "provider",
        "rank",
        "region",
        "release",
        "replica",
        "revision",
        "ring",
        "route",
        "router",
        "served",
        "server",
        "shard",
        "slot",
        "stack",
        "task",
        "upstream",
        "variant",
        "version",
        "via",
        "worker",
        "zone",
    }
)
_NO_MACHINE = frozenset(
    {
        "age",
        "bytes",
        "cache",
        "characters",
        "compute",
        "content",
        "cost",
        "count",
        "credits",
        "current",
        "date",
        "depth",
        "duration",
        "elapsed",
        "latency",
        "length",
        "limit",
        "load",
        "memory",
        "ms",
        "percent",
        "price",
        "processing",
        "queue",
        "rate",
        "ratelimit",
        "remaining",
        "request",
        "reset",
        "score",
        "seconds",
        "size",
        "step",
        "time",
        "timing",
        "tokens",
        "trace",
        "ttl",
        "units",
        "usage",
        "used",
        "utilization",
        "wait",
    }
)
_WORDS = re.compile(r"[a-z0-9]+")


@lru_cache(maxsize=1024)
def tells_machine(name: str) -> bool:
    """Whether a header's name says that its value may tell one machine, build or route from another.

    >>> tells_machine("x-replica"), tells_machine("x-envoy-upstream-service-time"), tells_machine("x-request-id")
    (True, False, False)
    """
    words = set(_WORDS.findall(name.lower()))
    return bool(words & _MACHINE) and not words & _NO_MACHINE


def singles(
    condition: Condition, attempts: Sequence[Attempt], rows: NDArray[np.int64], kinds: Kinds, chapter: Chapter
) -> Singles | None:
    """The attempts alone under a condition by all their labels; `None` where their texts do not differ.

    `attempts` have counted, in the order in which they left, and `rows` gives the row of each one's block in `kinds`.
    """
    answers = [attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Completion)]
    if len({answer.text for answer in answers}) < 2:
        return None
    own = kinds.rows(rows)

    def by(label: Callable[[int], str | None], *, at_least: int = 2) -> Labelled | None:
        return _labelled([label(place) for place in range(len(answers))], answers, own, at_least=at_least)

    before = [chapter.predecessors.get(attempt.order) for attempt in attempts]
    return Singles(
        condition=condition,
        replicas=_present({name: by(values.__getitem__) for name, values in _replica_labels(answers).items()}),
        places=_present(
            {
                "the prompt asked before": by(lambda place: before[place][0] if before[place] else None),  # type: ignore[index]
                "the condition before": by(lambda place: before[place][1] if before[place] else None),  # type: ignore[index]
                "every second request": by(lambda place: "even" if attempts[place].order % 2 == 0 else "odd"),
            }
        ),
        cached=by(lambda place: _count(answers[place].usage.cached), at_least=1),
        first=_first(condition, attempts, chapter, by),
        change=_change([answer.text for answer in answers], own),
    )


def _present(labelled: Mapping[str, Labelled | None]) -> dict[str, Labelled]:
    return {name: one for name, one in labelled.items() if one is not None}


def _labelled(
    values: Sequence[str | None], answers: Sequence[Completion], kinds: Kinds, *, at_least: int
) -> Labelled | None:
    """Answers by a label; values seen fewer times than `at_least`, and such as were not told, are left out."""
    counts = Counter(value for value in values if value)
    names = sorted(value for value, count in counts.items() if count >= at_least)
    if len(names) < 2:
        return None
    place_of = {name: place for place, name in enumerate(names)}
    labels = np.array([place_of.get(value or "", -1) for value in values])
    texts = [Counter(answer.text for answer, value in zip(answers, values, strict=True) if value == n) for n in names]
    groups = tuple(
        Group(value=name, attempts=own.total(), texts=len(own), modal=min(own, key=lambda text: (-own[text], text)))
        for name, own in zip(names, texts, strict=True)
    )
    return Labelled(groups=groups, stratum=kinds.stratum(labels))


def _replica_labels(answers: Sequence[Completion]) -> dict[str, list[str | None]]:
    """What may tell machines apart, where more than one value of it came: fingerprint, model, headers."""
    labels: dict[str, list[str | None]] = {
        "fingerprint": [answer.fingerprint for answer in answers],
        "model": [answer.model for answer in answers],
    }
    told = [{name: value for name, value in answer.headers if tells_machine(name)} for answer in answers]
    for name in sorted({name for headers in told for name in headers}):
        labels[name] = [headers.get(name) for headers in told]
    return {name: values for name, values in labels.items() if len(set(values)) > 1}


def _count(cached: int | None) -> str | None:
    return None if cached is None else str(cached)


def _first(
    condition: Condition,
    attempts: Sequence[Attempt],
    chapter: Chapter,
    by: Callable[..., Labelled | None],
) -> Labelled | None:
    """The first attempt of the prompt against the later ones, where nothing of the prompt was sent before it."""
    own_fillers = [filler.order for filler in chapter.fillers if filler.prompt == chapter.prompt.id]
    earliest = min([chapter.judged[0].order, *own_fillers[:1]])
    if condition.cache != "as-found" or attempts[0].order != earliest:
        return None
    return by(lambda place: "later" if place else "first", at_least=1)


def _change(texts: Sequence[str], kinds: Kinds) -> Change:
    later = len(texts) - 1
    stretches = later if later <= ONE_BY_ONE_UP_TO else STRETCHES
    labels = np.concatenate([[-1], np.arange(later) * stretches // max(later, 1)])
    changes = [place for place in range(2, len(texts)) if texts[place] != texts[place - 1]]
    once = changes[0] - 1 if len(changes) == 1 else None
    return Change(timeline=kinds.stratum(labels), before=once, after=None if once is None else later - once)


def below(completions: Sequence[Completion]) -> tuple[int, Below | None]:
    """How many completions could tell, and the chosen token that lies furthest below the likeliest, if any does."""
    told_by = {id(one.tokens): one.tokens for one in completions if one.tokens}  # equal tokens are one object
    known = {key: deficit(tokens) for key, tokens in told_by.items()}
    told = [found for one in completions if one.tokens and (found := known[id(one.tokens)]) is not None]
    lower = [found for found in told if found.nats > 0]
    if not lower:
        return len(told), None
    worst = max(lower, key=lambda found: (found.nats, -found.token))
    return len(told), Below(nats=worst.nats, token=worst.token, completions=len(lower))


def prompt_evidence(known: Facts, prompt: PromptAnalysis, samples: Mapping[int, Sequence[Sample]]) -> PromptEvidence:
    """The evidence of one prompt, of which `prompt` is the analysis; `samples` are the server's counts by block."""
    everything = known.everything
    informative, worst = below(everything)
    places = {condition.name: place for place, condition in enumerate(known.plan.conditions)}
    alone = [condition for condition in known.plan.conditions if condition.company == 1]
    lonely = [attempt for condition in alone for attempt in known.judged.get(condition.name, ())]
    series = (_singles(known, condition) for condition in alone) if known.kinds else ()
    return PromptEvidence(
        prompt=prompt,
        planned={one.name: known.plan.judged(known.chapter.prompt, one) for one in known.plan.conditions},
        has_reasoned=any(one.reasoning and not one.text for one in everything),
        informative=informative,
        below=worst,
        running_alone=running_alone(grouped((attempt.block, attempt) for attempt in lonely), samples),
        kinds=known.kinds,
        condition_of=np.array([places[name] for name in known.condition_of]) if known.kinds else None,
        singles=tuple(single for single in series if single is not None),
    )


def _singles(known: Facts, condition: Condition) -> Singles | None:
    attempts = known.counted.get(condition.name, ())
    if not attempts or known.kinds is None:
        return None
    rows = np.array([known.row_of[condition.name, attempt.block] for attempt in attempts])
    return singles(condition, attempts, rows, known.kinds, known.chapter)
