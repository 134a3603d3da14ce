"""Endpoints without a cause that could be found: none, chance that is independent and identical, and strangers.

What surrounds the texts (delays, envelopes, slots, metrics) is drawn anew for each run, and tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from simulation.conditions import ALONE, COMPANY, EVERYTHING, LADDER, LOAD, MIXED, NAMES
from simulation.crowd import Crowd, bursts, rising, steady, tide
from simulation.delay import DELAYS, HOSTED
from simulation.effect import Deployed, Labelled, PrefixCache, Replicas
from simulation.envelope import ORDINARY, Envelope
from simulation.scene import Scene, Setting, Shape
from simulation.truth import Crowded, Independent, Steady, Truth, shares, zipf
from temp0.core.plan import Condition

Conditions = tuple[Condition, ...]

UNSEEN, RUN_TO_RUN = frozenset({"unseen-company"}), frozenset({"run-to-run"})
NOTHING: frozenset[str] = frozenset()


def somewhere(setting: Setting, truth: Truth) -> Scene:
    """A truth of chance in surroundings drawn for the run; who owns the machine may say that no stranger is there."""
    world = setting.random("world")
    has_metrics, is_exclusive = world.random() < 0.3, world.random() < 0.2
    return Scene(
        truth=Labelled(machine=_machine(setting, world), text=truth),
        right=RUN_TO_RUN if has_metrics or is_exclusive else UNSEEN,
        delay=world.choice(DELAYS),
        envelope=world.choice(ORDINARY),
        slots=world.choice((1, 4, 64, 64)),
        slowdown=world.choice((0.0, 0.03, 0.1)),
        has_metrics=has_metrics,
        is_exclusive=is_exclusive,
        bits=world.choice((1, 5)),
        tells_cached=world.random() < 0.5,
    )


def _machine(setting: Setting, world: Random) -> Truth:
    """Caches, replicas and deploys that leave their marks on the record and none on the texts."""
    route = world.choice(("cache", "deploy", "chance", "sticky", "turns", "prompt", "least loaded"))
    if route == "cache":
        return PrefixCache(flushed=world.random() < 0.5)
    if route == "deploy":
        return Deployed(since=world.uniform(0.2, 0.8))
    return Replicas(texts=(0, 0, 0), random=setting.random("route"), route=route)


def unvaried(setting: Setting) -> Scene:
    """One text always, wherever."""
    return replace(somewhere(setting, Steady()), right=NOTHING)


def chance(odds: list[float], *, fresh: bool = False, faults: float = 0.0) -> Callable[[Setting], Scene]:
    """Independent draws from one distribution, alone and in company alike."""

    def scene(setting: Setting) -> Scene:
        truth = Independent(random=setting.random("truth"), shares=odds, fresh=fresh)
        return replace(somewhere(setting, truth), faults=faults)

    return scene


ODDS: dict[str, Callable[[Setting], Scene]] = {
    "0.5 % over 3 texts": chance(shares(0.005, 3)),
    "1 % over 3 texts": chance(shares(0.01, 3)),
    "2 % over 3 texts": chance(shares(0.02, 3)),
    "10 % over 5 texts": chance(shares(0.1, 5)),
    "10 %, none seen twice": chance([0.9, 0.1], fresh=True),
    "40 % over 5 texts, 5 % faults": chance(shares(0.4, 5), faults=0.05),
    "two texts, half each": chance([0.5, 0.5]),
    "20 texts by Zipf's law": chance(zipf(20)),
    "all distinct": chance([0.0, 1.0], fresh=True),
}
"""Independent and identical variation."""


def _strangers(crowd: Callable[[Setting], Crowd], *, has_metrics: bool = False) -> Callable[[Setting], Scene]:
    def scene(setting: Setting) -> Scene:
        return Scene(
            truth=Crowded(random=setting.random("truth"), rate=0.04),
            right=UNSEEN,
            true_too=frozenset({"order"}),
            delay=HOSTED,
            crowd=crowd(setting),
            envelope=setting.random("world").choice(ORDINARY),
            has_metrics=has_metrics,
        )

    return scene


def _in_bursts(setting: Setting) -> Crowd:
    lasts_s = setting.lasts_s(HOSTED)
    return bursts(setting.random("crowd"), quiet_s=lasts_s / 6, busy_s=lasts_s / 10, size=12)


def _in_short_bursts(setting: Setting) -> Crowd:
    return bursts(setting.random("crowd"), quiet_s=6 * HOSTED.median_s, busy_s=3 * HOSTED.median_s, size=12)


def _in_tides(setting: Setting) -> Crowd:
    return tide(setting.random("crowd"), period_s=setting.lasts_s(HOSTED), size=10)


def _growing(setting: Setting) -> Crowd:
    return rising(setting.random("crowd"), over_s=setting.lasts_s(HOSTED), size=12)


def _always_some(setting: Setting) -> Crowd:
    return steady(setting.random("crowd"), piece_s=HOSTED.median_s / 4, size=4)


CROWDS: dict[str, Callable[[Setting], Crowd]] = {
    "steady": _always_some,
    "in short bursts": _in_short_bursts,
    "in long bursts": _in_bursts,
    "like a day": _in_tides,
    "growing": _growing,
}


def _with_one_id(setting: Setting, scene: Callable[[Setting], Scene]) -> Scene:
    """A server whose every answer has one id and one time: only its texts could show that it works at all."""
    return replace(scene(setting), envelope=Envelope(ids="constant", created="constant"))


NONE = tuple(
    Shape(family="none", name=f"one text; {NAMES[asked]}", conditions=asked, scene=unvaried)
    for asked in (ALONE, COMPANY, MIXED, LADDER, EVERYTHING)
)

INDEPENDENT = tuple(
    Shape(family="iid", name=f"{name}; {NAMES[asked]}", conditions=asked, scene=scene)
    for name, scene in ODDS.items()
    for asked in (ALONE, COMPANY, LOAD, EVERYTHING)
)

STRANGERS = (
    *(
        Shape(family="strangers", name=f"{name}; {NAMES[asked]}", conditions=asked, scene=_strangers(crowd))
        for name, crowd in CROWDS.items()
        for asked in (ALONE, COMPANY)
    ),
    Shape(
        family="strangers",
        name="in long bursts, and the server counts them; alone",
        conditions=ALONE,
        scene=_strangers(_in_bursts, has_metrics=True),
    ),
)

AMBIGUOUS = (
    Shape(
        family="ambiguous",
        name="one text, one id and time; alone",
        conditions=ALONE,
        scene=lambda setting: _with_one_id(setting, unvaried),
    ),
    Shape(
        family="ambiguous",
        name="10 % over 5 texts, one id and time; alone",
        conditions=ALONE,
        scene=lambda setting: _with_one_id(setting, ODDS["10 % over 5 texts"]),
    ),
)
"""Records that do not tell what is so: reported, and nothing is required of them."""
