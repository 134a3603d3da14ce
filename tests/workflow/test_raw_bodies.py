"""What crossed the wire, kept with a run: bodies, fields and headers of the user's own, and how a run goes on."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import temp0
from temp0.core.plan import Plan
from temp0.core.run import Attempt, Completion, Failure, Run
from temp0.errors import UsageError
from temp0.report.command import measured_again
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.extra import extra_fields, is_greedy
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Sitting, Where, probe
from temp0.workflow.raw import write_raw

HELLO = b'{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}'


class Serving:
    """Answers each question with the next status and body, the last one again and again."""

    def __init__(self, *answers: tuple[int, bytes]) -> None:
        self._answers = list(answers)
        self.heads: list[str] = []
        self.bodies: list[dict[str, Any]] = []

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1/chat/completions"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((line for line in head.split("\r\n") if line.lower().startswith("content-length")), ": 0")
        body = await reader.readexactly(int(length.partition(":")[2]))
        if head.startswith("POST"):
            self.heads.append(head)
            self.bodies.append(json.loads(body))
        status, answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        writer.write(b"HTTP/1.1 %d X\r\nX-Request-Id: r1\r\nConnection: close\r\n" % status)
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
        writer.close()


def plan(n: int = 2) -> Plan:
    return planning.plan(planning.text_prompts(["Say hi."], Wish(n=n)), planning.conditions(company=(1,)))


def sat(server: Serving, path: Path, *, asked: Plan | None = None, resume: Run | None = None, **where: Any) -> Sitting:
    async def go() -> Sitting:
        async with server as url:
            at = Where(url=resume.address.url if resume else url, model="m", **where)
            with Store.open(path) as store:
                return await probe(asked or plan(), at, store=store, resume=resume, patience_s=5.0)

    return asyncio.run(go())


def documents(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.iterdir())]


def test_both_bodies_of_every_attempt_come_back_out_of_the_store_also_of_a_failure(tmp_path: Path) -> None:
    path, server = tmp_path / "runs.db", Serving((500, b"\xff broken"), (200, HELLO))
    sitting = sat(server, path, keep_raw=True)
    with Store.open(path) as store:
        assert store.load(sitting.run.id) == sitting.run
    assert write_raw("last", tmp_path / "raw", store=path) == 2
    broken, whole = documents(tmp_path / "raw")
    assert (broken["failure"], broken["received_base64"]) == ("http-500", "/yBicm9rZW4=")
    assert (whole["received"], whole["headers"]) == (HELLO.decode(), [["x-request-id", "r1"]])
    assert [json.loads(one["sent"]) for one in (broken, whole)] == server.bodies


def test_what_was_sent_is_kept_also_where_raw_answers_are_not(tmp_path: Path) -> None:
    sat(Serving((200, HELLO)), tmp_path / "runs.db")
    write_raw("last", tmp_path / "raw", store=tmp_path / "runs.db")
    assert [(one["received"], one["sent"] is None) for one in documents(tmp_path / "raw")] == [(None, False)] * 2


def test_raw_answers_without_a_store_are_refused() -> None:
    with pytest.raises(UsageError, match="kept in a store"):
        temp0.ask("fake:", n=1, keep_raw=True)


def test_a_run_without_bodies_says_so(tmp_path: Path) -> None:
    temp0.ask("fake:", prompts="x", n=1, company=1, store=tmp_path / "runs.db")
    with pytest.raises(UsageError, match="holds no bodies"):
        write_raw("last", tmp_path / "raw", store=tmp_path / "runs.db")


def test_a_renamed_field_costs_one_attempt_of_the_same_block(tmp_path: Path) -> None:
    refusal = b'{"error":{"message":"Unsupported parameter: \'max_tokens\'"}}'
    server = Serving((400, refusal), (200, HELLO))
    attempts: Sequence[Attempt] = sat(server, tmp_path / "runs.db").run.attempts
    assert [type(one.outcome) for one in attempts] == [Failure, Completion, Completion]
    assert attempts[0].block == attempts[1].block
    assert ["max_tokens" in body for body in server.bodies] == [True, False, False]


def test_a_refused_temperature_ends_the_sitting_and_not_greedy_goes_on(tmp_path: Path) -> None:
    refusal = b'{"error":{"message":"Unsupported value: \'temperature\' does not support 0"}}'
    sitting = sat(Serving((400, refusal)), tmp_path / "runs.db")
    assert len(sitting.run.attempts) == 1
    assert sitting.stopped is not None
    assert "'temperature' does not support 0" in sitting.stopped.message
    assert "--not-greedy" in sitting.stopped.message
    server = Serving((200, HELLO))
    went_on = sat(server, tmp_path / "more.db", asked=replace(plan(), greedy=False))
    assert (went_on.stopped, went_on.run.plan.greedy) == (None, False)
    assert not any("temperature" in body for body in server.bodies)


def test_own_fields_and_the_names_of_own_headers_are_kept_with_the_run_and_values_of_headers_are_not(
    tmp_path: Path,
) -> None:
    path, server = tmp_path / "runs.db", Serving((200, HELLO))
    run = sat(server, path, extra={"top_k": 1}, headers=(("X-Team", "reddish"),)).run
    assert (run.address.extra, run.address.headers) == ('{"top_k":1}', "x-team")
    assert all(body["top_k"] == 1 for body in server.bodies)
    assert all("X-Team: reddish" in head for head in server.heads)
    assert b"reddish" not in path.read_bytes()
    with Store.open(path) as store:
        assert store.load(run.id) == run
    command = measured_again("look: temp0 probe URL --ask cache", run.address)[1] or ""
    assert "--extra-json '{\"top_k\":1}' --header 'x-team: ...'" in command


def test_a_run_with_headers_goes_on_only_where_they_are_given_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    run = sat(Serving((500, b"no"), (200, HELLO)), path, headers=(("X-Team", "reddish"),)).run
    with pytest.raises(UsageError, match="give again: x-team"):
        sat(Serving((200, HELLO)), path, resume=run)


def test_extra_fields_are_a_json_object_without_secrets_and_without_what_the_plan_varies() -> None:
    assert extra_fields(None) == {}
    assert extra_fields('{"max_tokens": 3, "options": {"eos_token": 2}}') == {
        "max_tokens": 3,
        "options": {"eos_token": 2},
    }
    for told in ("[1]", "{", '{"a": NaN', '{"options": {"api_key": "x"}}', '{"stream": true}'):
        with pytest.raises(UsageError):
            extra_fields(told)


@pytest.mark.parametrize(
    ("fields", "greedy"),
    [
        ({}, True),
        ({"temperature": 0}, True),
        ({"temperature": 0.0}, True),
        ({"temperature": 0.7}, False),
        ({"temperature": None}, False),
        ({"options": {"temperature": 1}}, False),
        ({"top_k": 3}, True),
    ],
)
def test_an_extra_temperature_other_than_zero_is_not_greedy_wherever_it_stands(
    fields: dict[str, object], greedy: bool
) -> None:
    assert is_greedy(fields) is greedy


def test_every_field_of_a_raw_document_is_documented(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")
    table = page.split("\n## An attempt as it crossed the wire\n")[1].split("\n## ")[0]
    documented = {row.split("`")[1].removesuffix("[][]") for row in table.splitlines() if row.startswith("| `")}
    sat(Serving((500, b"\xff"), (200, HELLO)), tmp_path / "runs.db", keep_raw=True)
    write_raw("last", tmp_path / "raw", store=tmp_path / "runs.db")
    assert {name for one in documents(tmp_path / "raw") for name in one} == documented
