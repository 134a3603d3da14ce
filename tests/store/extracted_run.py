"""What a book should give of a run: its chapters in memory, each answer without what judging does not look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import replace

from temp0.core.chapter import Chapter, chapters, preface
from temp0.core.header import tells_cache, tells_machine
from temp0.core.replay import stand_still
from temp0.core.run import Attempt, Completion, Run


def extracted_chapters(run: Run) -> list[Chapter]:
    answers = [one.outcome for one in run.attempts if isinstance(one.outcome, Completion)]
    counts = Counter(answer.id for answer in answers)
    naming = {name for name, count in counts.items() if name is not None and count > 1} - preface(run).shared_ids
    return [
        replace(
            chapter,
            judged=tuple(_extracted(attempt, naming, keeps_created=_still(chapter)) for attempt in chapter.judged),
            fillers=tuple(_extracted(attempt, naming) for attempt in chapter.fillers),
        )
        for chapter in chapters(run)
    ]


def _still(chapter: Chapter) -> bool:
    """Whether a time of creation stands still, so that replays may be told by it."""
    return stand_still(
        [
            (one.outcome.created, one.started_s, one.ended_s)
            for one in chapter.judged
            if isinstance(one.outcome, Completion) and one.outcome.created is not None
        ]
    )


def _extracted(attempt: Attempt, naming: AbstractSet[str], *, keeps_created: bool = False) -> Attempt:
    answer = attempt.outcome
    if isinstance(answer, Completion):
        names_one = answer.id in naming
        answer = replace(
            answer,
            id=answer.id if names_one else None,
            created=answer.created if names_one or keeps_created else None,
            headers=tuple(pair for pair in answer.headers if tells_machine(pair[0]) or tells_cache(pair[0])),
        )
    return replace(attempt, outcome=answer, first_byte_s=None, sent=None, received=None)
