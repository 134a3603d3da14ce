"""Logprobs as OpenAI's chat completions and responses list them: one object a token, its alternatives inside.

Beyond the dialect each has its token's `id`.
"""

from __future__ import annotations

from collections.abc import Iterable

from temp0.engine.request import Emission
from temp0.engine.server.served import ServedTokenizer


def token_entries(tokenizer: ServedTokenizer, emissions: Iterable[Emission]) -> list[dict[str, object]]:
    """The tokens of an answer with their logprobs and alternatives."""
    return [
        {
            **_entry(tokenizer, emission.token, emission.logprob),
            "top_logprobs": [_entry(tokenizer, token, logprob) for token, logprob in emission.top],
        }
        for emission in emissions
    ]


def _entry(tokenizer: ServedTokenizer, token: int, logprob: float | None) -> dict[str, object]:
    data = tokenizer.bytes_of(token)
    return {"id": token, "token": data.decode("utf-8", "replace"), "bytes": list(data), "logprob": logprob}
