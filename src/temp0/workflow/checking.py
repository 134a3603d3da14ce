"""The gate at work: every endpoint of the settings asked and held against the baseline.

An endpoint that does not answer is not measured, and never stops the others from being asked; one that cannot be right
is refused before any is. A few answers that did not come are asked for once more, in blocks of their own. The baseline
is only written where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from temp0.core.baseline import Baseline, KnownEndpoint, fingerprint, known_endpoint, moved, unmatched
from temp0.core.gate import Checked, Gate, checked, impossible, is_worth_asking_again, not_measured
from temp0.core.plan import Plan, Prompt
from temp0.core.run import Attempt, Run
from temp0.errors import UnreachableError, UsageError
from temp0.store import Store
from temp0.store.baseline_file import read_baseline, write_baseline
from temp0.workflow import planning
from temp0.workflow.builtin import Builtin
from temp0.workflow.extra import extra_fields, is_greedy
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Sitting, Start, Where, probe, rehearse
from temp0.workflow.settings import CheckSettings, EndpointSettings, header_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One gate before it begins: its plan for every endpoint, its baseline, and what it cannot do with the two."""

    settings: CheckSettings
    plan: Plan
    baseline: Baseline | None
    cannot: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDone:
    """A gate after it ran; `runs` are by endpoint name, for those of which anything was asked."""

    check: Check
    gate: Gate
    runs: tuple[tuple[str, Run], ...]
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The gate's, but that undecided may be let through; one that was interrupted has failed or is undecided."""
        code = self.gate.exit_code
        if self.interrupted:
            return 1 if code == 1 else 4
        return 0 if code == 4 and self.check.settings.undecided == "pass" else code


def prepared(settings: CheckSettings, *, updating: bool = False) -> Check:
    """The plan and the baseline of a gate; one that makes the baseline anew has nothing to miss in it.

    Raises UsageError for a baseline of other prompts, and what planning and the baseline's reader raise.
    """
    wish = Wish(n=settings.n, max_tokens=settings.max_tokens)
    prompts = _prompts(settings, wish)
    conditions = planning.conditions(
        company=settings.company,
        filler=settings.filler,
        cache=settings.cache,
        logprobs=settings.logprobs,
        stream=settings.stream,
    )
    plan = planning.plan(prompts, conditions, seed=settings.seed)
    baseline = read_baseline(settings.baseline)
    cannot = impossible(plan, settings.tolerance, max_requests=settings.max_requests)
    names = [endpoint.name for endpoint in settings.endpoints]
    missed = () if updating else unmatched(baseline, plan, names)
    return Check(settings=settings, plan=plan, baseline=baseline, cannot=(*cannot, *missed))


def refuse_other_prompts(check: Check) -> None:
    """Raise UsageError where the baseline knows a prompt of the gate in other words, or knows none of them."""
    asked = {prompt.id: fingerprint(prompt) for prompt in check.plan.prompts}
    for endpoint in (check.baseline or Baseline()).endpoints:
        known = {prompt.id: prompt.asked for prompt in endpoint.prompts}
        changed = [name for name, told in known.items() if asked.get(name, told) != told]
        if changed or (known and not known.keys() & asked.keys()):
            what = f"prompt {changed[0]} in other words" if changed else "none of these prompts"
            raise UsageError(
                f"the baseline {check.settings.baseline} knows {what}: review the change and make it anew with "
                "temp0 check --update"
            )


