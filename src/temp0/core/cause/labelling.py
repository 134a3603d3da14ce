"""Sorts the attempts of one prompt by a label, above all by what may tell one machine from another.

Values of a label that came too seldom are left out, and so are attempts for which none was told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from temp0.core.cause.evidence import Group, Labelled, Pool
from temp0.core.comparison import Stratum, kinds
from temp0.core.facts import Facts, completions
from temp0.core.header import tells_machine
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion

Values = Sequence[str | None]
"""The value of a label for each of several attempts, `None` or empty where none was told."""


def labelled(
    values: Values, texts: Sequence[str], stratum: Callable[[Mapping[str, int]], Stratum | None], *, at_least: int = 2
) -> Labelled | None:
    """Texts by a label, of values that came so often; `None` where these are not two.

    `stratum` makes the test from the place of each value.
    """
    seen: dict[str, Counter[str]] = {}
    for (value, text), count in Counter(zip(values, texts, strict=True)).items():
        if value:
            seen.setdefault(value, Counter())[text] = count
    counts = {value: seen[value] for value in sorted(seen) if seen[value].total() >= at_least}
    if len(counts) < 2:
        return None
    return Labelled(
        groups=tuple(
            Group(
                value=value, attempts=own.total(), texts=len(own), modal=min(own, key=lambda text: (-own[text], text))
            )
            for value, own in counts.items()
        ),
        stratum=stratum({value: place for place, value in enumerate(counts)}),
    )


def tells_time(values: Values, texts: Sequence[str]) -> bool:
    """Whether each value came and went once while texts went on beyond it: one change, and one that made none."""
    told = [(value, text) for value, text in zip(values, texts, strict=True) if value]
    stretches = 1 + sum(one != other for (one, _), (other, _) in pairwise(told))
    pairs = set(told)
    return stretches == len({value for value, _ in pairs}) and len({text for _, text in pairs}) < len(pairs)


def present(found: Mapping[str, Labelled | None]) -> dict[str, Labelled]:
    """Only the labels that told something."""
    return {name: one for name, one in found.items() if one is not None}


def replica_labels(answers: Sequence[Completion]) -> dict[str, Values]:
    """What may tell machines apart, where more than one value of it came: fingerprint, model, headers."""
    labels: dict[str, Values] = {
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


def pools(known: Facts) -> tuple[Pool, ...]:
    """The conditions in company under which texts differ and something may tell machines apart."""
    found = (_pool(known, condition) for condition in known.plan.conditions if condition.company > 1)
    return tuple(pool for pool in found if pool is not None)


def _pool(known: Facts, condition: Condition) -> Pool | None:
    distinct = [answer for answer, _ in known.answers.get(condition.name, ())]  # few, where answers are many
    if len({answer.text for answer in distinct}) < 2 or not replica_labels(distinct):
        return None
    attempts = known.counted[condition.name]
    answers = completions(attempts)
    texts = [answer.text for answer in answers]
    blocks = [attempt.block for attempt in attempts]
    replicas = present({name: _of_machines(own, texts, blocks) for name, own in replica_labels(answers).items()})
    if not replicas:
        return None
    lined = [name for name, one in replicas.items() if one.lines_up]
    return Pool(condition=condition, replicas=replicas, machines=_machines(known, condition, lined) if lined else ())


def _machines(known: Facts, condition: Condition, lined: Sequence[str]) -> tuple[str, ...]:
    """Which of these labels leave nothing to company in any condition that differs from this one in company alone."""
    answers = completions(_in_any_company(known, condition))
    labels, texts = replica_labels(answers), [answer.text for answer in answers]
    return tuple(name for name in lined if _leaves_nothing(labels[name], texts))


def _of_machines(values: Values, texts: Sequence[str], blocks: Sequence[int]) -> Labelled | None:
    """By a label, where the attempts of one block that have one value of it are taken together."""

    def stratum(place_of: Mapping[str, int]) -> Stratum | None:
        told = [
            ((block, place_of[value]), text)
            for block, value, text in zip(blocks, values, texts, strict=True)
            if value and value in place_of
        ]
        row_of = {unit: row for row, unit in enumerate(dict.fromkeys(unit for unit, _ in told))}
        column_of = {text: column for column, text in enumerate(dict.fromkeys(text for _, text in told))}
        table = np.zeros((len(row_of), len(column_of)), dtype=np.int64)
        np.add.at(table, ([row_of[unit] for unit, _ in told], [column_of[text] for _, text in told]), 1)
        return kinds(table).stratum(np.array([place for _, place in row_of]))

    return labelled(values, texts, stratum)


def _in_any_company(known: Facts, condition: Condition) -> list[Attempt]:
    """The attempts of a condition, and of those that differ from it in company and its fillers alone."""
    return [
        attempt
        for other in known.plan.conditions
        if set(condition.factors_apart(other)) <= {"company", "filler"}
        for attempt in known.counted.get(other.name, ())
    ]


def _leaves_nothing(values: Values, texts: Sequence[str]) -> bool:
    """Whether every attempt has a value, and each value one text."""
    return all(values) and len(set(zip(values, texts, strict=True))) == len(set(values))
