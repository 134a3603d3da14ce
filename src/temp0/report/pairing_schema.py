"""Two runs side by side as a JSON document, under the rules of `schema`."""

from __future__ import annotations

import json
from dataclasses import asdict

from temp0.core.analysis import Analysis, PromptAnalysis
from temp0.core.pairing import Pairing
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
        "a": _run(pairing.a),
        "b": _run(pairing.b),
        "prompts": [
            {"text": one.a.text, "a": _prompt(one.a), "b": _prompt(one.b), "part_at": one.part_at}
            for one in pairing.prompts
        ],
        "rates": [
            {"condition": one.condition, "tokens_per_s_a": one.a, "tokens_per_s_b": one.b, "ratio": one.ratio}
            for one in pairing.rates
        ],
        "only_a": list(pairing.only_a),
        "only_b": list(pairing.only_b),
    }


def _run(analysis: Analysis) -> Fields:
    return {
        "run": analysis.run,
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