async def carried_through(
    check: Check,
    *,
    store: Store | None = None,
    on_endpoint: Callable[[EndpointSettings, Start], None] | None = None,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> CheckDone:
    """Ask every endpoint in turn; an interruption ends with what was found by then.

    Raises EndpointError, ModelError or UsageError, before any is asked, for an endpoint that cannot be right.
    """
    await _refuse_impossible(check)
    found: list[Checked] = []
    notes: list[str] = []
    runs: list[tuple[str, Run]] = []
    interrupted = False
    settings, baseline = check.settings, check.baseline or Baseline()
    for endpoint in settings.endpoints:
        if interrupted:
            found += not_measured(endpoint.name, check.plan.prompts, "interrupted before it was asked")
            continue
        on_start = None if on_endpoint is None else _told(on_endpoint, endpoint)
        try:
            sitting = await _asked(check, endpoint, store=store, on_start=on_start, on_attempt=on_attempt)
        except UnreachableError as error:
            found += not_measured(endpoint.name, check.plan.prompts, str(error))
            continue
        run, interrupted = sitting.run, sitting.interrupted
        runs.append((endpoint.name, run))
        stopped = sitting.stopped.message if sitting.stopped else ""
        found += checked(endpoint.name, run, baseline, settings.tolerance, stopped=stopped)
        if before := baseline.endpoint(endpoint.name):
            notes += moved(before, run)
    gate = Gate(checked=tuple(found), notes=tuple(notes))
    return CheckDone(check=check, gate=gate, runs=tuple(runs), interrupted=interrupted)


async def _asked(
    check: Check,
    endpoint: EndpointSettings,
    *,
    store: Store | None,
    on_start: Callable[[Start], None] | None,
    on_attempt: Callable[[Attempt], None] | None,
) -> Sitting:
    """One endpoint asked, and asked once more for the answers that did not come, where they are few."""
    most = check.settings.max_requests
    ask = partial(
        probe,
        _plan(check, endpoint),
        _where(endpoint),
        store=store,
        patience_s=endpoint.patience_s,
        on_start=on_start,
        on_attempt=on_attempt,
    )
    first = await ask(max_requests=most)
    left = None if most is None else most - len(first.run.attempts)
    if first.stopped or first.interrupted or left == 0 or not is_worth_asking_again(first.run):
        return first
    try:
        return await ask(resume=first.run, max_requests=left)
    except UnreachableError:
        return first


def updated(done: CheckDone) -> Baseline:
    """Write the baseline that these runs make, and give it.

    An endpoint that was not asked keeps what was known of it; a prompt that was not measured keeps its texts. Raises
    StoreError where it cannot be written.
    """
    settings = done.check.settings
    before = done.check.baseline or Baseline()
    now = {name: _measured(known_endpoint(name, run, texts=settings.texts), done.gate) for name, run in done.runs}
    kept = [_kept(one, now.get(one.name), done.check.plan.prompts) for one in before.endpoints]
    names = {endpoint.name for endpoint in settings.endpoints}
    fresh = [one for name, one in now.items() if name not in {known.name for known in kept}]
    endpoints = sorted([one for one in kept if one.name in names] + fresh, key=lambda one: one.name)
    baseline = Baseline(endpoints=tuple(one for one in endpoints if one.prompts))
    write_baseline(settings.baseline, baseline)
    return baseline


def _measured(known: KnownEndpoint, gate: Gate) -> KnownEndpoint:
    """What is known of an endpoint, without prompts that were not measured in full."""
    lost = {one.prompt for one in gate.checked if one.endpoint == known.name and one.outcome == "not-measured"}
    return replace(known, prompts=tuple(prompt for prompt in known.prompts if prompt.id not in lost))


def _kept(before: KnownEndpoint, now: KnownEndpoint | None, prompts: tuple[Prompt, ...]) -> KnownEndpoint:
    if now is None or not now.prompts:
        return before
    asked = {prompt.id: fingerprint(prompt) for prompt in prompts}
    measured = {prompt.id for prompt in now.prompts}
    unmeasured = [one for one in before.prompts if one.id not in measured and asked.get(one.id) == one.asked]
    return replace(now, prompts=tuple(sorted((*now.prompts, *unmeasured), key=lambda prompt: prompt.id)))


def _told(tell: Callable[[EndpointSettings, Start], None], endpoint: EndpointSettings) -> Callable[[Start], None]:
    return lambda start: tell(endpoint, start)


async def _refuse_impossible(check: Check) -> None:
    for endpoint in check.settings.endpoints:
        with suppress(UnreachableError):  # an outage, which is found again when its turn comes
            await rehearse(_plan(check, endpoint), _where(endpoint))


def _plan(check: Check, endpoint: EndpointSettings) -> Plan:
    greedy = endpoint.greedy and is_greedy(endpoint.extra)
    return replace(check.plan, exclusive=endpoint.exclusive, greedy=greedy)


def _where(endpoint: EndpointSettings) -> Where:
    return Where(
        url=endpoint.url,
        model=endpoint.model,
        api=endpoint.api,
        key_env=endpoint.key_env,
        headers=tuple(header_values(endpoint.headers, f"endpoint {endpoint.name}").items()),
        extra=extra_fields(endpoint.extra),
        timeout_s=endpoint.timeout_s,
        connect_timeout_s=endpoint.connect_timeout_s,
        first_byte_timeout_s=endpoint.first_byte_timeout_s,
        engine=Builtin()
        if endpoint.url
        else Builtin(arithmetic=endpoint.arithmetic or "stock", threads=endpoint.threads),
    )


def _prompts(settings: CheckSettings, wish: Wish) -> tuple[Prompt, ...]:
    match settings.prompts:
        case None:
            return planning.built_in_prompts(wish)
        case Path() as path:
            return planning.prompts_in(path, wish)
        case texts:
            return planning.text_prompts(texts, wish)
