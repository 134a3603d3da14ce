"""From files of other tools to a run: repeated answers that somebody already has, asked for by nobody again.

The run says what its files do not tell, and its verdict is limited by that. A file that cannot be read whole is refused
whole: half of a log would be another finding.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Attempt, Run, Untold
from temp0.errors import LogFileError, StoreError
from temp0.store import Store
from temp0.workflow.foreign.inspect_ai import is_inspect_log, read_inspect_log
from temp0.workflow.foreign.jsonl import is_jsonl, read_jsonl
from temp0.workflow.foreign.lm_eval import is_lm_eval_log, read_lm_eval_log
from temp0.workflow.foreign.log import Answer, Log, merged, user_turn
from temp0.workflow.foreign.openai_batch import (
    Asked,
    is_openai_batch,
    is_openai_batch_input,
    read_openai_batch,
    read_requests,
)
from temp0.workflow.foreign.promptfoo import is_promptfoo_log, read_promptfoo_log
from temp0.workflow.foreign.source import contents, members

Key = str | tuple[Message, ...]
"""What answers belong together by: the name of what was asked, or its words."""
MAX_TOKENS_UNKNOWN = 1
"""What a plan must have where no file tells how long an answer could be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """Files of one tool and one model, read as one.

    `answers` are each there once; `notes` say what was left out, and `scored_by` what gave the
    scores.
    """

    tool: str
    model: str
    answers: tuple[Answer, ...]
    untold: tuple[Untold, ...]
    notes: tuple[str, ...]
    scored_by: str | None
    has_texts: bool


def read_log(path: Path, requests: Mapping[str, Asked] | None = None) -> Log:
    """The answers of one file, whoever wrote it. Raises LogFileError for a file that nobody here can read."""
    return _read_log(path, contents(path), requests or {})


def _read_log(path: Path, data: bytes, requests: Mapping[str, Asked]) -> Log:
    names = members(data)
    if is_inspect_log(names, data):
        return read_inspect_log(path, data)
    if is_promptfoo_log(names):
        return read_promptfoo_log(path, data)
    if is_openai_batch(names):
        return read_openai_batch(path, data, requests)
    if is_lm_eval_log(names):
        return read_lm_eval_log(path, data)
    if is_jsonl(names, data):
        return read_jsonl(path, data)
    raise LogFileError(
        f"{path} is of no kind that temp0 knows, or was cut short: logs of inspect_ai (.json, .eval), samples of "
        "lm-evaluation-harness, results of promptfoo, output files of OpenAI's batch API, or JSONL"
    )


def read_logs(paths: Sequence[Path]) -> Logs:
    """Files that belong together, as one; an input file of OpenAI's batch API tells what its output files answer.

    Raises LogFileError where they are of several tools, models or scores, and what `read_log` raises.
    """
    places = [path.resolve() for path in paths]
    if twice := next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None):
        raise LogFileError(f"{twice} is named twice: its answers would count twice")
    files = {path: contents(path) for path in paths}
    inputs = {path: data for path, data in files.items() if is_openai_batch_input(members(data))}
    requests = {name: asked for path, data in inputs.items() for name, asked in read_requests(path, data).items()}
    logs = [_read_log(path, data, requests) for path, data in files.items() if path not in inputs]
    if not logs:
        raise LogFileError(f"{paths[0]} holds the requests of a batch and no answers: give its output file as well")
    _check_alike(logs)
    answers = merged(logs)
    repeated = sum(len(log.answers) for log in logs) - len(answers)
    return Logs(
        tool=logs[0].tool,
        model=logs[0].model,
        answers=answers,
        untold=tuple(dict.fromkeys(what for log in logs for what in log.untold)),
        notes=(
            *dict.fromkeys(note for log in logs for note in log.notes),
            *([f"answers that stand in several of the files count once: {repeated:,} left out"] if repeated else ()),
            *_temperatures(answers),
        ),
        scored_by=next((log.scored_by for log in logs if log.scored_by), None),
        has_texts=all(log.has_texts for log in logs),
    )


