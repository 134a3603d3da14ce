"""Every dialect keeps its promises on its samples, and the test that says so finds what does not."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from temp0.conformance import main, samples
from temp0.core.run import Completion, Failure, Question
from temp0.probe.conformance import Sample, faults
from temp0.probe.conformance.promise import PROMISES
from temp0.probe.dialect import DIALECTS, Dialect
from temp0.probe.dialect.dialect import Headers
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.openai_chat_stream import PartialChat
from temp0.probe.event_stream import Event

SAMPLES = Path(__file__).parents[1] / "fixtures" / "conformance"
ROUNDS = int(os.environ.get("TEMP0_FUZZ_ROUNDS", "300"))
"""Disorderly inputs for each reader; many more by hand."""
VLLM = DIALECTS["vllm"]


def broken(dialect: Dialect, name: str = "vllm", **more: int) -> list[str]:
    found = faults(dialect, samples(SAMPLES / name), rounds=ROUNDS, **more)
    return [promise for promise, seen in found.items() if seen]


def spoken() -> dict[str, Dialect]:
    """Every dialect and every form of one, by the folder of its samples."""
    forms = {
        f"{name}{end.replace('/api', '').replace('/', '-')}": form
        for name, dialect in DIALECTS.items()
        for end, form in dialect.forms
    }
    return {**DIALECTS, **forms}


@pytest.mark.parametrize("name", spoken())
def test_a_dialect_keeps_its_promises(name: str):
    dialect = spoken()[name]
    folder = SAMPLES / name if (SAMPLES / name).exists() else SAMPLES / dialect.name
    found = faults(dialect, samples(folder), rounds=ROUNDS)
    assert {promise: seen for promise, seen in found.items() if seen} == {}
    assert len(found) == len(PROMISES)


def with_body(change: Mapping[str, object]) -> Dialect:
    def body(question: Question, model: str) -> Mapping[str, object]:
        return {**VLLM.body(question, model), **change}

    return replace(VLLM, body=body)


@pytest.mark.parametrize(
    ("dialect", "promise"),
    [
        (with_body({"temperature": False}), "a greedy question has a temperature of 0"),
        (with_body({"temperature": 0.01}), "a greedy question has a temperature of 0"),
        (with_body({"options": {"temperature": 0}}), "a greedy question has a temperature of 0"),
        (with_body({"top_p": float("nan")}), "a body is JSON"),
        (with_body({"messages": []}), "a body is JSON"),
        (with_body({"max_tokens": 100}), "a body is JSON"),
        (with_body({"stream": False}), "logprobs and streaming are asked for"),
        (replace(VLLM, dispensable=("nothing",)), "what may be left out"),
        (replace(VLLM, dispensable=("temperature",)), "what may be left out"),
        (replace(VLLM, renamed=(("old", "new"),)), "what may be left out"),
        (replace(VLLM, url=lambda url: url + "/chat"), "a URL stays the same"),
        (replace(VLLM, models_url=lambda url: "http://elsewhere/models"), "a URL stays the same"),
        (replace(VLLM, headers=lambda key: {"Authorization": f"Bearer {key}"}), "headers are texts"),
        (replace(VLLM, key_variable=""), "headers are texts"),
        (OPENAI_CHAT, "the samples are read as expected"),
        (replace(VLLM, framing=replace(VLLM.framing, begins=lambda *_: True)), "the samples are read as expected"),
    ],
)
def test_a_broken_promise_is_found(dialect: Dialect, promise: str):
    assert any(one.startswith(promise) for one in broken(dialect))


def read_badly(payload: object, headers: Headers) -> Completion | Failure:
    return Completion(text=payload["choices"][0]["message"]["content"])  # type: ignore[index]


def read_once(payload: object, headers: Headers) -> Completion | Failure:
    outcome = VLLM.read(payload, headers)
    if isinstance(payload, dict):
        payload.pop("choices", None)
    return outcome


@pytest.mark.parametrize("read", [read_badly, read_once])
def test_a_reader_that_raises_or_changes_what_it_reads_is_found(read: object):
    assert "any JSON is a completion or a failure, and reading changes nothing" in broken(
        replace(VLLM, read=read)  # type: ignore[arg-type]
    )


class Hasty(PartialChat):
    """Takes an answer for whole as soon as any of it has come."""

    @property
    def is_whole(self) -> bool:
        return True


class Deaf(PartialChat):
    """Hears no more than the first twenty bytes of a reasoning."""

    def add(self, event: Event) -> None:
        super().add(Event(data=event.data.replace(b'"reasoning"', b'"other"'), name=event.name))


def test_a_stream_that_passes_for_whole_too_early_is_found():
    assert "a stream that breaks off is no other answer" in broken(replace(OPENAI_CHAT, partial=Hasty))


def test_a_stream_that_tells_less_than_a_whole_answer_is_found():
    assert "an answer is the same streamed and whole" in broken(replace(OPENAI_CHAT, partial=Deaf))


def test_a_reader_that_depends_on_the_cuts_is_found():
    class Splitting:
        """Decodes each part for itself."""

        def __init__(self) -> None:
            self._reader = VLLM.framing.reader()

        def feed(self, data: bytes) -> list[Event]:
            return self._reader.feed(data.decode("utf-8", "replace").encode())

        def end(self) -> list[Event]:
            return self._reader.end()

    split = replace(VLLM, framing=replace(VLLM.framing, reader=Splitting))
    assert "a stream is the same however its bytes are cut" in broken(split)


@pytest.mark.parametrize("name", ["openai-chat", "sglang"])
@pytest.mark.parametrize("said", ['{"message":"\\u2028"}', '{"detail":"\\n"}', '{"error":" "}', "{}", '""'])
def test_an_error_that_says_nothing_says_so(name: str, said: str):
    """Found by ten thousand rounds of disorder."""
    outcome = DIALECTS[name].streamed([Event(data=said.encode(), name="error")])
    assert isinstance(outcome, Failure)
    assert outcome.reason == "error-in-200"
    assert outcome.message


def test_samples_without_a_stream_are_no_proof():
    one = Sample(name="one", expected={"text": "a"}, answer=b'{"choices":[{"message":{"content":"a"}}]}')
    found = faults(VLLM, [one], rounds=1)
    assert found["the samples are read as expected"] == ("no sample has a stream",)


def test_the_same_seed_finds_the_same():
    broken_reader = replace(VLLM, read=read_badly)
    recorded = samples(SAMPLES / "vllm")
    assert faults(broken_reader, recorded, rounds=50) == faults(broken_reader, recorded, rounds=50)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, [*arguments, "--rounds", "20"])
    return result.exit_code, result.output


def test_the_command_says_what_was_kept_and_ends_with_0():
    code, said = run("temp0.probe.dialect.vllm:VLLM", str(SAMPLES / "vllm"))
    assert code == 0
    assert said.count("kept    ") == len(PROMISES)
    assert f"vllm: {len(PROMISES)} of {len(PROMISES)} promises kept, on 3 samples" in said


def test_the_command_says_what_was_broken_and_ends_with_1(tmp_path: Path):
    (tmp_path / "one.expected.json").write_text('{"text": "b"}')
    (tmp_path / "one.json").write_text(json.dumps({"choices": [{"message": {"content": "a"}}]}))
    code, said = run("temp0.probe.dialect.vllm:VLLM", str(tmp_path))
    assert code == 1
    assert 'one, whole: read {"text": "a"}, expected {"text": "b"}' in said


@pytest.mark.parametrize(
    ("where", "files", "said"),
    [
        ("temp0.probe.dialect.vllm:NOTHING", {}, "is not MODULE:NAME of a dialect"),
        ("no.such.module:VLLM", {}, "is not MODULE:NAME of a dialect"),
        ("temp0.probe.dialect.vllm", {}, "is not MODULE:NAME of a dialect"),
        ("temp0.probe.dialect.vllm:TOKEN_IDS", {}, "expected temp0.probe.dialect.Dialect"),
        ("temp0.probe.dialect.vllm:VLLM", {}, "has no file whose name ends in .expected.json"),
        ("temp0.probe.dialect.vllm:VLLM", {"a.expected.json": "{}"}, "neither a.json nor a.stream"),
        ("temp0.probe.dialect.vllm:VLLM", {"a.expected.json": "{", "a.json": "{}"}, "Expecting property name"),
        ("temp0.probe.dialect.vllm:VLLM", {"a.expected.json": "[]", "a.json": "{}"}, "is no object"),
        ("temp0.probe.dialect.vllm:VLLM", {"a.expected.json": "{}", "a.json": "{"}, "Expecting property name"),
    ],
)
def test_what_cannot_be_tried_ends_with_2(tmp_path: Path, where: str, files: dict[str, str], said: str):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code, output = run(where, str(tmp_path))
    assert code == 2
    assert said in " ".join(output.split())
