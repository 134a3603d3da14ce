"""What is sent, what a server refuses of it, and what is sent then: nothing is dropped unseen."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from scripted_server import Play, ScriptedServer, http, question, then_close

from temp0.core.run import Address, Completion, Failure, Question
from temp0.probe.connection import Connection
from temp0.probe.dialect import DIALECTS
from temp0.probe.endpoint import Again, Answer
from temp0.probe.gauge import Gauge
from temp0.probe.http import HttpEndpoint
from temp0.probe.key import Key

T = TypeVar("T")
HELLO = http('{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}')
SECRET = "sk-secret-AbC-0123456789"


def refusal(message: str, *, status: str = "400 Bad Request", **more: object) -> bytes:
    return http(json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}}), status)


def with_endpoint(
    *answers: bytes | Play,
    act: Callable[[HttpEndpoint], Awaitable[T]],
    extra: Mapping[str, object] | None = None,
    key: str | None = None,
    keeps_raw: bool = False,
) -> tuple[T, list[dict[str, Any]]]:
    """What came of it, and the bodies that the server got."""

    async def go() -> tuple[T, list[dict[str, Any]]]:
        async with ScriptedServer(*answers) as server:
            connection = Connection(server.url, key=Key(value=key) if key else None, timeout_s=20)
            endpoint = HttpEndpoint(
                address=Address(url=server.url, api="openai-chat", model="smol"),
                url=server.url,
                dialect=DIALECTS["openai-chat"],
                connection=connection,
                gauge=Gauge(connection, server.url),
                extra=extra or {},
                keeps_raw=keeps_raw,
                now=lambda: 0.0,
            )
            try:
                return await act(endpoint), [json.loads(sent.body) for sent in server.received]
            finally:
                await endpoint.close()

    return asyncio.run(go())


def times(count: int, asked: Question | None = None) -> Callable[[HttpEndpoint], Awaitable[list[Answer]]]:
    async def act(endpoint: HttpEndpoint) -> list[Answer]:
        return [await endpoint.complete(asked or question()) for _ in range(count)]

    return act


def failure(answer: Answer) -> Failure:
    assert isinstance(answer.outcome, Failure), answer
    return answer.outcome


@pytest.mark.parametrize(
    ("told", "more"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", {}),
        ("this model does not support max_tokens", {}),
        ("Unsupported parameter", {"param": "max_tokens"}),
    ],
)
def test_a_field_with_another_name_is_sent_under_it_from_then_on(told: str, more: dict[str, object]) -> None:
    answers, bodies = with_endpoint(refusal(told, **more), HELLO, act=times(3))
    assert failure(answers[0]).message.endswith("(max_tokens: sent as max_completion_tokens from now on)")
    assert answers[0].again == Again(after_s=0.0, is_rewritten=True)
    assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in bodies] == [
        (True, None),
        (False, 4),
        (False, 4),
    ]
    assert all(isinstance(answer.outcome, Completion) for answer in answers[1:])


def test_a_value_that_will_not_do_is_no_field_that_is_not_known() -> None:
    answers, bodies = with_endpoint(refusal("max_tokens must be at most 3"), act=times(2))
    assert [answer.again for answer in answers] == [None, None]
    assert all("max_tokens" in body for body in bodies)


def test_a_server_that_knows_neither_name_is_asked_by_the_first_and_not_for_ever() -> None:
    both = [refusal(f"Unknown parameter: '{name}'") for name in ("max_tokens", "max_completion_tokens", "max_tokens")]
    answers, bodies = with_endpoint(*both, act=times(3))
    assert [answer.again is None for answer in answers] == [False, False, True]
    assert ["max_tokens" in body for body in bodies] == [True, False, True]


def test_fields_that_can_be_done_without_are_left_out_and_all_of_them_at_once() -> None:
    answers, bodies = with_endpoint(
        refusal("Extra inputs are not permitted: seed, top_p", status="422 Unprocessable"), HELLO, act=times(2)
    )
    assert answers[0].again == Again(after_s=0.0, is_rewritten=True)
    assert {*bodies[0]} - {*bodies[1]} == {"seed", "top_p"}
    assert "seed: not sent again" in failure(answers[0]).message


def test_a_body_that_is_repeated_in_a_refusal_refuses_none_of_its_fields() -> None:
    echo = {
        "detail": [
            {
                "type": "missing",
                "msg": "Field required, null not allowed",
                "input": {"temperature": 0, "seed": 0, "top_p": 1},
            }
        ]
    }
    answers, bodies = with_endpoint(http(json.dumps(echo), "422 No"), act=times(2))
    assert [(answer.again, answer.stop) for answer in answers] == [(None, "")] * 2
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize(
    "told",
    [
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        "`temperature` is deprecated for this model.",
        "temperature must be strictly greater than 0",
    ],
)
def test_a_refused_temperature_is_never_left_out_but_ends_the_asking_with_what_to_do(told: str) -> None:
    (answer, _), bodies = with_endpoint(refusal(told, param="temperature"), act=times(2))
    assert told[:40] in failure(answer).message
    assert answer.stop.startswith("temperature is refused")
    assert "--not-greedy" in answer.stop
    assert "greedy=False" in answer.stop
    assert [body["temperature"] for body in bodies] == [0, 0]


def test_a_field_beside_the_temperature_that_can_be_done_without_goes_first() -> None:
    told = refusal("`temperature` and `top_p` cannot both be specified for this model.")
    answers, bodies = with_endpoint(told, HELLO, act=times(2))
    assert not answers[0].stop
    assert ("top_p" in bodies[1], bodies[1]["temperature"]) == (False, 0)


def test_a_question_that_is_not_greedy_has_no_temperature() -> None:
    _, bodies = with_endpoint(HELLO, act=times(1, replace(question(), greedy=False)))
    assert "temperature" not in bodies[0]


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (http("", "429 Slow", headers=("Retry-After: 7",)), Again(after_s=7.0)),
        (http("", "503 Busy", headers=("Retry-After: Thu, 01 Jan 1970 00:00:30 GMT",)), Again(after_s=30.0)),
        (http("", "529 Overloaded", headers=("retry-after-ms: 1500",)), Again(after_s=1.5)),
        (http("", "408 Request Timeout"), Again()),
        (http("", "425 Too Early"), Again()),
        (http('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'), Again()),
        (http('{"error":{"type":"rate_limit_error","message":"no"}}'), Again()),
        (http('{"error":{"message":"the model crashed"}}'), None),
        (http('{"error":{"message":"you exceeded your current quota, see billing"}}', "429 No"), None),
        (http("", "500 Internal Server Error"), None),
        (http("", "401 Unauthorized"), None),
        (then_close(b""), None),
        (HELLO, None),
    ],
)
def test_what_may_pass_says_so_and_when(answer: bytes | Play, again: Again | None) -> None:
    (found,), _ = with_endpoint(answer, act=times(1))
    assert found.again == again


def test_an_overload_that_a_stream_tells_may_pass_too() -> None:
    body = 'data: {"error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    (found,), _ = with_endpoint(
        http(body, headers=("Content-Type: text/event-stream",)), act=times(1, question(stream=True))
    )
    assert (failure(found).reason, found.again) == ("error-in-200", Again())


def test_what_the_user_adds_goes_into_the_body_last_and_an_object_into_an_object() -> None:
    extra = {"top_p": 0.5, "stream_options": {"chunk": 1}, "new": [1]}
    answers, bodies = with_endpoint(HELLO, act=times(1, question(stream=True)), extra=extra)
    assert (bodies[0]["top_p"], bodies[0]["new"]) == (0.5, [1])
    assert bodies[0]["stream_options"] == {"include_usage": True, "chunk": 1}
    assert answers[0].sent is not None
    assert json.loads(answers[0].sent) == bodies[0]


def test_what_was_sent_is_recorded_byte_by_byte_and_without_the_key() -> None:
    (answer,), bodies = with_endpoint(HELLO, act=times(1, question(f"say {SECRET}")), key=SECRET)
    assert bodies[0]["messages"][0]["content"] == f"say {SECRET}"
    assert answer.sent is not None
    assert SECRET.encode() not in answer.sent
    assert json.loads(answer.sent)["messages"][0]["content"] == "say [key]"


@pytest.mark.parametrize("status", ["200 OK", "500 Internal Server Error"])
def test_a_raw_body_is_kept_where_asked_for_also_of_a_failure_and_without_the_key(status: str) -> None:
    told = http(f'{{"error":"no {SECRET}"}}', status)
    (kept,), _ = with_endpoint(told, act=times(1), key=SECRET, keeps_raw=True)
    assert kept.received == b'{"error":"no [key]"}'
    (left,), _ = with_endpoint(told, act=times(1))
    assert left.received is None


def test_the_raw_body_of_a_stream_is_all_of_it_and_of_a_cut_one_what_came() -> None:
    body = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    stream = ("Content-Type: text/event-stream",)
    asked = times(1, question(stream=True))
    (whole,), _ = with_endpoint(http(body, headers=stream), act=asked, keeps_raw=True)
    assert whole.received == body
    (cut,), _ = with_endpoint(then_close(http(body[:40], headers=stream, length=500)), act=asked, keeps_raw=True)
    assert (failure(cut).reason, cut.received) == ("cut", body[:40])


def test_a_raw_stream_in_which_a_key_came_in_pieces_is_not_kept() -> None:
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in (SECRET[:9], SECRET[9:])]
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, last])
    (answer,), _ = with_endpoint(
        http(body, headers=("Content-Type: text/event-stream",)),
        act=times(1, question(stream=True)),
        key=SECRET,
        keeps_raw=True,
    )
    assert isinstance(answer.outcome, Completion)
    assert (answer.outcome.text, answer.received) == ("[key]", None)


@pytest.mark.parametrize(
    "deltas",
    [
        [{"refusal": SECRET[:9]}, {"refusal": SECRET[9:]}],
        [
            {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": part}}]}
            for part in (SECRET[:9], SECRET[9:])
        ],
    ],
)
def test_a_key_that_came_in_pieces_is_kept_out_of_refusals_and_tool_calls(deltas: list[object]) -> None:
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, {"choices": [{"finish_reason": "stop"}]}])
    stream = http(body, headers=("Content-Type: text/event-stream",))
    (answer,), _ = with_endpoint(stream, act=times(1, question(stream=True)), key=SECRET, keeps_raw=True)
    assert isinstance(answer.outcome, Completion)
    assert "[key]" in repr(answer.outcome)
    assert (SECRET in repr(answer.outcome), answer.received) == (False, None)
