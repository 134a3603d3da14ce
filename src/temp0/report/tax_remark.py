"""What to mind about the figures of a price, in sentences: only what holds of this one.

Whatever makes the sides do unlike work, or the machine an unfair one, is said beside the figures, never hidden in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from temp0.core.tax import Price, Tax
from temp0.core.tax_record import Fault
from temp0.report.figure import UNBROKEN, number, some
from temp0.report.tax_figure import listed_levels
from temp0.report.tax_finding import is_ours, prompts_answered, side_label
from temp0.report.visible import visible

WIDE = 1.25
"""Rounds whose ratios differ by more than this factor are called scattered; the limit is ours."""


def remarks(tax: Tax) -> tuple[str, ...]:
    """What to mind about these figures."""
    return tuple(sentence for told in _REMARKS for sentence in told(tax))


def _interruption(tax: Tax) -> Iterator[str]:
    if tax.measured.interrupted:
        rounds = tax.measured.plan.rounds
        yield f"Interrupted: each row holds the rounds that were whole by then, of {rounds} planned."


def _faults(tax: Tax) -> Iterator[str]:
    yield from (f"{_what(fault)}: {_whose(tax, fault)}{visible(fault.message)}" for fault in tax.measured.faults)


def _what(fault: Fault) -> str:
    if fault.stops:
        return "Nothing was measured from here on"
    where = "The first token" if fault.in_flight is None else f"{fault.in_flight}{UNBROKEN}in flight"
    return f"{where} was measured no further"


def _whose(tax: Tax, fault: Fault) -> str:
    return "" if fault.side == "equal-bytes" else f"{side_label(tax, fault.side)}: "


def _one_round(tax: Tax) -> Iterator[str]:
    if tax.rows and max(row.rounds for row in tax.rows) == 1:
        yield "One round shows no scatter: read the signs, not the digits; --rounds measures more."


def _busy(tax: Tax) -> Iterator[str]:
    machine = tax.measured.terms.machine
    if machine.load is not None and machine.load > machine.cores:
        yield (
            f"The machine was busy before anything began (load {number(machine.load)} on "
            f"{some(machine.cores, 'core')}): measure again when it is idle{_or_with_one_thread(tax)}."
        )


def _or_with_one_thread(tax: Tax) -> str:
    """On a busy machine several BLAS threads wait for each other, and stock looks far slower than it is."""
    return ", or with --threads 1, which suffers less" if (tax.measured.terms.threads or 1) > 1 else ""


def _scattered(tax: Tax) -> Iterator[str]:
    levels = sorted({row.in_flight for row in tax.rows if any(map(_is_wide, (row.throughput, row.token)))})
    if levels:
        beyond, where = f"{100 * (WIDE - 1):.0f}{UNBROKEN}%", f"{listed_levels(levels)}{UNBROKEN}in flight"
        yield (
            f"The rounds disagree by more than {beyond} at {where}: something else was running; "
            "measure again when the machine is idle, or with more --rounds."
        )


def _is_wide(price: Price | None) -> bool:
    if price is None or price.tax.low is None or price.tax.high is None:
        return False
    return (1 + price.tax.high) / (1 + price.tax.low) > WIDE


def _uneven(tax: Tax) -> Iterator[str]:
    plan = tax.measured.plan
    for row in tax.rows:
        wanted = row.rounds * row.requests * plan.max_tokens
        if (row.tokens_stock, row.tokens_invariant) != (wanted, wanted):
            yield (
                f"At {row.in_flight}{UNBROKEN}in flight {side_label(tax, 'stock')} gave {row.tokens_stock:,} tokens "
                f"and {side_label(tax, row.side)} {row.tokens_invariant:,}, of {wanted:,} asked for: not the same "
                "work; throughput goes by each side's own count."
            )


def _refused_eos(tax: Tax) -> Iterator[str]:
    if not tax.measured.terms.ignores_eos:
        yield "ignore_eos was refused, so it was sent to neither side: answers end where the model ends them."


def _estimated(tax: Tax) -> Iterator[str]:
    if any(answer.is_estimate for burst in tax.measured.bursts for answer in burst.answers):
        yield "Not every answer came with its token count: there tokens are an estimate, one for each piece of text."


def _cached(tax: Tax) -> Iterator[str]:
    counts = [answer.cached or 0 for burst in tax.measured.bursts for answer in burst.answers]
    counts += [reading.cached or 0 for reading in tax.measured.readings]
    if any(counts) and tax.measured.terms.cache == "off":
        yield f"The prefix cache should be off, and {some(sum(counts), 'prompt token')} came from it."


def _in_one_piece(tax: Tax) -> Iterator[str]:
    if tax.measured.plan.max_tokens > 1 and any(row.token is None for row in tax.rows):
        yield "Where time per token is missing, answers came in one piece, or had one token."


def _untripped(tax: Tax) -> Iterator[str]:
    shared = [row for row in tax.rows if row.in_flight > 1]
    if is_ours(tax) and shared and tax.distinct_stock == prompts_answered(tax, "stock"):
        yield "Stock gave every prompt one text, too: nothing forked at this length, which does not make it invariant."


_REMARKS: tuple[Callable[[Tax], Iterable[str]], ...] = (
    _interruption,
    _faults,
    _one_round,
    _busy,
    _scattered,
    _uneven,
    _refused_eos,
    _estimated,
    _cached,
    _in_one_piece,
    _untripped,
)
