"""Two runs side by side as a JSON document, under the rules of `schema`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from temp0.core.analysis import Analysis, PromptAnalysis
from temp0.core.pairing import PairedPrompt, Pairing
from temp0.core.run import Run
from temp0.report.schema import VERSION, Fields, distinct_fields

SCHEMA = "temp0/comparison"


def pairing_json(pairing: Pairing) -> str:
    """The document as one line of ASCII JSON."""
    return json.dumps(_document(pairing), allow_nan=False)


def _document(pairing: Pairing) -> Fields:
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "exit_code": pairing.exit_code,
        "a": side_fields(pairing.a, pairing.runs_a),
        "b": side_fields(pairing.b, pairing.runs_b),
        "p": pairing.p,
        "prompts": [_pair(one) for one in pairing.prompts],
        "rates": [
            {"condition": one.condition, "tokens_per_s_a": one.a, "tokens_per_s_b": one.b, "ratio": one.ratio}
            for one in pairing.rates
        ],
        "only_a": list(pairing.only_a),
        "only_b": list(pairing.only_b),
    }


def _pair(one: PairedPrompt) -> Fields:
    return {
        "text": one.a.text,
        "a": _prompt(one.a),
        "b": _prompt(one.b),
        "part_at": one.part_at,
        "fork": one.fork and asdict(one.fork),
        "change": asdict(one.change) | {"is_beyond_chance": one.change.is_beyond_chance},
    }


def side_fields(analysis: Analysis, runs: Sequence[Run]) -> Fields:
    """One side: all its runs as one, and each by itself."""
    return {
        "run": analysis.run,
        "runs": [{"run": run.id, "created": run.created, "endpoint": asdict(run.address)} for run in runs],
        "created": analysis.created,
        "verdict": str(analysis.verdict),
        "requests": analysis.requests,
        "endpoint": asdict(analysis.address),
    }


def _prompt(prompt: PromptAnalysis) -> Fields:
    commonest = prompt.texts[0] if prompt.texts else None
    return {
        "id": prompt.id,
        "verdict": str(prompt.verdict),
        "distinct": distinct_fields(prompt.distinct),
        "commonest": commonest and {"sha256": commonest.sha256, "count": commonest.count, "text": commonest.text},
    }
