"""OpenRouter's dialect: no parameter is dropped without a word, and the provider of an answer is kept."""

from dataclasses import replace

from scripted_server import question

from temp0.core.header import tells_machine
from temp0.core.run import Completion, Failure
from temp0.probe.dialect.openrouter import OPENROUTER
from temp0.probe.event_stream import Event


def test_only_providers_that_know_the_temperature_are_asked_and_nothing_narrows_them_further():
    assert OPENROUTER.body(question(max_tokens=7), "a/b") == {
        "model": "a/b",
        "messages": [{"role": "user", "content": "Say hi."}],
        "max_tokens": 7,
        "temperature": 0,
        "top_p": 1,
        "stream": False,
        "provider": {"require_parameters": True},
    }


def test_only_top_p_may_be_left_out():
    assert OPENROUTER.dispensable == ("top_p",)


def test_logprobs_are_asked_for_where_they_are_wanted():
    assert OPENROUTER.body(question(logprobs=True), "a/b")["top_logprobs"] == 5


def test_the_provider_stands_among_the_headers_where_a_replica_is_looked_for():
    payload = {"provider": "DeepInfra", "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
    read = OPENROUTER.completion(payload, (("cf-ray", "1"), ("x-generation-id", "2")))
    assert isinstance(read, Completion)
    assert read.headers == (("cf-ray", "1"), ("provider", "DeepInfra"), ("x-generation-id", "2"))
    assert tells_machine("provider")


def test_the_first_provider_of_a_stream_counts_and_an_empty_one_does_not():
    def chunk(provider: str, text: str, finish: str) -> Event:
        told = f'{{"provider":{provider},"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":{finish}}}]}}'
        return Event(data=told.encode())

    events = [chunk('""', "a", "null"), chunk('"Groq"', "b", "null"), chunk('"Novita"', "c", '"stop"')]
    read = OPENROUTER.streamed(events)
    assert isinstance(read, Completion)
    assert (read.text, read.headers) == ("abc", (("provider", "Groq"),))


def test_an_answer_without_a_provider_has_no_header():
    read = OPENROUTER.completion({"provider": 7, "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
    assert isinstance(read, Completion)
    assert read == replace(read, headers=())


def test_an_answer_that_ended_in_an_error_is_a_failure_whatever_text_came():
    read = OPENROUTER.completion({"choices": [{"message": {"content": "Fo"}, "finish_reason": "error"}]})
    assert isinstance(read, Failure)
    assert read.reason == "error-in-200"
