"""`temp0 import` as a user meets it: files of other tools become a run that every other verb can read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command import document, in_store, temp0

from temp0.store import Store
from temp0.workflow.importing import imported as read_as_run

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
SAMPLES = next(LOGS.glob("samples_*.jsonl"))


def written(path: Path, texts, **more: object) -> str:
    lines = [{"prompt": "Why?", "text": text, **more} for text in texts]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def imported(folder: Path, *files: object) -> dict:
    return document(temp0("import", *map(str, files), *in_store(folder), "--json"))


def test_answers_that_differ_diverge_whoever_asked_for_them(tmp_path):
    found = imported(tmp_path, written(tmp_path / "a.jsonl", ["Because."] * 5 + ["Just so."]))
    (prompt,) = found["prompts"]
    assert (found["verdict"], found["exit_code"]) == ("diverged", 1)
    assert [text["count"] for text in prompt["texts"]] == [5, 1]
    assert prompt["conditions"][0]["name"] == "as recorded"
    assert prompt["conditions"][0]["company"]["asked"] is None


def test_equal_answers_that_may_be_replays_stay_undecided_and_say_why(tmp_path):
    path = written(tmp_path / "a.jsonl", ["Because."] * 6)
    found = imported(tmp_path, path)
    assert (found["verdict"], found["exit_code"]) == ("undecided", 4)
    assert found["run"]["untold"] == ["company", "order", "parameters", "replays"]
    told = " ".join(temp0("show", *in_store(tmp_path)).stdout.split())
    assert "do not tell what else was in flight" in told
    assert "so equal answers stay undecided" in told


def test_equal_answers_with_ids_of_their_own_agree_within_their_bound(tmp_path):
    found = imported(tmp_path, LOGS / "inspect_ai.json")
    assert (found["verdict"], found["run"]["untold"]) == ("agreed", ["company", "order", "parameters"])
    assert found["prompts"][0]["conditions"][0]["variant_rate_upper"] == pytest.approx(1 - 0.05**0.25)


def test_causes_that_the_files_cannot_show_are_named_as_untested(tmp_path):
    found = imported(tmp_path, written(tmp_path / "a.jsonl", ["a", "b"] * 5))
    untested = {one["cause"] for one in found["untested"]}
    assert {"company", "order", "backend-mix", "cache-state", "unseen-company", "run-to-run"} <= untested
    assert {cause["cause"] for cause in found["causes"]} <= {"sampling", "short-window", "finish"}


def test_several_files_of_one_tool_are_one_run_and_the_same_files_the_same_run(tmp_path):
    files = [written(tmp_path / f"{name}.jsonl", ["x"] * 3) for name in "ab"]
    first, again = imported(tmp_path, *files), imported(tmp_path, *files)
    assert first == again
    assert first["run"]["requests"] == 6
    assert len(document(temp0("runs", *in_store(tmp_path), "--json"))["runs"]) == 1


def test_every_other_verb_reads_an_imported_run(tmp_path):
    a = imported(tmp_path, written(tmp_path / "a.jsonl", ["x"] * 3))["run"]["id"]
    b = imported(tmp_path, written(tmp_path / "b.jsonl", ["y"] * 3))["run"]["id"]
    compared = temp0("compare", a, b, *in_store(tmp_path))
    assert compared.returncode == 1
    for kind in ("html", "md", "junit", "json"):
        assert temp0("report", a, "--format", kind, "-o", "-", *in_store(tmp_path)).returncode == 0


def test_a_run_that_was_imported_cannot_be_asked_again(tmp_path):
    run = imported(tmp_path, written(tmp_path / "a.jsonl", ["x", "y"]))["run"]["id"]
    for arguments in (("probe", "--resume", run), ("explain", run)):
        call = temp0(*arguments, *in_store(tmp_path))
        assert call.returncode == 2, call.stderr
        assert "was imported: nobody can be asked there" in call.stderr


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([SAMPLES, LOGS / "promptfoo.json"], "of several tools"),
        ([LOGS / "none.json"], "cannot read"),
        ([LOGS / "README.md"], "of no kind that temp0 knows"),
    ],
)
def test_files_that_cannot_be_one_run_are_refused(tmp_path, files, told):
    call = temp0("import", *map(str, files), *in_store(tmp_path))
    assert call.returncode == 2
    assert told in call.stderr


def test_other_wordings_under_one_id_are_no_repeats(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "q", "prompt": "Why?", "text": "a"}\n{"id": "q", "prompt": "Why not?", "text": "b"}\n')
    call = temp0("import", str(path), *in_store(tmp_path))
    assert call.returncode == 2
    assert "several wordings" in call.stderr


def test_an_import_that_was_interrupted_is_finished_by_the_next(tmp_path):
    path = Path(written(tmp_path / "a.jsonl", ["x", "y", "x"]))
    run, _ = read_as_run([path], created=datetime.now(UTC))
    with Store.open(tmp_path / "runs.db") as store:
        store.begin(run)
    kept = ["--store", str(tmp_path / "runs.db")]
    assert document(temp0("import", str(path), *kept, "--json"))["run"]["requests"] == 3
    assert document(temp0("import", str(path), *kept, "--json"))["run"]["requests"] == 3
    assert len(document(temp0("runs", *kept, "--json"))["runs"]) == 1


def test_a_file_that_is_refused_leaves_no_run(tmp_path):
    good, cut = written(tmp_path / "a.jsonl", ["x", "y"]), tmp_path / "b.jsonl"
    cut.write_text('{"prompt": "Why?", "text": "z"}\n{"prompt": "Why?", "te')
    call = temp0("import", good, str(cut), *in_store(tmp_path))
    assert (call.returncode, "line 2" in call.stderr, "cut short" in call.stderr) == (2, True, True)
    assert document(temp0("runs", *in_store(tmp_path), "--json"))["runs"] == []


def test_a_temperature_above_0_is_found_as_the_cause(tmp_path):
    path = written(tmp_path / "a.jsonl", ["a", "b"] * 4, temperature=0.7)
    found = imported(tmp_path, path)
    assert (found["causes"][0]["cause"], found["causes"][0]["certainty"]) == ("sampling", "found")


def test_an_imported_run_and_one_of_our_own_are_compared_by_words(tmp_path):
    kept = in_store(tmp_path)
    asked = temp0("probe", "fake:variants=1,seed=2", "-n", "4", "--company", "1", "--prompt", "Why?", *kept, "--json")
    text = document(asked)["prompts"][0]["texts"][0]["text"]
    imported(tmp_path, written(tmp_path / "a.jsonl", [text] * 4))
    call = temp0("compare", *kept)
    assert call.returncode == 4  # equal answers of a file without ids stay undecided
    assert "prompts meet by their words alone" in " ".join(call.stdout.split())


@pytest.mark.parametrize("name", ["inspect_ai.json", "promptfoo.json", SAMPLES.name])
def test_what_is_imported_twice_in_other_places_is_one_run(tmp_path, name):
    copy = tmp_path / name
    copy.write_bytes((LOGS / name).read_bytes())
    assert imported(tmp_path, LOGS / name)["run"]["id"] == imported(tmp_path, copy)["run"]["id"]
