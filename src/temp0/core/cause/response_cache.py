"""Cause `response-cache`: answers were replayed rather than computed again; they are excluded.

Which completions are replays is decided in `core.replay`, before anything is counted.
"""

from __future__ import annotations

from temp0.core.cause.evidence import Evidence
from temp0.core.cause.finding import NOTHING, Finding, Outcome
from temp0.core.cause.wording import counted
from temp0.core.replay import REPLAYED


def response_cache(evidence: Evidence) -> Outcome:
    """The rule: a cache says so in a header, or an answer's id, time of creation and text were seen before.

    The id may be new where a clock would long have left the time of creation behind. Latency alone is never evidence,
    and neither is an id that more than one text came with.
    """
    replays = [
        (one, tally)
        for one in evidence.prompts
        for condition in one.prompt.conditions
        for tally in condition.excluded
        if tally.reason == REPLAYED
    ]
    if not replays:
        return NOTHING
    total = sum(tally.count for _, tally in replays)
    counts = sum(condition.completions for one in evidence.prompts for condition in one.prompt.conditions)
    return Outcome(
        finding=Finding(
            cause="response-cache",
            evidence=f"{counted(total, 'completion was', 'completions were')} replayed from a cache and excluded, "
            f"{counts:,} left to count; the first: {replays[0][1].message}",
            remedy="bypass the response cache of the gateway or client in between (a header such as "
            "Cache-Control: no-cache, or its own setting for this route) and ask again; the prompts stay as they are, "
            "since another prompt would be another question",
            prompts=tuple(dict.fromkeys(one.prompt.id for one, _ in replays)),
            n=total,
            proof="rule",
        )
    )
