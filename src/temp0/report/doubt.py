"""Why a margin is unknown, in words that fit what was asked.

That logprobs can be asked for is said only where they were not.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.analysis import ConditionAnalysis, Margin
from temp0.core.margin import NOT_ASKED

UNTOLD = "logprobs were asked for, and the server told none"
_NOT_RECORDED = "the files that were imported hold no logprobs on every branch"
_NO_ALTERNATIVES = "logprobs were asked for, and the server told none of other tokens"
_ONE_BRANCH_PLAIN = "not every branch was taken by an attempt with logprobs"


def doubt(margin: Margin, conditions: Sequence[ConditionAnalysis]) -> str | None:
    """The reason of an unknown margin under these conditions; `None` where it is known or has none."""
    if margin.value is not None or margin.reason != NOT_ASKED:
        return margin.reason
    if all(one.company.asked == 0 for one in conditions):
        return _NOT_RECORDED
    asked = [one for one in conditions if one.condition.logprobs and one.completions]
    if not asked:
        return margin.reason
    if all(one.distinct.logprobs is None for one in asked):
        return UNTOLD
    return _NO_ALTERNATIVES if all(one.distinct.top_logprobs is None for one in asked) else _ONE_BRANCH_PLAIN


def is_untold(one: ConditionAnalysis) -> bool:
    """Whether a condition asked for logprobs, and none came with answers that have any text."""
    has_text = one.length is not None and one.length.max > 0
    return one.condition.logprobs and has_text and one.distinct.logprobs is None
