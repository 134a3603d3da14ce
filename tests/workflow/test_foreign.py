"""Files of other tools: real ones are read to the last answer, and what cannot be read is refused by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure
from temp0.errors import LogFileError
from temp0.workflow.importing import read_log

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
SAMPLES = next(LOGS.glob("samples_*.jsonl"))


def texts(log):
    return [answer.outcome.text for answer in log.answers if isinstance(answer.outcome, Completion)]


def by_prompt(log):
    return {answer.prompt: [one.prompt for one in log.answers].count(answer.prompt) for answer in log.answers}


def by_words(log):
    asked = {answer.messages: [] for answer in log.answers}
    for answer in log.answers:
        asked[answer.messages].append(answer)
    return asked


def test_a_log_of_inspect_ai_gives_every_epoch_with_its_score():
    log = read_log(LOGS / "inspect_ai.json")
    assert (log.tool, log.model) == ("inspect_ai", "openai-api/temp0/SmolLM2-135M-Instruct")
    assert by_prompt(log) == {"A": 4, "C": 4}
    assert {answer.score for answer in log.answers if answer.prompt == "C"} == {1.0}
    first = log.answers[0]
    assert first.messages == (Message(role="user", content="List three prime numbers between 100 and 200."),)
    assert (first.outcome.finish, first.outcome.usage.completion) == ("max_tokens", 24)
    assert first.outcome.id.startswith("chatcmpl-")
    assert "replays" not in log.untold


def test_a_sample_file_of_lm_eval_gives_every_repeat_with_its_prompt():
    log = read_log(SAMPLES)
    assert log.tool == "lm-evaluation-harness"
    assert by_prompt(log) == {"tiny:0": 3, "tiny:1": 3}
    assert log.answers[3].messages[0].content == "Give me one 12-word proverb about caching."
    assert all(text for text in texts(log))
    assert {"replays", "parameters"} < set(log.untold)


def test_a_result_of_promptfoo_gives_every_repeat_of_a_test():
    log = read_log(LOGS / "promptfoo.json")
    assert (log.tool, log.model) == ("promptfoo", "openai:chat:SmolLM2-135M-Instruct")
    assert {len(same) for same in by_words(log).values()} == {3}
    assert len(texts(log)) == 6


def test_a_result_that_promptfoo_took_from_its_cache_is_marked_as_a_replay(tmp_path):
    told = json.loads((LOGS / "promptfoo.json").read_text())
    told["results"]["results"][0]["response"]["cached"] = True
    path = tmp_path / "p.json"
    path.write_text(json.dumps(told))
    marked = [answer for answer in read_log(path).answers if answer.outcome.headers]
    assert len(marked) == 1


def line(number: int, text: str, *, status: int = 200, name: str = "verse"):
    body = {
        "id": f"c{number}",
        "object": "chat.completion",
        "created": number,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    }
    response = {"status_code": status, "request_id": f"r{number}", "body": body if status == 200 else {"error": text}}
    return {"id": f"b{number}", "custom_id": f"{name}-{number}", "response": response, "error": None}


def written(path: Path, lines) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def test_a_batch_output_gives_repeats_by_their_custom_ids_and_failures_as_such(tmp_path):
    lines = [line(1, "a"), line(2, "b"), line(3, "too much", status=429), line(1, "c", name="ode")]
    lines.append({"id": "b9", "custom_id": "ode-2", "response": None, "error": {"code": "expired", "message": "late"}})
    log = read_log(written(tmp_path / "b.jsonl", lines))
    assert by_prompt(log) == {"verse": 3, "ode": 2}
    assert [answer.outcome.reason for answer in log.answers if isinstance(answer.outcome, Failure)] == [
        "http-429",
        "expired",
    ]
    assert (log.model, texts(log)) == ("m", ["a", "b", "c"])


def test_plain_lines_take_what_they_know(tmp_path):
    lines = [
        {"prompt": "Why?", "text": "Because.", "response_id": "r1", "created": 5, "model": "m", "score": 1},
        {"prompt": "Why?", "output": "Just so."},
        {"id": 7, "messages": [{"role": "user", "content": "How?"}], "response": "Well."},
        {"id": 7, "messages": [{"role": "user", "content": "How?"}], "error": "timed out"},
    ]
    log = read_log(written(tmp_path / "a.jsonl", lines))
    assert by_prompt(log) == {None: 2, "7": 2}
    assert (log.answers[0].outcome.id, log.answers[0].score, log.model) == ("r1", 1.0, "m")
    assert isinstance(log.answers[3].outcome, Failure)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([{"text": "a"}], "line 1 names no prompt"),
        ([{"prompt": "p", "text": "a"}, {"prompt": "p"}], "line 2 has 0 of"),
        ([{"prompt": "p", "text": "a", "output": "b"}], "line 1 has 2 of"),
        ([{"prompt": "p", "text": 5}], "line 1 is not an answer as temp0 knows it: Expected `str"),
    ],
)
def test_a_plain_line_that_cannot_be_right_is_named(tmp_path, lines, told):
    with pytest.raises(LogFileError, match=told):
        read_log(written(tmp_path / "a.jsonl", lines))


@pytest.mark.parametrize("name", ["inspect_ai.json", "promptfoo.json", SAMPLES.name])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.98])
def test_a_file_that_was_cut_short_is_refused_whole(tmp_path, name, share):
    data = (LOGS / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(LogFileError):
        read_log(path)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("inspect_ai.json", lambda log: log.update(version=3), "version 3"),
        ("inspect_ai.json", lambda log: log.update(samples=[]), "holds no samples"),
        ("promptfoo.json", lambda log: log["results"].update(version=9), "version 9"),
        ("promptfoo.json", lambda log: log["results"]["results"][0]["provider"].update(id="x"), "2 providers"),
    ],
)
def test_another_version_and_mixed_providers_are_refused(tmp_path, name, change, told):
    log = json.loads((LOGS / name).read_text())
    change(log)
    path = tmp_path / name
    path.write_text(json.dumps(log))
    with pytest.raises(LogFileError, match=told):
        read_log(path)


def test_a_log_that_did_not_end_well_says_so(tmp_path):
    log = json.loads((LOGS / "inspect_ai.json").read_text())
    log["status"] = "cancelled"
    path = tmp_path / "i.json"
    path.write_text(json.dumps(log))
    assert "cancelled" in read_log(path).notes[0]


def test_an_archive_without_inspect_ai_says_how_to_convert_it(tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(LogFileError, match=r"inspect log convert|inspect_ai cannot read"):
        read_log(path)


@pytest.mark.parametrize("data", [b"hello", b"[1, 2]", b"\x00\xff", b'{\n "name": "other"\n}'])
def test_a_file_of_no_known_kind_is_refused_with_what_is_known(tmp_path, data):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(LogFileError, match=r"of no kind that temp0 knows"):
        read_log(path)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(LogFileError, match="cannot read"):
        read_log(tmp_path / "none.json")
