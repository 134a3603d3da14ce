"""Cause `no-visible-output`: completions came back empty, so that the answers, if any, could not be compared."""

from __future__ import annotations

from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted
from temp0.core.fork import LENGTH_FINISHES

_TOO_SHORT = "raise --max-tokens, so that the answer itself fits"
_SILENT = "the model ended without a word: look at its chat template, stop sequences, filters and tool calls"


def no_visible_output(evidence: Evidence) -> Outcome:
    """Completions with an empty text: found where reasoning or the limit ate them, or where a prompt has no other.

    An answer that ended by itself without a word, beside others that did not, is only suspected: it is a text.
    """
    prompts = [one for one in evidence.prompts if any(not text.text for text in one.prompt.texts)]
    if not prompts:
        return NOTHING
    empty = [text for one in prompts for text in one.prompt.texts if not text.text]
    has_reasoned = any(one.has_reasoned for one in prompts)
    is_cut = has_reasoned or any(end.reason in LENGTH_FINISHES for text in empty for end in text.finishes)
    is_all = any(one.prompt.distinct.text == 1 for one in prompts)
    total = sum(text.count for text in empty)
    reasoned = " after reasoning that is not part of the text" if has_reasoned else ""
    return Outcome(
        finding=Finding(
            cause="no-visible-output",
            evidence=f"{counted(total, 'completion')} came back empty{reasoned}",
            remedy=_TOO_SHORT if is_cut else _SILENT,
            prompts=tuple(one.prompt.id for one in prompts),
            n=total,
            proof="rule" if is_cut or is_all else "none",
        )
    )
