"""One run of a simulated endpoint: from a shape, a size and a seed to a `Run` and what is true of it.

Same arguments, same run. Delays, texts, truth and envelopes are drawn from streams of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from simulation.agenda import Agenda
from simulation.crowd import Crowd, nobody
from simulation.delay import LOCAL, Delay
from simulation.endpoint import AnswerCache, Endpoint, Mark
from simulation.envelope import PLAIN, Envelope
from simulation.server import Server, Service
from simulation.sitting import Sitting
from simulation.truth import Truth
from simulation.writing import Slip, Writing
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Run

MAX_TOKENS = 160
CREATED = "2025-06-15T15:06:40Z"
QUESTIONS = (
    "List three prime numbers between 100 and 200.",
    "What is 17*23+5*11? Show the steps and give the answer.",
    "Give me one 12-word proverb about caching.",
    "Write a haiku about a stale cache line.",
    "Explain in one paragraph why temperature 0 is not always deterministic.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a scene is made for: a plan, and where its draws begin."""

    plan: Plan
    seed: str

    def random(self, purpose: str) -> Random:
        """A stream of draws for one purpose."""
        return Random(f"{self.seed}|{purpose}")

    def lasts_s(self, delay: Delay) -> float:
        """About how long the plan takes with answers of such a delay."""
        return len(self.plan.blocks()) * delay.median_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An endpoint and what is true of it.

    `right` are the causes of which a run that shows anything should name one, `true_too` those that may be named
    besides: they hold as well, or no record could tell them apart. `affected` are the prompts that an effect holds
    for, `None` where that is all or says nothing.
    """

    truth: Truth
    right: frozenset[str]
    true_too: frozenset[str] = frozenset()
    affected: frozenset[str] | None = None
    delay: Delay = LOCAL
    slots: int = 64
    slowdown: float = 0.03
    crowd: Crowd | None = None
    envelope: Envelope = PLAIN
    has_metrics: bool = False
    is_exclusive: bool = False
    faults: float = 0.0
    slip: Slip | None = None
    bits: int = 1
    tells_cached: bool = False
    replays: Mark | None = None
    keeps_s: float = 1e9


def plan(conditions: tuple[Condition, ...], *, n: int, prompts: int, seed: int) -> Plan:
    """So many of five prompts, each n times under each condition."""
    asked = tuple(
        Prompt(id=f"p{number}", messages=(Message(role="user", content=text),), n=n, max_tokens=MAX_TOKENS)
        for number, text in enumerate(QUESTIONS[:prompts], start=1)
    )
    return Plan(prompts=asked, conditions=conditions, seed=seed)


def played(setting: Setting, scene: Scene) -> Run:
    """The record of the plan, carried out against the scene's endpoint."""
    agenda, planned = Agenda(), replace(setting.plan, exclusive=scene.is_exclusive)
    writing = Writing(seed=setting.seed, random=setting.random("bits"), slip=scene.slip, bits=scene.bits)
    endpoint = Endpoint(
        truth=scene.truth,
        writing=writing,
        envelope=scene.envelope,
        random=setting.random("envelope"),
        faults=scene.faults,
        tells_cached=scene.tells_cached,
    )
    server = Server(
        agenda=agenda,
        answering=endpoint,
        crowd=scene.crowd or nobody(),
        delay=scene.delay,
        random=setting.random("delay"),
        slots=scene.slots,
        slowdown=scene.slowdown,
    )
    sitting = Sitting(
        plan=planned,
        agenda=agenda,
        service=_cached(scene, server, setting),
        random=setting.random("fillers"),
        running=(lambda: server.running) if scene.has_metrics else None,
    )
    sitting.carry_out()
    is_cold = any(condition.cache == "cold" for condition in planned.conditions)
    return Run(
        id=setting.seed,
        created=CREATED,
        address=Address(url="https://api.example.com/v1", api="openai-chat", model="model"),
        plan=planned,
        cold_by="the server's own reset" if is_cold else None,
        attempts=tuple(sitting.attempts),
        samples=tuple(sitting.samples),
    )


def _cached(scene: Scene, server: Server, setting: Setting) -> Service:
    if scene.replays is None:
        return server
    return AnswerCache(
        service=server,
        agenda=server.agenda,
        random=setting.random("answer cache"),
        mark=scene.replays,
        keeps_s=scene.keeps_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One kind of endpoint asked in one way, again and again with other seeds.

    `needs` is what is required of the analysis at 30 attempts and more: that the right cause is `found`, that it is at
    least `suspected`, or nothing.
    """

    family: str
    name: str
    conditions: tuple[Condition, ...]
    scene: Callable[[Setting], Scene]
    needs: str | None = None
    prompts: tuple[int, ...] = (1, 3, 5)

    def play(self, n: int, seed: int) -> tuple[Run, Scene]:
        """The run of one seed, and what is true of it; the number of prompts goes by the seed."""
        count = self.prompts[seed % len(self.prompts)]
        planned = plan(self.conditions, n=n, prompts=count, seed=seed)
        setting = Setting(plan=planned, seed=f"{self.family}, {self.name}, {n} of {count}, {seed}")
        scene = self.scene(setting)
        return played(setting, scene), scene
