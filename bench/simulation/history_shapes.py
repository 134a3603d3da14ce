"""Endpoints whose texts hang on what came before: caches, deploys, drift, predecessors; and such as sample.

Names, `nearly` and what must be named are as in `effect_shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulation.chance_shapes import NOTHING, UNSEEN
from simulation.conditions import ALONE, CACHE, COMPANY, EVERYTHING, LOGPROBS
from simulation.delay import LOCAL
from simulation.effect import AfterPrompt, Deployed, Drifting, PrefixCache, Replicas
from simulation.effect_shapes import BY_ORDER, BY_REPLICA, FINGERPRINTED, Play, always, in_part
from simulation.endpoint import Mark
from simulation.scene import Scene, Setting, Shape
from simulation.truth import Independent, Steady, shares
from simulation.writing import Slip

BY_CACHE, REPLAYED, SAMPLED = (frozenset({name}) for name in ("cache-state", "response-cache", "sampling"))
MANY = (3, 5)
"""Numbers of prompts where one would show nothing."""


def _kept(cache: Callable[[], PrefixCache], right: frozenset[str] = BY_CACHE) -> Play:
    """Where a cold request empties the cache, what is asked next as found hangs on it, so that `order` is true, too."""

    def scene(setting: Setting) -> Scene:
        truth, tells = cache(), setting.random("world").random() < 0.5
        return Scene(truth=truth, right=right, true_too=BY_ORDER if truth.flushed else NOTHING, tells_cached=tells)

    return scene


_COLD_FIRST = _kept(PrefixCache)
_BYPASSED = _kept(lambda: PrefixCache(flushed=False))
_BLIND = _kept(lambda: PrefixCache(is_blind=True), right=NOTHING)
_SMALL = _kept(lambda: PrefixCache(holds=2), right=BY_CACHE | BY_ORDER)

_CACHES = (
    ("another text when cold; as found, cold, warm", CACHE, _COLD_FIRST, "found"),
    ("another text when cold, by going around; as found, cold, warm", CACHE, _BYPASSED, "found"),
    ("another text when cold; everything", EVERYTHING, _COLD_FIRST, "found"),
    ("another text when cold on 45 % of the prompts; as found, cold, warm", CACHE, in_part(_COLD_FIRST), "found"),
    ("the first of each prompt differs; alone", ALONE, _COLD_FIRST, "suspected"),
    ("the first of each prompt differs; alone and 8", COMPANY, _COLD_FIRST, None),
    ("nearly: cached without effect; as found, cold, warm", CACHE, _BLIND, None),
)
_SMALL_CACHES = (("room for two prompts; alone", ALONE, _SMALL, None),)


def _deploy(setting: Setting) -> Scene:
    return Scene(truth=Deployed(since=setting.random("deploy").uniform(0.3, 0.7)), right=BY_ORDER)


def _deploy_told(setting: Setting) -> Scene:
    return replace(_deploy(setting), right=BY_ORDER | BY_REPLICA, envelope=FINGERPRINTED)


def _deploy_and_back(setting: Setting) -> Scene:
    since = setting.random("deploy").uniform(0.2, 0.4)
    return Scene(truth=Deployed(since=since, until=since + 0.3), right=BY_ORDER, true_too=UNSEEN)


def _drift(setting: Setting) -> Scene:
    return Scene(truth=Drifting(random=setting.random("truth"), most=0.6), right=BY_ORDER, true_too=UNSEEN)


def _after_first(setting: Setting) -> Scene:
    return Scene(truth=AfterPrompt(prompt=setting.plan.prompts[0].id), right=BY_ORDER)


def _in_turns(setting: Setting) -> Scene:
    truth = Replicas(texts=(0, 1), random=setting.random("route"), route="turns")
    return Scene(truth=truth, right=BY_ORDER | BY_REPLICA, true_too=UNSEEN)


_ORDERS = (
    ("a deploy; alone", ALONE, _deploy, "found"),
    ("a deploy; alone and 8", COMPANY, _deploy, "found"),
    ("a deploy; everything", EVERYTHING, _deploy, "found"),
    ("a deploy on 45 % of the prompts; alone", ALONE, in_part(_deploy), "found"),
    ("a deploy told by fingerprint; alone", ALONE, _deploy_told, "found"),
    ("a deploy and back; alone", ALONE, _deploy_and_back, None),
    ("a rate that drifts from 0 to 60 %; alone", ALONE, _drift, None),
    ("two that tell nothing, in turns; alone", ALONE, _in_turns, None),
)
_PREDECESSORS = (
    ("another text after one prompt; alone", ALONE, _after_first, "found"),
    ("another text after one prompt; alone and 8", COMPANY, _after_first, None),
)


def _replays(mark: Mark, *, right: frozenset[str] = REPLAYED) -> Play:
    return always(Scene(truth=Steady(), right=right, replays=mark))


def _expiring(setting: Setting) -> Scene:
    """Answers are kept for a fifth of the run, and new ones vary."""
    truth = Independent(random=setting.random("truth"), shares=shares(0.4, 5))
    keeps_s = setting.lasts_s(LOCAL) / 5
    return Scene(truth=truth, right=REPLAYED, true_too=UNSEEN | BY_ORDER, replays="id", keeps_s=keeps_s)


_REPLAYS = (
    ("by id and time; alone", ALONE, _replays("id"), "found"),
    ("by a header; alone", ALONE, _replays("header"), "found"),
    ("by both; alone and 8", COMPANY, _replays("both"), "found"),
    ("by id and time; everything", EVERYTHING, _replays("id"), "found"),
    ("by id and time, kept for a while, 40 % by chance; alone", ALONE, _expiring, None),
    ("nearly: fast and nothing else; alone", ALONE, _replays("none", right=NOTHING), None),
)


def _sampled(slip: Slip | None, odds: list[float], right: frozenset[str], *, fresh: bool = False) -> Play:
    return lambda setting: Scene(
        truth=Independent(random=setting.random("truth"), shares=odds, fresh=fresh), right=right, slip=slip
    )


_HOT: Slip = (0.7, 4.0)
_EACH = [0.0, 1.0]

_SAMPLING = (
    ("all distinct; with logprobs and without", LOGPROBS, _sampled(_HOT, _EACH, SAMPLED, fresh=True), "found"),
    ("40 % over 5 texts; with logprobs and without", LOGPROBS, _sampled(_HOT, shares(0.4, 5), SAMPLED), "found"),
    ("all distinct; alone", ALONE, _sampled(_HOT, _EACH, SAMPLED | UNSEEN, fresh=True), "suspected"),
    ("40 % over 5 texts; alone", ALONE, _sampled(_HOT, shares(0.4, 5), SAMPLED | UNSEEN), None),
    (
        "nearly: greedy, but up to 0.3 below the top; with logprobs and without",
        LOGPROBS,
        _sampled((0.01, 0.3), shares(0.4, 5), UNSEEN),
        None,
    ),
)

HISTORIES = tuple(
    Shape(family=family, name=name, conditions=asked, scene=scene, needs=needs, prompts=prompts)
    for family, prompts, shapes in (
        ("cache", (1, 3, 5), _CACHES),
        ("cache", MANY, _SMALL_CACHES),
        ("order", (1, 3, 5), _ORDERS),
        ("order", MANY, _PREDECESSORS),
        ("response cache", (1, 3, 5), _REPLAYS),
        ("sampling", (1, 3, 5), _SAMPLING),
    )
    for name, asked, scene, needs in shapes
)
