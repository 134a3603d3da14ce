"""Endpoints whose texts hang on something that we vary or that the record tells, each kind in several forms.

What holds without chance must be named. Where a name begins with `nearly`, something looks like a cause and is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from simulation.chance_shapes import NOTHING, RUN_TO_RUN, UNSEEN
from simulation.conditions import ALONE, COMPANY, EVERYTHING, LADDER, LOAD, LOGPROBS, MIXED
from simulation.crowd import bursts
from simulation.delay import HOSTED, LOCAL
from simulation.effect import Both, ByRow, Deployed, Dose, InCompany, Labelled, Observed, Only, Replicas, Restless
from simulation.envelope import Envelope
from simulation.scene import Scene, Setting, Shape
from simulation.truth import Crowded, Independent, Steady, Truth, shares

Play = Callable[[Setting], Scene]
PART = 0.45
"""The share of the prompts that a partial effect holds for; a field report had as many."""

BY_COMPANY, BY_REPLICA, BY_ORDER, BY_OBSERVER = (
    frozenset({name}) for name in ("company", "backend-mix", "order", "observer")
)
FINGERPRINTED = Envelope(fingerprint="replica")


def always(scene: Scene) -> Play:
    """A scene whose truth keeps nothing from one run to the next."""
    return lambda setting: scene  # noqa: ARG005 - a play is given a setting


def in_part(scene: Play) -> Play:
    """The same, for some prompts only: at least one, chosen by lot."""

    def partial(setting: Setting) -> Scene:
        whole, prompts = scene(setting), [prompt.id for prompt in setting.plan.prompts]
        chosen = frozenset(setting.random("part").sample(prompts, max(1, round(PART * len(prompts)))))
        return replace(whole, truth=Only(truth=whole.truth, prompts=chosen), affected=chosen)

    return partial


COUNTED = always(Scene(truth=InCompany(), right=BY_COMPANY, has_metrics=True))
UNCOUNTED = always(Scene(truth=InCompany(), right=BY_COMPANY))
NO_FASTER = always(Scene(truth=InCompany(), right=BY_COMPANY, slowdown=1.0))
BY_SIZE = always(Scene(truth=InCompany(upto=(1, 2, 4)), right=BY_COMPANY, has_metrics=True))
BY_PLACE = always(Scene(truth=ByRow(), right=BY_COMPANY, has_metrics=True))
SERIAL = always(Scene(truth=InCompany(), right=NOTHING, slots=1))
SERIAL_COUNTED = always(Scene(truth=InCompany(), right=NOTHING, slots=1, has_metrics=True))


def _dose(rates: Mapping[int, float], right: frozenset[str] = BY_COMPANY) -> Play:
    return lambda setting: Scene(
        truth=Dose(random=setting.random("truth"), rates=rates), right=right, delay=LOCAL, has_metrics=True
    )


def _strangers(setting: Setting, rate: float) -> tuple[Truth, Scene]:
    """Texts that hang on strangers who come in bursts, and the scene for them."""
    lasts_s = setting.lasts_s(HOSTED)
    crowd = bursts(setting.random("crowd"), quiet_s=lasts_s / 6, busy_s=lasts_s / 10, size=12)
    truth = Crowded(random=setting.random("truth"), rate=rate)
    return truth, Scene(truth=truth, right=UNSEEN, true_too=BY_ORDER, delay=HOSTED, crowd=crowd)


def _company_among_strangers(setting: Setting) -> Scene:
    truth, scene = _strangers(setting, 0.02)
    return replace(scene, truth=Both(first=truth, second=InCompany()), right=BY_COMPANY | UNSEEN)


_COMPANY = (
    ("another text, counted; alone and 8", COMPANY, COUNTED, "found"),
    ("another text, known by speed-up; alone and 8", COMPANY, UNCOUNTED, "found"),
    ("another text, not shown; alone and 8", COMPANY, NO_FASTER, "suspected"),
    ("another text, counted; alone and 8 mixed", MIXED, COUNTED, "found"),
    ("another text, counted; alone and 32", LOAD, COUNTED, "found"),
    ("another text, counted; everything", EVERYTHING, COUNTED, "found"),
    ("another text on 45 % of the prompts; alone and 8", COMPANY, in_part(COUNTED), "found"),
    ("one text for 1, 2, up to 4, more; 1, 2, 4, 8", LADDER, BY_SIZE, "found"),
    ("a text for each three rows; alone and 8", COMPANY, BY_PLACE, "found"),
    ("0, 10, 30, 60 %; 1, 2, 4, 8", LADDER, _dose({2: 0.1, 4: 0.3, 8: 0.6}), None),
    ("0 and 5 %; alone and 8", COMPANY, _dose({8: 0.05}), None),
    ("0 and 0.5 %; alone and 32", LOAD, _dose({32: 0.005}), None),
    ("5 and 50 %; alone and 8", COMPANY, _dose({1: 0.05, 8: 0.5}, BY_COMPANY | RUN_TO_RUN), None),
    ("another text, among strangers in bursts; alone and 8", COMPANY, _company_among_strangers, None),
    ("nearly: one at a time; alone and 8", COMPANY, SERIAL, None),
    ("nearly: one at a time, counted; alone and 8", COMPANY, SERIAL_COUNTED, None),
)


def _mix(
    envelope: Envelope,
    *,
    texts: tuple[int, ...] = (0, 1),
    route: str = "chance",
    weights: tuple[float, ...] = (),
    stays: float = 0.7,
    right: frozenset[str] = BY_REPLICA,
    true_too: frozenset[str] = NOTHING,
) -> Play:
    def scene(setting: Setting) -> Scene:
        truth = Replicas(texts=texts, random=setting.random("route"), route=route, weights=weights, stays=stays)
        return Scene(truth=truth, right=right, true_too=true_too, envelope=envelope)

    return scene


def _labelled(setting: Setting, route: str) -> Replicas:
    return Replicas(texts=(0, 0), random=setting.random("route"), route=route)


def _sticky_among_strangers(setting: Setting) -> Scene:
    truth, scene = _strangers(setting, 0.04)
    return replace(scene, truth=Labelled(machine=_labelled(setting, "sticky"), text=truth), envelope=FINGERPRINTED)


def _deployed_without_effect(setting: Setting) -> Scene:
    text = Independent(random=setting.random("truth"), shares=shares(0.2, 3))
    since = setting.random("deploy").uniform(0.3, 0.7)
    return Scene(truth=Labelled(machine=Deployed(since=since), text=text), right=UNSEEN, envelope=FINGERPRINTED)


def _one_restless(setting: Setting) -> Scene:
    truth = Restless(machine=_labelled(setting, "chance"), random=setting.random("truth"), rate=0.4)
    return Scene(truth=truth, right=BY_REPLICA | UNSEEN, envelope=FINGERPRINTED)


_BY_MODEL, _BY_HEADER = Envelope(model="replica"), Envelope(headers=("replica", "request-id", "timing"))
_MANY_SIGNS = Envelope(fingerprint="chance", headers=("replica", "chance", "request-id", "countdown"))
_SILENT = Envelope(fingerprint="constant")
_STICKY_AND_SILENT = _mix(_SILENT, route="sticky", stays=0.9, right=UNSEEN, true_too=BY_ORDER)

_REPLICAS = (
    ("two by fingerprint; alone", ALONE, _mix(FINGERPRINTED), "found"),
    ("two by model; alone", ALONE, _mix(_BY_MODEL), "found"),
    ("two by header; alone", ALONE, _mix(_BY_HEADER), "found"),
    ("two by one of many signs; alone", ALONE, _mix(_MANY_SIGNS), "found"),
    ("two by fingerprint, 9 to 1; alone", ALONE, _mix(FINGERPRINTED, weights=(0.9, 0.1)), "found"),
    (
        "three by header, two alike; alone",
        ALONE,
        _mix(_BY_HEADER, texts=(0, 1, 1), weights=(6, 3, 1)),
        "found",
    ),
    ("two by header, sticky; alone", ALONE, _mix(_BY_HEADER, route="sticky", true_too=BY_ORDER), "found"),
    ("two by fingerprint; alone and 8", COMPANY, _mix(FINGERPRINTED), "found"),
    ("two by fingerprint; everything", EVERYTHING, _mix(FINGERPRINTED), "found"),
    ("two by fingerprint, on 45 % of the prompts; alone", ALONE, in_part(_mix(FINGERPRINTED)), "found"),
    ("two by fingerprint, one of them varies; alone", ALONE, _one_restless, None),
    (
        "three by fingerprint, the idlest answers; alone and 8",
        COMPANY,
        _mix(FINGERPRINTED, texts=(0, 1, 2), route="least loaded", true_too=BY_COMPANY),
        None,
    ),
    ("two that tell nothing; alone", ALONE, _mix(_SILENT, right=UNSEEN), None),
    (
        "two that tell nothing, sticky; alone",
        ALONE,
        _mix(_SILENT, route="sticky", stays=0.9, right=UNSEEN, true_too=BY_ORDER),
        None,
    ),
    ("nearly: a replica for each prompt; alone", ALONE, _mix(FINGERPRINTED, route="prompt", right=NOTHING), None),
    ("nearly: sticky, strangers in bursts; alone", ALONE, _sticky_among_strangers, None),
    ("nearly: a deploy without effect, 20 % by chance; alone", ALONE, _deployed_without_effect, None),
)

_OBSERVED = always(Scene(truth=Observed(), right=BY_OBSERVER))
_ONLY_BITS = always(Scene(truth=Steady(), right=NOTHING, bits=5))


_OBSERVER = (
    ("another text; with logprobs and without", LOGPROBS, _OBSERVED, "found"),
    ("another text; everything", EVERYTHING, _OBSERVED, "found"),
    ("another text on 45 % of the prompts; with logprobs and without", LOGPROBS, in_part(_OBSERVED), "found"),
    ("nearly: only the last bits vary; with logprobs and without", LOGPROBS, _ONLY_BITS, None),
)

EFFECTS = tuple(
    Shape(family=family, name=name, conditions=asked, scene=scene, needs=needs)
    for family, shapes in (("company", _COMPANY), ("backend mix", _REPLICAS), ("observer", _OBSERVER))
    for name, asked, scene, needs in shapes
)
