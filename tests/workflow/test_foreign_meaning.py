"""Files of other tools say what they mean: what failed is no answer, what was drawn is not greedy, each counts once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from temp0.core.run import Completion, Failure, ToolCall
from temp0.errors import LogFileError
from temp0.workflow.importing import imported, read_log, read_logs

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def run_of(*paths: Path):
    return imported(paths, created=NOW)[0]


def outcomes(path: Path):
    return [answer.outcome for answer in read_log(path).answers]


def sample(number: int = 1, text: str | list[object] = "4", epoch: int = 1, **more: object):
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    output = {"model": "m", "choices": [{"message": message, "stop_reason": more.pop("stop", "stop")}]}
    return {"id": number, "epoch": epoch, "input": "2+2?", "output": output, **more}


def inspect_log(path: Path, *samples: object, **more: object) -> Path:
    log = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": samples, **more}
    return written(path, log)


def model_call(temperature: float | None, **more: object):
    return [{"event": "model", "config": {"temperature": temperature}, **more}]


class TestInspect:
    def test_an_attempt_that_was_made_again_is_a_failure_of_its_own(self, tmp_path):
        path = inspect_log(tmp_path / "i.json", sample(error_retries=[{"message": "429"}, {"message": "cut"}]))
        assert outcomes(path) == [
            Failure(reason="error", message="429"),
            Failure(reason="error", message="cut"),
            Completion(text="4", finish="stop", model="m"),
        ]

    def test_a_sample_that_ended_in_an_error_or_at_a_limit_is_no_answer(self, tmp_path):
        stopped = {**sample(3), "output": {"choices": []}, "limit": {"type": "token", "limit": 5}}
        path = inspect_log(tmp_path / "i.json", sample(2, error={"message": "scorer broke"}), stopped)
        assert [one.message for one in outcomes(path)] == ["scorer broke", "the sample was stopped by its token limit"]

    def test_tools_and_reasoning_stand_beside_the_text(self, tmp_path):
        parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "See."}]
        calls = [{"id": "c9", "function": "add", "arguments": {"b": 2, "a": 1}, "type": "function"}]
        (answer,) = outcomes(inspect_log(tmp_path / "i.json", sample(text=parts, message={"tool_calls": calls})))
        assert (answer.text, answer.reasoning) == ("See.", "Hm.")
        assert answer.tool_calls == (ToolCall(name="add", arguments='{"a": 1, "b": 2}'),)

    def test_a_call_answered_from_the_cache_of_inspect_is_marked_as_a_replay(self, tmp_path):
        path = inspect_log(
            tmp_path / "i.json", sample(events=model_call(0, cache="read")), sample(epoch=2, events=model_call(0))
        )
        assert [bool(one.headers) for one in outcomes(path)] == [True, False]

    @pytest.mark.parametrize(
        ("more", "greedy"),
        [
            ({"plan": {"config": {"temperature": 0.7}}}, False),
            ({"plan": {"config": {"temperature": 0}}}, True),
            ({"samples": [sample(events=model_call(None))]}, False),
            ({"samples": [sample(events=model_call(0.0))]}, True),
            ({}, True),  # not told: that is among the parameters that stay unknown
        ],
    )
    def test_a_log_that_tells_its_temperature_is_greedy_only_at_0(self, tmp_path, more, greedy):
        path = inspect_log(tmp_path / "i.json", *more.pop("samples", [sample()]), **more)
        assert run_of(path).plan.greedy is greedy

    def test_samples_that_stand_in_two_logs_of_one_evaluation_count_once(self, tmp_path):
        first = inspect_log(tmp_path / "1.json", sample(1, uuid="u1"))
        retried = inspect_log(tmp_path / "2.json", sample(1, uuid="u1"), sample(2, uuid="u2"))
        logs = read_logs([first, retried])
        assert len(logs.answers) == 2
        assert "count once: 1 left out" in " ".join(logs.notes)

    def test_several_answers_to_one_request_are_said(self, tmp_path):
        one = sample()
        one["output"]["choices"] *= 2
        assert "hold several answers" in read_log(inspect_log(tmp_path / "i.json", one)).notes[0]

    @pytest.mark.parametrize(
        ("value", "score"),
        [("C", 1.0), ("P", 0.5), ("0.25", 0.25), ("yes", 1.0), (True, 1.0), ("well", None), (float("nan"), None)],
    )
    def test_scores_are_numbers_as_inspect_reads_them(self, tmp_path, value, score):
        path = inspect_log(tmp_path / "i.json", sample(scores={"s": {"value": value, "answer": "4"}}))
        assert [answer.score for answer in read_log(path).answers] == [score]

    def test_numbers_of_samples_are_in_their_own_order(self, tmp_path):
        path = inspect_log(tmp_path / "i.json", *(sample(number) for number in (10, 2, 1)))
        assert [one.prompt for one in read_log(path).answers] == ["1", "2", "10"]


def document(number: int, *resps: object, name: str = "none", **more: object):
    told = {"doc_id": number, "doc": {"q": "?"}, "resps": [list(resps)], "filtered_resps": [list(resps)]}
    arguments = {"gen_args_0": {"arg_0": f"q{number}", "arg_1": {"temperature": 0.0}}}
    return {**told, "arguments": arguments, "filter": name, "metrics": ["exact_match"], "exact_match": 1.0, **more}


DATE = "2026-12-01T02-27-08.789413"


class TestLmEval:
    def test_the_one_score_of_a_document_is_not_made_that_of_each_response(self, tmp_path):
        answers = read_log(written(tmp_path / "s.jsonl", document(0, "a", "b", "b"))).answers
        assert [one.score for one in answers] == [1.0, None, None]

    def test_two_requests_of_one_document_are_two_questions(self, tmp_path):
        line = document(0, "a") | {"resps": [["a"], ["b"]]}
        line["arguments"]["gen_args_1"] = {"arg_0": "then?", "arg_1": {}}
        answers = read_log(written(tmp_path / "s.jsonl", line)).answers
        assert [(one.prompt, one.messages[0].content) for one in answers] == [("s:0", "q0"), ("s:0.1", "then?")]

    def test_a_response_that_is_null_is_a_failure(self, tmp_path):
        assert isinstance(outcomes(written(tmp_path / "s.jsonl", document(0, "a", None)))[1], Failure)

    def test_what_a_filter_read_out_of_each_response_is_kept(self, tmp_path):
        line = document(0, "It is 4.", "4!") | {"filtered_resps": [["4", "4"]]}
        assert [one.parsed for one in read_log(written(tmp_path / "s.jsonl", line)).answers] == ["4", "4"]

    def test_a_score_says_by_which_filter_it_is(self, tmp_path):
        lines = [document(0, "a", name=name) for name in ("strict", "flexible")]
        log = read_log(written(tmp_path / "s.jsonl", *lines))
        assert (log.scored_by, len(log.answers)) == ("exact_match,strict", 1)
        assert "not by flexible" in log.notes[0]

    def test_documents_that_the_results_beside_the_file_count_must_be_there(self, tmp_path):
        results = {"model_name": "org/model", "n-samples": {"t": {"original": 3, "effective": 2}}}
        (tmp_path / f"results_{DATE}.json").write_text(json.dumps(results))
        path = tmp_path / f"samples_t_{DATE}.jsonl"
        assert read_log(written(path, document(0, "a"), document(1, "a"))).model == "org/model"
        with pytest.raises(LogFileError, match="1 of the 2 documents"):
            read_log(written(path, document(0, "a")))

    def test_files_of_two_evaluations_in_one_are_refused(self, tmp_path):
        with pytest.raises(LogFileError, match="a document more than once"):
            read_log(written(tmp_path / "s.jsonl", document(0, "a"), document(0, "b")))

    def test_likelihoods_of_given_answers_are_scored_and_are_no_text(self, tmp_path):
        line = document(0) | {"resps": [[[-2.5, False]], [[-1.5, True]]], "acc": 1.0, "metrics": ["acc"]}
        path = written(tmp_path / "s.jsonl", line)
        log = read_log(path)
        assert [(one.parsed, one.score) for one in log.answers] == [("1", 1.0)]
        with pytest.raises(LogFileError, match="no text: temp0 compare reads its scores"):
            run_of(path)

    def test_a_temperature_that_was_set_is_seen(self, tmp_path):
        line = document(0, "a", "b")
        line["arguments"]["gen_args_0"]["arg_1"]["temperature"] = 0.8
        assert not run_of(written(tmp_path / "s.jsonl", line)).plan.greedy


def answered(custom_id: str, text: str = "a", tokens: int = 5, **body: object):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    told = {"id": f"c-{custom_id}", "object": "chat.completion", "model": "m", "choices": [choice]}
    told |= {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}, **body}
    return {"id": f"r-{custom_id}", "custom_id": custom_id, "response": {"status_code": 200, "body": told}}


def asked(custom_id: str, text: str, temperature: float = 0):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "temperature": temperature}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


class TestBatch:
    def test_the_input_file_tells_what_was_asked_and_how(self, tmp_path):
        inputs = written(tmp_path / "in.jsonl", asked("request-1", "One?"), asked("request-2", "Two?", 0.5))
        outputs = written(tmp_path / "out.jsonl", answered("request-1"), answered("request-2", "b", 6))
        run = run_of(outputs, inputs)
        assert [prompt.text for prompt in run.plan.prompts] == ["One?", "Two?"]
        assert not run.plan.greedy

    def test_without_it_requests_of_other_lengths_are_no_repeats(self, tmp_path):
        outputs = written(tmp_path / "out.jsonl", answered("request-1"), answered("request-2", "b", tokens=6))
        with pytest.raises(LogFileError, match="of 5 and of 6 tokens, so they are no repeats"):
            read_log(outputs)

    def test_a_request_that_the_input_file_has_not_is_named(self, tmp_path):
        inputs, outputs = written(tmp_path / "in.jsonl", asked("a", "?")), written(tmp_path / "o.jsonl", answered("b"))
        with pytest.raises(LogFileError, match="the input file has not: b"):
            run_of(outputs, inputs)

    def test_an_input_file_alone_has_no_answers(self, tmp_path):
        with pytest.raises(LogFileError, match="no answers: give its output file"):
            run_of(written(tmp_path / "in.jsonl", asked("a", "?")))

    def test_embeddings_are_no_answers(self, tmp_path):
        with pytest.raises(LogFileError, match="no answer in words but a list"):
            read_log(written(tmp_path / "o.jsonl", answered("a", object="list")))

    @pytest.mark.parametrize("body", [None, "gone", {}, {"choices": None}, {"error": {"message": "no"}}])
    def test_a_body_that_is_no_answer_is_a_failure(self, tmp_path, body):
        line = {"custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}
        assert isinstance(outcomes(written(tmp_path / "o.jsonl", line))[0], Failure)


def result(raw: str = "?", output: object = "a", number: int = 1, **response: object):
    provider = response.pop("provider", {"id": "openai:m", "label": ""})
    told = {"output": output, **response}
    return {"id": f"u{number}", "promptIdx": 0, "prompt": {"raw": raw}, "provider": provider, "response": told}


def promptfoo_log(path: Path, *results: object, config: object = None) -> Path:
    return written(path, {"evalId": "e", "results": {"version": 3, "results": results}, "config": config or {}})


class TestPromptfoo:
    def test_tools_are_compared_without_the_ids_that_are_new_in_each_answer(self, tmp_path):
        calls = [[{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}] for n in (1, 2)]
        both = {"content": "See.", "tool_calls": calls[0]}
        first, second, third = outcomes(promptfoo_log(tmp_path / "p.json", *(result(output=o) for o in (*calls, both))))
        assert first == second
        assert (first.text, third.text, third.tool_calls) == ("", "See.", first.tool_calls)

    def test_an_error_is_no_answer_and_a_failed_assertion_is_one(self, tmp_path):
        failed = result() | {"error": "Expected output to contain b", "score": 0}
        refused = result(output=None, error="API error: 429")
        first, second = outcomes(promptfoo_log(tmp_path / "p.json", failed, refused))
        assert first.text == "a"
        assert second == Failure(reason="error", message="API error: 429")

    def test_a_refusal_is_one(self, tmp_path):
        (answer,) = outcomes(promptfoo_log(tmp_path / "p.json", result(output="I will not.", isRefusal=True)))
        assert (answer.text, answer.refusal) == ("", "I will not.")

    def test_a_model_that_stands_there_twice_under_labels_is_two_providers(self, tmp_path):
        labelled = [result(provider={"id": "openai:m", "label": label}) for label in ("cold", "warm")]
        with pytest.raises(LogFileError, match="2 providers"):
            read_log(promptfoo_log(tmp_path / "p.json", *labelled))

    def test_its_configuration_tells_the_temperature(self, tmp_path):
        config = {"providers": [{"id": "openai:m", "config": {"temperature": 0.9}}]}
        assert not run_of(promptfoo_log(tmp_path / "p.json", result(), config=config)).plan.greedy

    def test_lines_of_jsonl_output_are_read_as_well(self, tmp_path):
        path = written(tmp_path / "p.jsonl", result(number=1), result(output="b", number=2))
        assert [one.text for one in outcomes(path)] == ["a", "b"]

    def test_a_conversation_is_read_as_its_turns(self, tmp_path):
        turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."}]
        log = read_log(promptfoo_log(tmp_path / "p.json", result(json.dumps(turns))))
        assert [turn.role for turn in log.answers[0].messages] == ["system", "user"]


class TestJsonl:
    def test_answers_of_two_models_in_one_file_are_refused(self, tmp_path):
        lines = [{"prompt": "?", "text": "a", "model": model} for model in ("m1", "m2")]
        with pytest.raises(LogFileError, match="2 models"):
            read_log(written(tmp_path / "a.jsonl", *lines))

    def test_a_name_of_ones_own_is_never_given_to_another_prompt(self, tmp_path):
        path = written(
            tmp_path / "a.jsonl", {"prompt": "One?", "text": "a"}, {"id": "p1", "prompt": "Two?", "text": "b"}
        )
        assert {prompt.id: prompt.text for prompt in run_of(path).plan.prompts} == {"p2": "One?", "p1": "Two?"}

    def test_prompts_without_names_meet_across_files_by_their_words(self, tmp_path):
        a = written(tmp_path / "a.jsonl", {"prompt": "One?", "text": "a"}, {"prompt": "Two?", "text": "b"})
        b = written(tmp_path / "b.jsonl", {"prompt": "Two?", "text": "c"}, {"prompt": "One?", "text": "d"})
        assert [(prompt.text, prompt.n) for prompt in run_of(a, b).plan.prompts] == [("One?", 2), ("Two?", 2)]

    def test_a_line_that_has_only_the_name_belongs_to_the_one_that_has_the_words(self, tmp_path):
        path = written(tmp_path / "a.jsonl", {"id": "q", "text": "a"}, {"id": "q", "prompt": "Why?", "text": "b"})
        assert [(prompt.id, prompt.text, prompt.n) for prompt in run_of(path).plan.prompts] == [("q", "Why?", 2)]

    @pytest.mark.parametrize(("score", "read"), [(True, 1.0), (False, 0.0), (0.5, 0.5)])
    def test_a_score_may_be_right_or_wrong(self, tmp_path, score, read):
        path = written(tmp_path / "a.jsonl", {"prompt": "?", "text": "a", "score": score})
        assert read_log(path).answers[0].score == read

    def test_pictures_tell_questions_apart(self, tmp_path):
        lines = [
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}], "text": "a"}
            for url in ("data:1", "data:2")
        ]
        assert len(run_of(written(tmp_path / "a.jsonl", *lines)).plan.prompts) == 2

    def test_a_lone_surrogate_and_a_score_that_is_no_number_are_read(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"prompt": "?", "text": "\\udcb2", "score": NaN}\n')
        (answer,) = read_log(path).answers
        assert (answer.outcome.text, answer.score) == ("\udcb2", None)

    def test_a_file_named_twice_is_refused(self, tmp_path):
        path = written(tmp_path / "a.jsonl", {"prompt": "?", "text": "a"})
        with pytest.raises(LogFileError, match="named twice"):
            run_of(path, tmp_path / ".." / tmp_path.name / "a.jsonl")

    def test_the_words_of_a_prompt_may_be_the_names_of_another_tools_fields(self, tmp_path):
        path = written(
            tmp_path / "a.jsonl", {"id": "eval", "prompt": '"custom_id" "response" "evalId"', "text": "version"}
        )
        assert read_log(path).tool == "JSONL"
