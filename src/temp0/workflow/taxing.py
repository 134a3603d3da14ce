"""Prices invariance: the same requests through every side, in interleaved rounds, one side at a time.

However it ends (done, a server that fails, interrupted), what was measured is given back. A number in flight at which
a request failed is measured no further, and the others are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from temp0.core.tax_plan import Step, TaxPlan
from temp0.core.tax_record import Burst, Fault, Machine, Measured, Reading, Terms
from temp0.kernels import usable_cores
from temp0.lab.machine import processor
from temp0.probe.timed_endpoint import Extras
from temp0.workflow.interruption import interrupted_during
from temp0.workflow.tax_side import OpenSide, Servers
from temp0.workflow.timing import Timing


async def price(
    plan: TaxPlan,
    servers: Servers,
    *,
    timeout_s: float = 300.0,
    on_start: Callable[[Terms], None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Measured:
    """Carry out the plan and give the record of it.

    `on_start` is told the terms once every side has answered, `on_step` each step before it is taken. Cancelling
    (Ctrl-C) ends the pricing, not the caller: what was measured is given, marked `interrupted`. Raises
    `EndpointError`, `ModelError` or `UsageError` where a side cannot be opened.
    """
    machine = _machine()
    async with servers.opened(plan, timeout_s=timeout_s) as sides:
        pricing = _Pricing(plan, servers, sides, machine)
        interrupted = await interrupted_during(pricing.carry_out(on_start, on_step))
        return pricing.measured(interrupted=interrupted)


class _Pricing:
    """One plan on its way: what is still worth measuring, and what was measured."""

    def __init__(self, plan: TaxPlan, servers: Servers, sides: tuple[OpenSide, ...], machine: Machine) -> None:
        self._plan, self._servers, self._machine = plan, servers, machine
        self._sides = tuple(side.side for side in sides)
        by_name = {side.side.name: side for side in sides}
        self._timing = Timing(plan=plan, sides=by_name, extras=Extras(), words=plan.ttft_tokens)
        self._bursts: list[Burst] = []
        self._readings: list[Reading] = []
        self._faults: list[Fault] = []

    async def carry_out(self, on_start: Callable[[Terms], None] | None, on_step: Callable[[Step], None] | None) -> None:
        """Take every step that is worth taking."""
        if fault := await self._timing.prepare():
            self._faults.append(replace(fault, stops=True))
            return
        if on_start:
            on_start(self._terms())
        for step in self._plan.steps():
            if not self._is_worth(step):
                continue
            if on_step:
                on_step(step)
            self._keep(await self._timing.take(step))

    def measured(self, *, interrupted: bool) -> Measured:
        """The record so far."""
        return Measured(
            plan=self._plan,
            terms=self._terms(),
            bursts=tuple(self._bursts),
            readings=tuple(self._readings),
            faults=tuple(self._faults),
            interrupted=interrupted,
        )

    def _terms(self) -> Terms:
        return self._servers.terms(self._sides, self._machine, ignores_eos=self._timing.extras.ignore_eos)

    def _is_worth(self, step: Step) -> bool:
        """Whether nothing has failed that this step would be measured for."""
        for fault in self._faults:
            if fault.stops:
                return False
            if fault.in_flight == step.in_flight and fault.side in {step.side, "stock", "invariant"}:
                return False
        return True

    def _keep(self, taken: Burst | Reading | Fault) -> None:
        if isinstance(taken, Burst):
            self._bursts.append(taken)
        elif isinstance(taken, Reading):
            self._readings.append(taken)
        else:
            self._faults.append(taken)


def _machine() -> Machine:
    """Where we are, before anything of ours runs here."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Machine(processor=processor(), cores=usable_cores(), load=load)
