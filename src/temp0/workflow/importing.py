"""From files of other tools to a run: repeated answers that somebody already has, asked for by nobody again.

The run says what its files do not tell, and its verdict is limited by that. A file that cannot be read whole is refused
whole: half of a log would be another finding.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from temp0.core.plan import Condition, Plan, Prompt
from temp0.core.run import Address, Attempt, Run
from temp0.errors import LogFileError, StoreError
from temp0.store import Store
from temp0.workflow.foreign.inspect_ai import is_inspect_log, read_inspect_log
from temp0.workflow.foreign.jsonl import is_jsonl, read_jsonl
from temp0.workflow.foreign.lm_eval import is_lm_eval_log, read_lm_eval_log
from temp0.workflow.foreign.log import Answer, Log
from temp0.workflow.foreign.openai_batch import is_openai_batch, read_openai_batch
from temp0.workflow.foreign.promptfoo import is_promptfoo_log, read_promptfoo_log

# The first that fits counts: plain JSONL is what is left.
READERS: tuple[tuple[Callable[[bytes], bool], Callable[[Path], Log]], ...] = (
    (is_inspect_log, read_inspect_log),
    (is_promptfoo_log, read_promptfoo_log),
    (is_openai_batch, read_openai_batch),
    (is_lm_eval_log, read_lm_eval_log),
    (is_jsonl, read_jsonl),
)
BEGINNING_BYTES = 65_536
MAX_TOKENS_UNKNOWN = 1
"""What a plan must have where no file tells how long an answer could be."""


def read_log(path: Path) -> Log:
    """The answers of one file, whoever wrote it. Raises LogFileError for a file that nobody here can read."""
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING_BYTES)
        reader = next((read for fits, read in READERS if fits(beginning)), None)
        if reader is None:
            raise LogFileError(
                f"{path} is of no kind that temp0 knows: logs of inspect_ai (.json, .eval), samples of "
                "lm-evaluation-harness, results of promptfoo, output files of OpenAI's batch API, or JSONL"
            )
        return reader(path)
    except OSError as error:
        raise LogFileError(f"cannot read {path}: {error.strerror}") from error


def imported(paths: Sequence[Path], *, created: datetime) -> tuple[Run, tuple[str, ...]]:
    """One run of all files, which must be of one tool and one model, and notes on what was left out.

    Raises LogFileError where they are not, and what `read_log` raises.
    """
    logs = [read_log(path) for path in paths]
    for what, told in (("tools", [log.tool for log in logs]), ("models", [log.model for log in logs])):
        if len(set(told)) > 1:
            raise LogFileError(
                f"the files are of several {what} ({', '.join(dict.fromkeys(told))}): import each by itself, then "
                "temp0 compare"
            )
    answers = [answer for log in logs for answer in log.answers]
    untold = tuple(dict.fromkeys(what for log in logs for what in log.untold))
    condition = Condition(company=0)
    plan = Plan(prompts=_prompts(answers), conditions=(condition,))
    digest = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths)).hexdigest()
    run = Run(
        id=digest[:12],
        created=created.astimezone(UTC).isoformat(timespec="milliseconds"),
        address=Address(url=f"import:{','.join(path.name for path in paths)}", api=logs[0].tool, model=logs[0].model),
        plan=plan,
        untold=untold,
        attempts=tuple(_attempt(place, answer, condition) for place, answer in enumerate(answers)),
    )
    return run, tuple(dict.fromkeys(note for log in logs for note in log.notes))


def stored(run: Run, store: Store, *, version: str) -> bool:
    """Keep an imported run; whether it was not there before. The same files are the same run."""
    try:
        store.begin(run, version=version, environment=())
    except StoreError:
        if store.resolve(run.id) == run.id:
            return False
        raise
    store.append(run.id, run.attempts, ())
    store.finish(run.id)
    return True


def _prompts(answers: Sequence[Answer]) -> tuple[Prompt, ...]:
    counts = Counter(answer.prompt for answer in answers)
    asked: dict[str, Answer] = {}
    for answer in answers:
        first = asked.setdefault(answer.prompt, answer)
        if first.messages != answer.messages:
            raise LogFileError(
                f"prompt {answer.prompt} was asked in several wordings: answers to different questions are not repeats"
            )
    return tuple(
        Prompt(id=name, messages=first.messages, n=counts[name], max_tokens=MAX_TOKENS_UNKNOWN)
        for name, first in asked.items()
    )


def _attempt(place: int, answer: Answer, condition: Condition) -> Attempt:
    """An answer as an attempt in a block of its own; the times are unknown, and nothing is made of them."""
    return Attempt(
        order=place,
        prompt=answer.prompt,
        condition=condition.name,
        block=place,
        role="judged",
        started_s=0.0,
        first_byte_s=None,
        ended_s=0.0,
        in_flight=0,
        predecessor=None,
        outcome=answer.outcome,
    )
