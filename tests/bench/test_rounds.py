import sys
from pathlib import Path

import pytest

from peers import client, rounds
from peers.client import Load
from peers.contender import Contender
from peers.environment import NotMeasuredError, python_with
from peers.rounds import Effort, rotated
from peers.serving import serving

SERVER = Path(__file__).with_name("counting_server.py")


def counting(wait_s: float = 0.0, fewer: int = 0) -> list[str]:
    return [sys.executable, str(SERVER), str(wait_s), str(fewer)]


@pytest.fixture
def effort(tmp_path: Path) -> Effort:
    return Effort(rounds=2, max_tokens=4, prompts=("one two", "three"), first_token_prompts=(32,), logs=tmp_path)


def test_every_contender_has_a_figure_of_every_round(effort: Effort) -> None:
    contenders = [Contender(name=name, command=lambda _: counting()) for name in ("one", "two")]
    level = rounds.measured(1, contenders, effort)
    assert {name: len(rates) for name, rates in level.rates.items()} == {"one": 2, "two": 2}
    assert {name: len(seconds) for name, seconds in level.first_token_s[32].items()} == {"one": 2, "two": 2}
    assert level.prompt_tokens == {"one": (9, 8), "two": (9, 8)}
    assert level.about == {"one": "a server that counts", "two": "a server that counts"}
    assert level.missing == {}


def test_a_server_that_does_not_start_is_named_with_its_last_words_and_stops_nobody(effort: Effort) -> None:
    dying = [sys.executable, "-c", "raise SystemExit('no such model')"]
    contenders = [
        Contender(name="dead", command=lambda _: dying),
        Contender(name="alive", command=lambda _: counting()),
    ]
    level = rounds.measured(2, contenders, effort)
    assert list(level.rates) == ["alive"]
    assert level.missing.keys() == {"dead"}
    assert "no such model" in level.missing["dead"]


def test_a_contender_that_cannot_be_installed_is_named(effort: Effort) -> None:
    def command(slots: int) -> list[str]:
        raise NotMeasuredError("pip found no wheel")

    level = rounds.measured(2, [Contender(name="absent", command=command)], effort)
    assert level.missing == {"absent": "pip found no wheel"}


def test_a_server_that_ends_its_answers_early_has_no_figure(effort: Effort) -> None:
    level = rounds.measured(2, [Contender(name="short", command=lambda _: counting(fewer=1))], effort)
    assert level.rates == {}
    assert "where 8 were asked" in level.missing["short"]


def test_a_failed_install_gives_the_error_and_not_the_warnings(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'WARNING: /some/folder is odd' >&2\necho 'ERROR: no wheel' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(NotMeasuredError, match=r"failed: ERROR: no wheel$"):
        python_with("peer==1", folder=tmp_path)


def test_the_slots_that_gave_more_are_taken(effort: Effort) -> None:
    contender = Contender(
        name="slow with 8",
        command=lambda slots: counting(wait_s=0.3 if slots == 8 else 0.0),
        slots=lambda in_flight: (8, 16),
    )
    assert rounds.measured(4, [contender], effort).slots == {"slow with 8": 16}


def test_waves_are_whole_and_long_enough_for_every_prompt(effort: Effort) -> None:
    assert [effort.load(in_flight).requests for in_flight in (1, 2, 8)] == [2, 2, 8]


def test_everyone_is_first_once() -> None:
    assert [rotated("abc", number)[0] for number in range(4)] == ["a", "b", "c", "a"]
    assert sorted(rotated("abc", 2)) == ["a", "b", "c"]


def test_a_prompt_has_the_length_that_was_asked_for(tmp_path: Path) -> None:
    with serving(counting(), tmp_path / "log") as server:
        assert client.prompt_tokens(server.url, client.prompt_of(32, server.url)) == 32


def test_a_dead_server_is_a_reason_and_no_crash(tmp_path: Path) -> None:
    with serving(counting(), tmp_path / "log") as server:
        url = server.url
    with pytest.raises(NotMeasuredError, match="did not answer"):
        client.tokens_per_second(url, Load(prompts=("a",), in_flight=1, requests=1, max_tokens=1))
    with pytest.raises(NotMeasuredError, match="did not answer"):
        client.first_token_seconds(url, "a")
