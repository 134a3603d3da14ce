"""Plans for the questions that people have, and what is left of one where the endpoint cannot do all of it.

What somebody said goes before a preset, and is never left out: an endpoint that cannot do it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from temp0.core.plan import Condition, Plan
from temp0.errors import EndpointError, UsageError
from temp0.probe.endpoint import ColdMeans, NoColdMeans
from temp0.workflow.varying import Levels, Said, check_count, counted, crossed, one_at_a_time

Ask = Literal["repeatable", "company", "cache", "everything"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A plan for one question: levels, and how many judged attempts; fewer alone and among mixed fillers."""

    levels: Levels
    n: int
    alone: int | None = None
    mixed: int | None = None
    is_crossed: bool = True


# 59 clean attempts leave at most 5 % (0.95^59 < 0.05). Elsewhere the blocks are as many as let each comparison with
# the base reach p <= 0.05, and all but the one of mixed fillers, which cost most, still do by Holm over five prompts.
PRESETS: dict[Ask, Preset] = {
    "repeatable": Preset(levels=Levels(company=(1,)), n=59),
    "company": Preset(levels=Levels(company=(1, 2, 4, 8, 16)), n=32, alone=16),
    "cache": Preset(levels=Levels(company=(1,), cache=("cold", "warm"), logprobs=(False, True)), n=12),
    "everything": Preset(
        levels=Levels(
            company=(1, 2, 4, 8),
            filler=("same", "mixed"),
            cache=("as-found", "cold", "warm"),
            logprobs=(False, True),
            stream=(False, True),
        ),
        n=24,
        alone=12,
        mixed=16,
        is_crossed=False,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Conditions, the judged attempts of a prompt that names none, and the factors whose levels nobody asked for."""

    conditions: tuple[Condition, ...]
    n: int | None = None
    optional: frozenset[str] = field(default_factory=frozenset)


def proposal(ask: Ask | None, said: Said, *, n: int | None = None) -> Proposal:
    """The conditions of a preset, or our defaults without one, with what was said in place of its own.

    Raises:
        UsageError: There is no such preset, or `n` is no count.

    """
    if n is not None:
        check_count("n", n)
    if ask is None:
        return Proposal(conditions=counted(crossed(said.over(Levels())), alone=said.alone), n=n)
    if ask not in PRESETS:
        raise UsageError(f"ask is {ask!r}, expected one of: {', '.join(PRESETS)}")
    preset = PRESETS[ask]
    levels = said.over(preset.levels)
    conditions = crossed(levels) if preset.is_crossed else one_at_a_time(levels)
    return Proposal(
        conditions=counted(
            conditions,
            alone=_fewer(preset.alone, n) if said.alone is None else said.alone,
            mixed=_fewer(preset.mixed, n),
        ),
        n=preset.n if n is None else n,
        optional=frozenset({"cache", "logprobs"}) - said.factors,
    )


def _fewer(count: int | None, n: int | None) -> int | None:
    """What a preset wants, and no more than was asked for of everything."""
    return count if count is None or n is None else min(count, n)


def fitted(
    plan: Plan, optional: frozenset[str], *, dialect: str, can_logprobs: bool, cold: ColdMeans | NoColdMeans | None
) -> tuple[Plan, tuple[str, ...]]:
    """The plan that an endpoint can carry out, with a note for what of a preset was left out.

    `cold` is what is known of making its cache cold, `None` where the plan has nothing cold. Cold conditions are
    asked as found instead where the plan had nothing as found; then only the first answer to a prompt can be cold, and
    what would take it from the plain ones, primers and attempts with logprobs, is left out as well.

    Raises:
        EndpointError: Somebody asked for what the endpoint cannot do.

    """
    notes: list[str] = []
    conditions = plan.conditions
    if not can_logprobs and any(condition.logprobs for condition in conditions):
        if "logprobs" not in optional:
            raise EndpointError(f"the dialect {dialect} has no logprobs; leave out --logprobs")
        conditions = tuple(condition for condition in conditions if not condition.logprobs)
        notes.append(f"note: logprobs are left out, since the dialect {dialect} has none")
    if isinstance(cold, NoColdMeans):
        why = f"temp0 knows no way to make this server's prefix cache cold, since {cold.why}"
        if "cache" not in optional:
            raise EndpointError(f"{why}; leave out --cache, or ask with --cache warm")
        conditions, instead = _without_cold(conditions, optional)
        notes.append(f"note: {why}; cold is left out{instead}")
    return replace(plan, conditions=conditions), tuple(notes)


def _without_cold(conditions: tuple[Condition, ...], optional: frozenset[str]) -> tuple[tuple[Condition, ...], str]:
    if any(condition.cache == "as-found" for condition in conditions):
        return tuple(condition for condition in conditions if condition.cache != "cold"), ""
    cold = [condition for condition in conditions if condition.cache == "cold"]
    plain = [condition for condition in cold if not condition.logprobs]
    kept = plain if "logprobs" in optional else cold
    left_out = "" if kept == cold else " and nothing is asked with logprobs"
    as_found = tuple(replace(condition, cache="as-found") for condition in kept)
    return as_found, (
        ", and asked as found instead: only the first answer to each prompt can be cold, so that nothing is warmed "
        f"before it{left_out}"
    )
