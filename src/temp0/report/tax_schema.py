"""A price as a JSON document, for programs.

The field names are a contract (docs/format.md): fields may be added, never renamed. What nobody could measure is
`null`. A tax is a fraction; times of rows are in milliseconds.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from temp0.core.tax import Price, Row, Spread, Tax
from temp0.core.tax_record import Side
from temp0.report.figure import UNBROKEN
from temp0.report.tax_remark import remarks

SCHEMA = "temp0/tax"
VERSION = 1

Fields = dict[str, object]
_MS = 1000.0


def tax_document(tax: Tax) -> Fields:
    """The JSON document of a price as plain dictionaries, lists, strings and numbers."""
    measured = tax.measured
    plan, terms = measured.plan, measured.terms
    prompt_tokens = [one.prompt_tokens for one in measured.readings if one.prompt_tokens is not None]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": tax.exit_code,
        "finished": tax.is_finished,
        "sides": [_side(side) for side in terms.sides],
        "weights": terms.weights,
        "activations": terms.activations,
        "threads": terms.threads,
        "machine": asdict(terms.machine),
        "prompts": len(plan.prompts),
        "rounds": plan.rounds,
        "completion_tokens": plan.max_tokens,
        "ttft_prompt_tokens": {
            "asked": plan.ttft_tokens,
            "min": min(prompt_tokens, default=None),
            "max": max(prompt_tokens, default=None),
        },
        "cache": terms.cache,
        "ignore_eos": terms.ignores_eos,
        "distinct_stock": tax.distinct_stock,
        "distinct_invariant": tax.distinct_invariant,
        "rows": [_row(tax, row) for row in tax.rows],
        "failures": [asdict(fault) for fault in measured.faults],
        "remarks": [remark.replace(UNBROKEN, " ") for remark in remarks(tax)],
    }


def tax_json(tax: Tax) -> str:
    """The document as one line of ASCII JSON; raises `ValueError` where a number is not finite."""
    return json.dumps(tax_document(tax), allow_nan=False)


def _side(side: Side) -> Fields:
    return {
        "side": side.name,
        "url": side.url,
        "model": side.model,
        "arithmetic": side.arithmetic,
        "weight_dtype": side.weight_dtype,
    }


def _row(tax: Tax, row: Row) -> Fields:
    return {
        "in_flight": row.in_flight,
        "weight_dtype_stock": tax.measured.side("stock").weight_dtype,
        "weight_dtype_invariant": tax.measured.side(row.side).weight_dtype,
        "rounds": row.rounds,
        "requests": row.requests,
        "prompts": row.prompts,
        **_price("throughput", "", row.throughput, 1.0),
        **_price("ttft", "_ms", row.ttft, _MS),
        **_price("token", "_ms", row.token, _MS),
        "tokens_stock": row.tokens_stock,
        "tokens_invariant": row.tokens_invariant,
        "distinct_stock": row.distinct_stock,
        "distinct_invariant": row.distinct_invariant,
    }


def _price(name: str, unit: str, price: Price | None, scale: float) -> Fields:
    """The three figures of a price, each with its spread over the rounds."""
    figures = {
        f"{name}_stock{unit}": (price.stock, scale) if price else None,
        f"{name}_invariant{unit}": (price.invariant, scale) if price else None,
        f"{name}_tax": (price.tax, 1.0) if price else None,
    }
    medians = {field: told[0].median * told[1] if told else None for field, told in figures.items()}
    spreads = {f"{field}_spread": _spread(*told) if told else None for field, told in figures.items()}
    return {**medians, **spreads}


def _spread(spread: Spread, scale: float) -> list[float] | None:
    return None if spread.low is None or spread.high is None else [spread.low * scale, spread.high * scale]