def imported(paths: Sequence[Path], *, created: datetime) -> tuple[Run, tuple[str, ...]]:
    """One run of all files, which must be of one tool and one model, and notes on what was left out.

    Raises LogFileError where they are not, where one name stands for several wordings, and what `read_log` raises.
    """
    logs = read_logs(paths)
    if not logs.has_texts:
        raise LogFileError(
            f"{paths[0]} holds the likelihoods of given answers and no text: temp0 compare reads its scores"
        )
    condition = Condition(company=0)
    prompts, names = _prompts(logs.answers)
    digest = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths)).hexdigest()
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    run = Run(
        id=digest[:12],
        created=created.astimezone(UTC).isoformat(timespec="milliseconds"),
        address=Address(
            url=f"import:{','.join(path.name for path in paths[:_NAMED])}{more}", api=logs.tool, model=logs.model
        ),
        plan=Plan(prompts=prompts, conditions=(condition,), greedy=all(map(_may_be_greedy, logs.answers))),
        untold=logs.untold,
        attempts=tuple(
            _attempt(place, name, answer, condition)
            for place, (name, answer) in enumerate(zip(names, logs.answers, strict=True))
        ),
    )
    return run, logs.notes


_NAMED = 4


def stored(run: Run, store: Store, *, version: str) -> bool:
    """Keep an imported run; whether it was not there before. The same files are the same run.

    What an import that was interrupted began is finished.
    """
    try:
        store.begin(run, version=version, environment=())
    except StoreError:
        if store.resolve(run.id) != run.id:
            raise
        if store.is_finished(run.id):
            return False
    try:
        store.append(run.id, run.attempts, ())
    except StoreError:
        if len(store.load(run.id).attempts) != len(run.attempts):
            raise  # else another import of the same files was faster, or one was interrupted after this
    store.finish(run.id)
    return True


def _check_alike(logs: Sequence[Log]) -> None:
    """Refuse files that are no repeats of one another."""
    for what, told in (
        ("tools", [log.tool for log in logs]),
        ("models", [log.model for log in logs]),
        ("scores", [log.scored_by for log in logs if log.scored_by]),
    ):
        if len(set(told)) > 1:
            raise LogFileError(
                f"the files are of several {what} ({', '.join(dict.fromkeys(told))}): import each by itself, then "
                "temp0 compare"
            )


def _may_be_greedy(answer: Answer) -> bool:
    return answer.temperature in {None, 0.0}


def _temperatures(answers: Sequence[Answer]) -> Iterator[str]:
    """That answers were drawn, where the file says so."""
    told = sorted({str(one.temperature) for one in answers if not _may_be_greedy(one)})
    if told:
        yield f"not greedy: by the file, the temperature was {', '.join(told)}, so that answers differ by chance"


def _prompts(answers: Sequence[Answer]) -> tuple[tuple[Prompt, ...], list[str]]:
    """What was asked, in the order of the first answers, and the name of it for each answer.

    What has no name in the files is known by its words, and named by its place.
    """
    asked: dict[Key, tuple[Message, ...]] = {}
    keys = [answer.messages if answer.prompt is None else answer.prompt for answer in answers]
    for key, answer in zip(keys, answers, strict=True):
        first = asked.get(key) or answer.messages
        if answer.messages and first != answer.messages:
            raise LogFileError(
                f"prompt {key} was asked in several wordings: answers to different questions are no repeats"
            )
        asked[key] = first
    counts, names = Counter(keys), _names(list(asked))
    prompts = tuple(
        Prompt(id=names[key], messages=first or user_turn(names[key]), n=counts[key], max_tokens=MAX_TOKENS_UNKNOWN)
        for key, first in asked.items()
    )
    return prompts, [names[key] for key in keys]


def _names(keys: Sequence[Key]) -> dict[Key, str]:
    """A name for each: its own, or one by its place that none has of its own."""
    taken = {key for key in keys if isinstance(key, str)}
    names: dict[Key, str] = {}
    place = 0
    for key in keys:
        if isinstance(key, str):
            names[key] = key
            continue
        place += 1
        while f"p{place}" in taken:
            place += 1
        names[key] = f"p{place}"
    return names


def _attempt(place: int, prompt: str, answer: Answer, condition: Condition) -> Attempt:
    """An answer as an attempt in a block of its own; the times are unknown, and nothing is made of them."""
    return Attempt(
        order=place,
        prompt=prompt,
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
