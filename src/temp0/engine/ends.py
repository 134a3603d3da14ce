"""Which tokens end an answer, whatever file a model came in.

Chat models may emit any of them: the one their file declares, or another that was trained as an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_END_TEXTS = frozenset(
    {"<|endoftext|>", "<|im_end|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "</s>"}
)


def end_ids(declared: Iterable[int | None], tokens: Sequence[str], control: Iterable[int]) -> frozenset[int]:
    """The declared ends, where there are any, and the control tokens that are known to end a text."""
    known = (token for token in control if tokens[token] in _END_TEXTS)
    return frozenset(token for token in (*declared, *known) if token is not None)
