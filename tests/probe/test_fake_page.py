"""The page about the simulated endpoint names every setting with its default, and its commands are read as shown."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest

from temp0.errors import EndpointError
from temp0.probe.fake_setting import FAULTS, FakeSettings, fake_settings

PAGE = (Path(__file__).parents[2] / "docs" / "fake.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
ADDRESSES = [
    word for line in PAGE.splitlines() if line.startswith("temp0 ") for word in shlex.split(line) if "=" in word
]


def test_every_setting_is_in_the_table_and_no_other() -> None:
    assert list(ROWS) == list(asdict(FakeSettings()))


@pytest.mark.parametrize("name", [name for name in ROWS if name not in {"company_rate", "fork"}])
def test_a_default_is_the_one_that_is_used(name: str) -> None:
    assert fake_settings(f"fake:{name}={ROWS[name]}") == fake_settings("fake:")


def test_defaults_that_follow_from_other_settings_do_so() -> None:
    assert fake_settings("fake:rate=0.25").company_rate == 0.25
    assert [fake_settings(f"fake:length={length}").fork for length in (24, 30, 12)] == [8, 8, 4]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_shown_is_read_and_says_something_else_than_the_defaults(address: str) -> None:
    assert fake_settings(address) != fake_settings("fake:")


def test_every_fault_is_named() -> None:
    assert {fault for fault in FAULTS if f"`{fault}`" not in PAGE} == set()


def test_what_does_not_exist_is_refused_as_the_page_says() -> None:
    with pytest.raises(EndpointError, match="has no setting 'sped'"):
        fake_settings("fake:sped=1")
