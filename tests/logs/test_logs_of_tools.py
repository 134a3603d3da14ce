"""Logs that the tools themselves wrote, imported by the real command and held against what the server answered."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evaluation import batch_files, inspect_log, lm_eval_log, needs, promptfoo_log
from recording_server import Record, forwarded, recording, scripted
from served_engine import served_engine

from temp0.engine.builtin import builtin_weights
from temp0.errors import LogFileError, ModelError
from temp0.workflow.importing import read_log

pytestmark = [pytest.mark.logs, pytest.mark.timeout(300)]

PRIMES, PROVERB = "List three primes.", "Say a proverb."
ITEMS = [{"id": "primes", "q": PRIMES, "a": "101"}, {"id": "proverb", "q": PROVERB, "a": "cache"}]
STEADY, OTHER = "They are 101, 103 and 107.", "They are 101, 107 and 109."
VARYING = {PRIMES: [STEADY, STEADY, OTHER, STEADY], PROVERB: ["A cache in time saves nine."]}
FAILING = {PRIMES: [STEADY, None, OTHER, STEADY], PROVERB: VARYING[PROVERB]}
ALIKE = {PRIMES: [STEADY], PROVERB: VARYING[PROVERB]}


def temp0(folder: Path, *arguments: object) -> tuple[int, dict]:
    command = [sys.executable, "-m", "temp0", *map(str, arguments), "--store", str(folder / "runs.db"), "--json"]
    call = subprocess.run(command, capture_output=True, text=True, check=False)
    assert call.stdout, call.stderr
    return call.returncode, json.loads(call.stdout)


def judged(folder: Path, record: Record, *files: Path) -> dict:
    """The imported run, after its counts, positions and failures were found to be the server's."""
    code, found = temp0(folder, "import", *files)
    prompts = {prompt["text"].removeprefix("user: "): prompt for prompt in found["prompts"]}
    assert set(prompts) == set(record.texts) | set(record.refused)
    for words, prompt in prompts.items():
        assert {text["text"]: text["count"] for text in prompt["texts"]} == record.distinct(words)
        assert (prompt["forks"][0]["char"] if prompt["forks"] else None) == record.fork(words)
        failures = sum(failure["count"] for failure in prompt["conditions"][0]["failures"])
        assert failures == record.refused[words]
    differ = any(len(record.texts[words]) > 1 for words in prompts)
    assert (code == 1) is (found["verdict"] == "diverged") is differ
    return found


@pytest.mark.parametrize("form", ["json", "eval"])
def test_inspect_ai_with_epochs(tmp_path: Path, form: str) -> None:
    needs("inspect_ai")
    with recording(scripted(VARYING)) as (url, record):
        log = inspect_log(tmp_path, url, ITEMS, epochs=4, form=form)
    found = judged(tmp_path, record, log)
    assert sum(record.texts[PRIMES].values()) == 4
    assert "replays" not in found["run"]["untold"]


def test_an_archive_of_inspect_ai_that_was_cut_is_refused(tmp_path: Path) -> None:
    needs("inspect_ai")
    with recording(scripted(ALIKE)) as (url, _):
        data = inspect_log(tmp_path, url, ITEMS, epochs=1, form="eval").read_bytes()
    cut = tmp_path / "cut.eval"
    for percent in range(1, 100, 7):
        cut.write_bytes(data[: len(data) * percent // 100])
        with pytest.raises(LogFileError, match="cut short"):
            read_log(cut)


def test_inspect_ai_says_which_samples_failed(tmp_path: Path) -> None:
    needs("inspect_ai")
    with recording(scripted(FAILING)) as (url, record):
        log = inspect_log(tmp_path, url, ITEMS, epochs=4)
    assert record.refused[PRIMES] == 1
    judged(tmp_path, record, log)


def test_equal_answers_that_inspect_ai_recorded_agree(tmp_path: Path) -> None:
    needs("inspect_ai")
    with recording(scripted(ALIKE)) as (url, record):
        log = inspect_log(tmp_path, url, ITEMS, epochs=3)
    assert judged(tmp_path, record, log)["verdict"] == "agreed"


def test_scores_that_inspect_ai_gave_are_compared(tmp_path: Path) -> None:
    needs("inspect_ai")
    logs = []
    for name, script in (("before", ALIKE), ("after", {**ALIKE, PRIMES: ["I will not."]})):
        (tmp_path / name).mkdir()
        with recording(scripted(script)) as (url, _):
            logs.append(inspect_log(tmp_path / name, url, ITEMS, epochs=2))
    _, found = temp0(tmp_path, "compare", *logs)
    assert (found["a"]["score"], found["b"]["score"], found["down"]) == (1.0, 0.5, ["primes"])
    assert (found["scored_by"], found["a"]["same_text"], found["a"]["repeats"]) == ("includes", 1.0, 2)


@pytest.mark.parametrize("chat", [True, False], ids=["chat", "completions"])
def test_lm_evaluation_harness_with_repeats(tmp_path: Path, chat: bool) -> None:
    needs("lm_eval")
    with recording(scripted(VARYING)) as (url, record):
        log = lm_eval_log(tmp_path, url, ITEMS, repeats=4, chat=chat)
    found = judged(tmp_path, record, log)
    assert sum(record.texts[PRIMES].values()) == 4
    assert (found["endpoint"]["model"], found["run"]["greedy"]) == ("scripted", True)


def test_a_temperature_that_lm_evaluation_harness_was_given_is_the_cause(tmp_path: Path) -> None:
    needs("lm_eval")
    with recording(scripted(VARYING)) as (url, record):
        log = lm_eval_log(tmp_path, url, ITEMS, repeats=3, temperature=0.7)
    found = judged(tmp_path, record, log)
    assert (found["causes"][0]["cause"], found["causes"][0]["certainty"]) == ("sampling", "found")


def test_several_evaluations_are_one_side_of_a_comparison(tmp_path: Path) -> None:
    needs("lm_eval")
    logs = []
    with recording(scripted(VARYING)) as (url, _):
        for name in ("1", "2"):
            (tmp_path / name).mkdir()
            logs.append(lm_eval_log(tmp_path / name, url, ITEMS, repeats=1))
    _, found = temp0(tmp_path, "compare", ",".join(map(str, logs)), ",".join(map(str, logs)))
    assert (found["items"], found["a"]["repeats"], found["a"]["same_text"], found["difference"]) == (2, 2, 1.0, 0.0)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_promptfoo_with_repeat(tmp_path: Path, form: str) -> None:
    with recording(scripted(FAILING)) as (url, record):
        log = promptfoo_log(tmp_path, url, ITEMS, repeats=4, form=form)
    assert record.refused[PRIMES] == 1
    judged(tmp_path, record, log)


def test_a_batch_with_its_input_file(tmp_path: Path) -> None:
    with recording(scripted(FAILING)) as (url, record):
        files = batch_files(tmp_path, url, ITEMS, repeats=4)
    judged(tmp_path, record, *files)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """`temp0 serve` in one of its arithmetics."""
    try:
        builtin_weights()
    except ModelError as error:
        pytest.skip(str(error))
    with served_engine("--arithmetic", request.param) as url:
        yield url


@pytest.mark.model
@pytest.mark.parametrize("engine", ["stock", "invariant"], indirect=True)
def test_inspect_ai_against_the_built_in_engine(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> None:
    needs("inspect_ai")
    with recording(forwarded(engine)) as (url, record):
        log = inspect_log(tmp_path, url, ITEMS, epochs=3)
    found = judged(tmp_path, record, log)
    if "invariant" in request.node.name:
        assert found["verdict"] == "agreed"
