"""Spoiled files of other tools: each is read whole or refused in words, whatever was done to it."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest

from temp0.errors import LogFileError
from temp0.workflow.importing import read_log, read_logs

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
SAMPLES = next(LOGS.glob("samples_*.jsonl"))
FILES = [LOGS / "inspect_ai.json", LOGS / "promptfoo.json", SAMPLES]


def spoiled(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def answers(path: Path):
    return [(one.prompt, one.messages, one.outcome, one.score) for one in read_log(path).answers]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_file_cut_at_every_percent_is_refused_in_words_that_say_so(tmp_path, file):
    data = file.read_bytes().rstrip()
    lines = {len(b"\n".join(data.split(b"\n")[: place + 1])) for place in range(data.count(b"\n") + 1)}
    is_lines = file.suffix == ".jsonl"
    for percent in range(100):
        end = len(data) * percent // 100
        if is_lines and end in lines:
            continue
        with pytest.raises(LogFileError, match=r"cut short|is empty"):
            read_log(spoiled(tmp_path, file.name, data[:end]))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_file_in_another_encoding_or_with_other_line_ends_is_the_same_file(tmp_path, file):
    text = file.read_text(encoding="utf-8")
    for data in (
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        text.encode("utf-16-be").join([b"\xfe\xff", b""]),
        text.replace("\n", "\r\n").encode(),
        b"\n\n" + text.encode() + b"\n \n",
    ):
        assert answers(spoiled(tmp_path, file.name, data)) == answers(file)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_compressed_file_says_what_it_is(tmp_path, file):
    for pack, name in ((gzip.compress, "gzip"), (bz2.compress, "bzip2")):
        with pytest.raises(LogFileError, match=rf"compressed \({name}\): unpack it first"):
            read_log(spoiled(tmp_path, file.name, pack(file.read_bytes())))


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_with_nothing_in_it_is_empty(tmp_path, data):
    with pytest.raises(LogFileError, match="is empty"):
        read_log(spoiled(tmp_path, "a.jsonl", data))


@pytest.mark.parametrize(
    "data",
    [
        b'{"text":' + b"[" * 100_000,
        b'{"prompt": "p", "x": ' + b"[" * 9_000 + b"]" * 9_000 + b', "text": "a"}',
        b'{"prompt": "p", "text": "\xff\xfe"}',
        b'{"prompt": "p", "text": "a"} {"prompt": "p", "text": "b"}',
        b'{"prompt": "p", "text": "a"}\n\x00\x00\x00\x00',
        b'\xff\xfe{\x00"',
        b'{"version": 2, "eval": null}',
        b'{"version": 2, "eval": {"model": "m"}, "samples": [{"id": 1, "input": "?", "output": {"choices": [{}]}}]}',
        b'{"evalId": "e", "results": 5}',
        b'{"evalId": "e", "results": {"version": 3, "results": []}}',
        b'{"custom_id": "a", "response": 5}',
        b'{"doc_id": 0, "doc": {}, "resps": "a"}',
        b'{"doc_id": 0, "doc": {}, "resps": []}',
        b'{"id": [], "text": "a"}',
        b"PK\x03\x04",
    ],
    ids=lambda data: repr(data[:30]),
)
def test_what_cannot_be_right_is_refused_and_never_crashes(tmp_path, data):
    with pytest.raises(LogFileError):
        read_logs([spoiled(tmp_path, "a.jsonl", data)])


def test_a_line_of_megabytes_is_read(tmp_path):
    line = {"doc_id": 0, "doc": {"q": "x" * 5_000_000}, "resps": [["y" * 5_000_000]]}
    (answer,) = read_log(spoiled(tmp_path, "s.jsonl", json.dumps(line).encode())).answers
    assert len(answer.outcome.text) == 5_000_000


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_any_field_may_be_null_or_gone_without_a_crash(tmp_path, file):
    """Every value of a file, one after the other: what can be done without is, the rest is refused in words."""
    first = file.read_text().splitlines()[0] if file.suffix == ".jsonl" else file.read_text()
    refused = 0
    places = list(_places(json.loads(first)))
    for place in places:
        for is_gone in (True, False):
            log = json.loads(first)
            inner = log
            for step in place[:-1]:
                inner = inner[step]
            if is_gone:
                del inner[place[-1]]
            else:
                inner[place[-1]] = None
            try:
                read_logs([spoiled(tmp_path, file.name, json.dumps(log).encode())])
            except LogFileError:
                refused += 1
    assert 0 < refused < len(places)


def _places(value, before=()):
    """The way to every value inside; of a list, to the first few."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*before, name)
        yield from _places(one, (*before, name))
