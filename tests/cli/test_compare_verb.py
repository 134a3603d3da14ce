"""`temp0 compare` as a user meets it: two real runs of the simulated endpoint, side by side."""

from pathlib import Path

import pytest
from command import document, in_store, temp0

from temp0.core.pairing import pairing, side
from temp0.store import Store
from temp0.workflow.comparing import paired

ASK = ("-n", "8", "--company", "1,4", "--prompt", "Say hi.", "--prompt", "Say ho.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Three runs: one that varies, then two that never do."""
    kept = in_store(tmp_path_factory.mktemp("compare"))
    for endpoint in ("fake:variants=3,rate=0.5,seed=2", "fake:variants=1,seed=2", "fake:variants=1,seed=2"):
        assert temp0("probe", endpoint, *ASK, *kept).returncode in (0, 1)
    return kept


def test_a_run_that_varies_beside_one_that_does_not(store: tuple[str, ...]) -> None:
    call = temp0("compare", "last~2", "last", *store)
    assert call.returncode == 1
    lines = call.stdout.splitlines()
    assert lines[0].split()[:2] == ["A", "DIVERGED"]
    assert lines[2].split()[:2] == ["B", "AGREED"]
    assert "Side A gave more than one answer to both prompts, side B gave one answer to both prompts." in " ".join(
        call.stdout.split()
    )
    assert "tokens/s A" in call.stdout


def test_the_last_two_runs_are_compared_unless_others_are_named(store: tuple[str, ...]) -> None:
    found = document(temp0("compare", "--json", *store))
    assert (found["schema"], found["exit_code"]) == ("temp0/comparison", 0)
    assert [prompt["part_at"] for prompt in found["prompts"]] == [None, None]
    assert {rate["condition"] for rate in found["rates"]} == {"alone", "company 4"}
    assert found["a"]["run"] != found["b"]["run"]
    assert found["prompts"][0]["a"]["commonest"]["text"] == found["prompts"][0]["b"]["commonest"]["text"]


def test_a_run_that_does_not_exist_is_named(store: tuple[str, ...]) -> None:
    call = temp0("compare", "last~9", "last", *store)
    assert call.returncode == 2
    assert "no run begins with 'last~9'" in call.stderr


def test_the_list_of_runs_never_cuts_an_id(store: tuple[str, ...]) -> None:
    listed = temp0("runs", *store).stdout
    for run in document(temp0("runs", "--json", *store))["runs"]:
        assert run["id"] in listed


def test_an_empty_store_has_nothing_to_compare(tmp_path: Path) -> None:
    assert temp0("compare", *in_store(tmp_path)).returncode == 2


def test_runs_with_commas_between_are_one_side(store: tuple[str, ...]) -> None:
    found = document(temp0("compare", "last~1,last", "last~2", "--json", *store))
    assert found["exit_code"] == 1
    assert [len(found[side]["runs"]) for side in "ab"] == [2, 1]
    assert {prompt["change"]["blocks_a"] for prompt in found["prompts"]} == {20}
    assert all(prompt["change"]["is_beyond_chance"] for prompt in found["prompts"])


def test_a_run_that_is_named_twice_on_one_side_is_refused(store: tuple[str, ...]) -> None:
    call = temp0("compare", "last,last", "last~1", *store)
    assert call.returncode == 2
    assert "named twice" in call.stderr


def test_three_sides_are_a_matrix(store: tuple[str, ...]) -> None:
    call = temp0("compare", "last~2", "last~1", "last", *store)
    assert call.returncode == 1
    assert "2 of 2" in call.stdout
    found = document(temp0("compare", "last~2", "last~1", "last", "--json", *store))
    assert [(pair["a"], pair["b"], pair["same"]) for pair in found["pairs"]][-1] == (1, 2, 2)


def test_a_file_beside_a_run_is_told_from_a_run_that_does_not_exist(store: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"id": "a", "text": "x", "score": 1}\n')
    call = temp0("compare", str(tmp_path / "answers.jsonl"), "last", *store)
    assert call.returncode == 2
    assert "temp0 import makes a run of it" in call.stderr


@pytest.mark.parametrize("filler", ["same", "mixed"])
def test_a_run_read_prompt_by_prompt_is_compared_as_one_in_memory(tmp_path: Path, filler: str) -> None:
    ask = (
        "-n", "6", "--company", "1,3", "--filler", filler, "--cache", "both", "--prompt", "Hi.", "--prompt", "Ho, ho.",
    )  # fmt: skip
    for seed in "12":
        temp0("probe", f"fake:variants=3,rate=0.4,seed={seed}", *ask, *in_store(tmp_path))
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        in_memory = pairing(*(side([store.load(store.resolve(name))]) for name in ("last~1", "last")))
    assert any(rate.ratio for rate in in_memory.rates)
    assert paired("last~1", "last", path) == in_memory
