"""The baseline as a file: the same bytes for the same value, and a clear word for any other file."""

from __future__ import annotations

import json

import pytest

from temp0.core.baseline import Baseline, KnownEndpoint, KnownPrompt, KnownText
from temp0.errors import StoreError
from temp0.store.baseline_file import read_baseline, write_baseline

BASELINE = Baseline(
    endpoints=(
        KnownEndpoint(
            name="prod",
            api="openai-chat",
            model="m",
            conditions=("alone", "company 8"),
            prompts=(
                KnownPrompt(
                    id="E",
                    asked="0" * 64,
                    texts=(
                        KnownText(sha256="1" * 64, folded="2" * 64, begins="lone \udcb2 and 東京", count=29),
                        KnownText(sha256="3" * 64, folded="4" * 64, begins="", count=1, text="whole\n"),
                    ),
                ),
            ),
        ),
    )
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "baseline.json"


def test_what_was_written_is_read_back(path):
    write_baseline(path, BASELINE)
    assert read_baseline(path) == BASELINE


def test_the_same_baseline_is_the_same_bytes_and_one_that_a_person_can_read_line_by_line(path):
    write_baseline(path, BASELINE)
    first = path.read_bytes()
    write_baseline(path, BASELINE)
    assert path.read_bytes() == first
    assert first.isascii()
    assert len(first.splitlines()) > 20
    assert b"null" not in first


def test_no_file_is_no_baseline(path):
    assert read_baseline(path) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"\xff", "cannot be read"),
        (b"[]", "no baseline of temp0"),
        (b'{"schema": "temp0/analysis", "version": 1}', "no baseline of temp0"),
        (b'{"schema": "temp0/baseline", "version": 0, "endpoints": []}', "version 0"),
        (b'{"schema": "temp0/baseline", "version": 2, "endpoints": []}', "version 2.*delete it and make it anew"),
        (b'{"schema": "temp0/baseline", "version": 1}', "lacks the field 'endpoints'"),
        (b'{"schema": "temp0/baseline", "version": 1, "endpoints": [{"name": "x"}]}', "required field `api`"),
        (b'{"schema": "temp0/baseline", "version": 1, "endpoints": 7}', "Expected `array`, got `int`"),
        (b'{\n<<<<<<< HEAD\n"schema": 1\n=======\n"schema": 2\n>>>>>>> main\n}', "marks of a merge conflict"),
    ],
)
def test_any_other_file_is_refused_with_what_to_do(path, content, told):
    path.write_bytes(content)
    with pytest.raises(StoreError, match=told):
        read_baseline(path)


def test_an_unknown_field_is_refused_rather_than_lost(path):
    write_baseline(path, BASELINE)
    told = json.loads(path.read_text())
    told["endpoints"][0]["prompts"][0]["texts"][0]["weight"] = 1
    path.write_text(json.dumps(told))
    with pytest.raises(StoreError, match="weight"):
        read_baseline(path)


def changed(path, change):
    """The baseline's file, changed as a hand or a merge may have done."""
    write_baseline(path, BASELINE)
    told = json.loads(path.read_text())
    change(told["endpoints"])
    path.write_text(json.dumps(told))
    return path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda endpoints: endpoints.append(endpoints[0]), "endpoint 'prod' stands there twice, as after a merge"),
        (lambda endpoints: endpoints[0]["prompts"].append(endpoints[0]["prompts"][0]), "prompt 'E' stands there twice"),
        (lambda endpoints: endpoints[0]["prompts"][0].update(texts=[]), "prompt 'E' has no text"),
        (lambda endpoints: endpoints[0]["prompts"][0].update(asked=5), "Expected `str`, got `int`"),
        (lambda endpoints: endpoints[0].update(conditions="alone"), "Expected `array`, got `str`"),
        (lambda endpoints: endpoints[0]["prompts"][0]["texts"][0].pop("count"), "required field `count`"),
    ],
)
def test_a_part_that_cannot_be_right_is_named(path, change, told):
    with pytest.raises(StoreError, match=told):
        read_baseline(changed(path, change))


def test_a_baseline_without_the_names_that_endpoints_give_themselves_is_read(path):
    """Such as one that was written before they were kept."""
    write_baseline(path, BASELINE)
    assert b"fingerprints" not in path.read_bytes()
    assert read_baseline(path) == BASELINE


def test_a_folder_that_cannot_be_written_keeps_what_was_there(tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        write_baseline(tmp_path / "no" / "baseline.json", BASELINE)
    assert list(tmp_path.iterdir()) == []
