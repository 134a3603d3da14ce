"""Sample files of lm-evaluation-harness, written by `--log_samples`: one line for each document and filter.

Source: https://github.com/EleutherAI/lm-evaluation-harness, docs/interface.md. Several responses to one document, by
`repeats` of its task, are repeated answers; so are several files of one task. A document has one score, whatever its
responses: it is not made theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.probe.json_value import json_value
from temp0.workflow.foreign.log import Answer, Log, number, untold, written_conversation
from temp0.workflow.foreign.source import converted, lines, parsed

TOOL = "lm-evaluation-harness"
WHAT = "a sample of lm-evaluation-harness"
_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)$")
_METRICS = ("exact_match", "acc", "pass@1", "f1")


class _Line(Struct):
    doc_id: int
    resps: list[list[object]]
    filtered_resps: list[object] = []
    arguments: object = None
    filter: str = "none"
    metrics: list[str] = []


class _Config(Struct):
    model_name: str | None = None


class _Count(Struct):
    effective: int


class _Results(Struct, rename={"n_samples": "n-samples"}):
    model_name: str | None = None
    n_samples: dict[str, _Count] = {}


def is_lm_eval_log(names: frozenset[bytes]) -> bool:
    """Whether a file is one of these."""
    return b"doc_id" in names and bool(names & {b"doc", b"resps"})


def read_lm_eval_log(path: Path, data: bytes) -> Log:
    """The answers of a sample file. Raises LogFileError naming the line that cannot be read.

    Where several filters were logged, the responses are the same and those of the first filter are read. The results
    that lie beside the file, where they do, tell the model and how many documents there should be.
    """
    named = _NAME.match(path.stem)
    task, results = (named["task"], _results(path, named["date"])) if named else (path.stem, _Results())
    read = [_line(line, f"{path}, line {place}") for place, line in lines(data)]
    filters = list(dict.fromkeys(line.filter for line, _ in read))
    own = [(line, fields) for line, fields in read if line.filter == filters[0]]
    _check_whole(path, own, results.n_samples.get(task))
    metric = next(
        (name for line, fields in own for name in line.metrics or _METRICS if number(fields.get(name)) is not None),
        None,
    )
    answers = tuple(
        answer
        for line, fields in own
        for answer in _answers(line, f"{task}:{line.doc_id}", number(fields.get(metric or "")))
    )
    if not answers:
        raise LogFileError(f"{path} holds no responses")
    return Log(
        tool=TOOL,
        model=results.model_name or path.resolve().parent.name or "unknown",
        answers=answers,
        untold=untold(answers),
        notes=(f"scores are by the filter {filters[0]}, and not by {', '.join(filters[1:])}",) if filters[1:] else (),
        scored_by=metric and f"{metric},{filters[0]}",
        has_texts=all(_is_text(line) for line, _ in own),
    )


def _line(data: bytes, where: str) -> tuple[_Line, dict[str, object]]:
    value = parsed(data, where=where, what=WHAT)
    return converted(value, _Line, where=where, what=WHAT), converted(value, dict[str, object], where=where, what=WHAT)


def _results(path: Path, date: str) -> _Results:
    """What the tool wrote beside the samples of one evaluation; nothing where it is gone."""
    beside = path.with_name(f"results_{date}.json")
    try:
        return converted(json_value(beside.read_bytes()), _Results, where=str(beside), what="results")
    except (OSError, ValueError, RecursionError, LogFileError):
        return _Results()


def _check_whole(path: Path, own: Sequence[tuple[_Line, object]], count: _Count | None) -> None:
    documents = {line.doc_id for line, _ in own}
    if len(documents) < len(own):
        raise LogFileError(f"{path} holds a document more than once: give the files of several evaluations one by one")
    if count and len(documents) < count.effective:
        raise LogFileError(
            f"{path} holds {len(documents):,} of the {count.effective:,} documents that the results beside it count: "
            "was it cut short?"
        )


def _answers(line: _Line, prompt: str, score: float | None) -> Iterator[Answer]:
    """The responses to a document, whose score goes with the first of them; each request of it is its own prompt."""
    if not _is_text(line):
        yield from _choices(line, prompt, score)
        return
    for place, group in enumerate(line.resps):
        asked, temperature = _asked(line.arguments, place)
        read_out = _read_out(line, place, len(group))
        for number_in_group, response in enumerate(group):
            yield Answer(
                prompt=f"{prompt}.{place}" if place else prompt,
                messages=asked,
                outcome=Completion(text=response)
                if isinstance(response, str)
                else Failure(reason="error", message="the harness kept no response"),
                score=score if place == number_in_group == 0 else None,
                parsed=read_out[number_in_group],
                temperature=temperature,
            )


def _is_text(line: _Line) -> bool:
    return all(response is None or isinstance(response, str) for group in line.resps for response in group)


def _read_out(line: _Line, place: int, responses: int) -> Sequence[str | None]:
    """What the filter made of each response, where it made one thing of each."""
    told = line.filtered_resps[place] if place < len(line.filtered_resps) else None
    each = told if isinstance(told, list) else [told]
    return [str(one) for one in each] if told is not None and len(each) == responses else [None] * responses


def _choices(line: _Line, prompt: str, score: float | None) -> Iterator[Answer]:
    """A document of which only the likelihoods of given answers were asked: their numbers, and which is the largest."""
    asked, _ = _asked(line.arguments, 0)
    for place, likelihoods in enumerate(zip(*line.resps, strict=False)):
        sizes = [number(one[0] if isinstance(one, list) and one else one) or 0.0 for one in likelihoods]
        yield Answer(
            prompt=prompt,
            messages=asked,
            outcome=Completion(text=" ".join(map(str, likelihoods))),
            score=score if place == 0 else None,
            parsed=str(sizes.index(max(sizes))) if len(sizes) > 1 else None,
        )


def _asked(arguments: object, place: int) -> tuple[tuple[Message, ...], float | None]:
    """What a request asked, a text or a conversation written as JSON, and the temperature that was set for it."""
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    request = requests[place] if isinstance(requests, list) and place < len(requests) else None
    told = list(request.values()) if isinstance(request, dict) else request
    text, settings = (*told, None, None)[:2] if isinstance(told, list) else (told, None)
    while isinstance(text, list) and text:
        text = text[0]
    temperature = settings.get("temperature") if isinstance(settings, dict) else None
    return written_conversation(text) if isinstance(text, str) else (), number(temperature)
