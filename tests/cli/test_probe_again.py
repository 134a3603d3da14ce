"""A stored run's plan asked anew, of the same endpoint or of another."""

from dataclasses import replace
from pathlib import Path

import pytest
from command import document, in_store, temp0

from temp0.core.run import Address, Run
from temp0.store import Store

PLAN = ("--prompt", "Say hi.", "--prompt", "Say ho.", "-n", "3", "--company", "1,2", "--max-tokens", "7", "--seed", "5")


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, ...]:
    kept = in_store(tmp_path)
    temp0("probe", "fake:variants=3,rate=0.5,seed=2", *PLAN, *kept)
    return kept


def stored(kept: tuple[str, ...]) -> list[Run]:
    with Store.open(Path(kept[-1])) as store:
        return [store.load(one.id) for one in reversed(store.runs())]


def test_the_same_plan_is_asked_of_the_same_endpoint_as_a_run_of_its_own(store: tuple[str, ...]) -> None:
    temp0("probe", "--again", "last", *store)
    first, second = stored(store)
    assert first.id != second.id
    assert (second.plan, second.address) == (first.plan, first.address)
    assert len(second.attempts) >= first.plan.attempts == 12


def test_another_url_is_asked_the_plan_of_the_run(store: tuple[str, ...]) -> None:
    found = document(temp0("probe", "fake:variants=1", "--again", "last", "--json", *store))
    first, second = stored(store)
    assert second.plan == first.plan
    assert (second.address.url, found["verdict"]) == ("fake:variants=1", "agreed")


def test_a_dry_run_prices_the_plan_and_sends_nothing(store: tuple[str, ...]) -> None:
    call = temp0("probe", "--again", "last", "--dry-run", *store)
    assert call.returncode == 0
    assert "12 judged requests" in call.stdout
    assert len(stored(store)) == 1


def test_headers_whose_values_are_not_kept_must_be_given_again(store: tuple[str, ...]) -> None:
    (first,) = stored(store)
    address = Address(url="http://127.0.0.1:9/v1", api="openai-chat", model="m", headers="x-team")
    with Store.open(Path(store[-1])) as kept:
        kept.begin(replace(first, id="0123456789ab", address=address))
    call = temp0("probe", "--again", "last", "--dry-run", *store)
    assert (call.returncode, "give again: x-team" in call.stderr) == (2, True)
    assert temp0("probe", "--again", "last", "--dry-run", "--header", "X-Team: red", *store).returncode == 0
    assert temp0("probe", "fake:", "--again", "last", "--dry-run", *store).returncode == 0


def test_an_imported_run_cannot_be_asked_anew(store: tuple[str, ...], tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"prompt": "x", "text": "one"}\n' * 2)
    temp0("import", str(answers), *store)
    call = temp0("probe", "--again", "last", *store)
    assert call.returncode == 2
    assert "was imported, and does not tell how it was asked" in call.stderr
