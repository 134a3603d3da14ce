"""One answer in many shapes: characters, empty texts, cuts in the stream, failures, logprobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pytest
from conclusion import cause, comparison, failures, found, named, probed
from plays.shape import HELLO, LOGPROBS
from stage import Stage

import temp0
from temp0.core.analysis import Analysis, Fork, PromptAnalysis, Verdict
from temp0.core.run import Completion, Run
from temp0.report import document


def completions(run: Run, prompt: str = "p1") -> list[Completion]:
    outcomes = [attempt.outcome for attempt in run.attempts if attempt.prompt == prompt]
    return [outcome for outcome in outcomes if isinstance(outcome, Completion)]


def first_fork(prompt: PromptAnalysis) -> Fork:
    assert prompt.tree is not None
    assert prompt.tree.fork is not None
    return prompt.tree.fork


# Characters


@pytest.mark.parametrize(
    ("written", "exact", "folded"),
    [
        (["42", "42\\n", "42 ", "\\ufeff42"], 4, 1),
        (["caf\\u00e9", "cafe\\u0301"], 2, 1),
        (["\\u212b", "\\u00c5"], 2, 1),
        (["a\\r\\nb", "a\\nb"], 2, 1),
        (["\\ud83c\\udf78", "🍸"], 1, 1),
        (["\\udcb2", "?"], 2, 2),
        (["\\udcb2", "\\udcb2"], 1, 1),
    ],
    ids=["white space", "composed", "angstrom", "line ends", "surrogate pair", "lone surrogate", "twice alone"],
)
def test_texts_are_told_apart_exactly_and_folded_beside(
    stage: Stage, written: Sequence[str], exact: int, folded: int
) -> None:
    played = stage.play("shape.Escaped", texts=written)
    analysis = probed(played.url, prompts="Say it.", n=2 * len(written), company=1)
    prompt = analysis.prompts[0]
    assert (prompt.distinct.text, prompt.distinct.folded) == (exact, folded)
    assert analysis.verdict is (Verdict.DIVERGED if exact > 1 else Verdict.AGREED)


def test_texts_are_hashed_code_point_by_code_point(stage: Stage) -> None:
    played = stage.play("shape.Escaped", texts=["\\ud83c\\udf78", "\\udcb2"])
    analysis = probed(played.url, prompts="Say it.", n=4, company=1)
    hashes = {text.text: text.sha256 for text in analysis.prompts[0].texts}
    assert hashes == {
        "\U0001f378": hashlib.sha256(b"\xf0\x9f\x8d\xb8").hexdigest(),
        "\udcb2": hashlib.sha256(b"\xed\xb2\xb2").hexdigest(),
    }


def test_a_fork_counts_characters_and_bytes(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=["é界🙂x", "é界🙂y"])
    analysis = probed(played.url, prompts="Say it.", n=4, company=1)
    fork = first_fork(analysis.prompts[0])
    assert (fork.char, fork.byte, fork.token, fork.kind) == (3, 9, None, "differs")


def test_what_streaming_loses_is_named_and_does_not_count(stage: Stage) -> None:
    played = stage.play("shape.SpacesLost")
    analysis = probed(played.url, prompts="Say it.", n=6, company=1, stream="both")
    prompt = analysis.prompts[0]
    assert comparison(prompt, "alone", "alone, stream").verdict is Verdict.DIVERGED
    assert comparison(prompt, "alone", "alone, stream").first_difference.text == 3
    assert (prompt.distinct.text, prompt.verdict, analysis.exit_code) == (2, Verdict.AGREED, 0)
    assert named(analysis) == {"observer": "found"}
    assert "alone, stream: always another" in cause(analysis, "observer").evidence
    assert "--stream on or off" in cause(analysis, "observer").remedy


# Length and nothing


@pytest.mark.parametrize(("max_tokens", "upper"), [(1, 0.0582), (16, 0.0582)])
def test_a_short_window_agrees_with_its_bound_and_a_warning(stage: Stage, max_tokens: int, upper: float) -> None:
    played = stage.play("shape.Window")
    analysis = probed(played.url, prompts="Count.", n=50, company=1, max_tokens=max_tokens)
    (alone,) = analysis.prompts[0].conditions
    assert (analysis.verdict, analysis.exit_code, alone.completions) == (Verdict.AGREED, 0, 50)
    assert alone.variant_rate_upper == pytest.approx(upper, abs=1e-4)
    assert named(analysis) == {"short-window": "found"}
    assert cause(analysis, "short-window").prompts == ("p1",)


def test_a_long_window_forks_at_the_133rd_token(stage: Stage) -> None:
    played = stage.play("shape.Window")
    analysis = probed(played.url, prompts="Count.", n=21, company=1, max_tokens=512, logprobs="on")
    prompt = analysis.prompts[0]
    fork = first_fork(prompt)
    assert (prompt.distinct.text, fork.token, len(fork.branches)) == (7, 132, 7)
    assert fork.margin.kind == "near"
    assert fork.margin.value == pytest.approx(0.05)
    assert prompt.first_difference.tokens == 132
    assert not {"short-window", "sampling"} & set(named(analysis))


def test_texts_cut_by_length_that_fork_have_diverged(stage: Stage) -> None:
    played = stage.play("shape.Window")
    analysis = probed(played.url, prompts="Count.", n=14, company=1, max_tokens=150)
    assert (analysis.verdict, analysis.prompts[0].distinct.text) == (Verdict.DIVERGED, 7)
    assert named(analysis) == {"short-window": "found", "unseen-company": "found"}


def test_one_text_that_stopped_by_itself_makes_no_short_window(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=[["One, two", "length"], ["One, two", "length"], ["One.", "stop"]])
    analysis = probed(played.url, prompts="Count.", n=9, company=1)
    assert "short-window" not in named(analysis)


def test_reasoning_that_ate_the_budget_leaves_nothing_to_judge(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=[[None, "length"], ["", "length"]], reasoning="Let me think about it.")
    analysis = probed(played.url, prompts="Count.", n=6, company=1)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 4)
    assert cause(analysis, "no-visible-output").certainty == "found"
    assert "max" in cause(analysis, "no-visible-output").remedy
    assert set(named(analysis)) <= {"no-visible-output", "short-window"}


def test_one_empty_text_of_three_is_a_text_that_differs(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=["One.", "", "One."])
    analysis = probed(played.url, prompts="Count.", n=12, company=1)
    fork = first_fork(analysis.prompts[0])
    assert analysis.verdict is Verdict.DIVERGED
    assert (fork.char, fork.kind) == (0, "ended")
    assert [(branch.text, branch.count) for branch in fork.branches] == [("One.", 8), ("", 4)]
    assert "no-visible-output" not in found(analysis)  # most of it is visible, and nothing ate the budget


def test_another_finish_of_the_same_text_is_a_note_and_no_divergence(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=[["One, two", "length"], ["One, two", "stop"]])
    analysis = probed(played.url, prompts="Count.", n=8, company=1)
    assert (analysis.verdict, analysis.exit_code) == (Verdict.AGREED, 0)
    assert named(analysis) == {"finish": "found"}
    (text,) = analysis.prompts[0].texts
    assert {finish.reason: finish.count for finish in text.finishes} == {"length": 4, "stop": 4}


def test_another_finish_of_another_text_is_no_note(stage: Stage) -> None:
    played = stage.play("shape.Texts", texts=[["One, two", "length"], ["One.", "stop"]])
    analysis = probed(played.url, prompts="Count.", n=8, company=1)
    assert analysis.verdict is Verdict.DIVERGED
    assert "finish" not in named(analysis)


# No whole answer


def test_a_request_that_is_never_answered_is_a_failure_and_no_empty_text(stage: Stage) -> None:
    played = stage.play("shape.Faulty", at=[2], how="hangs")
    analysis = probed(played.url, prompts="Count.", n=6, company=1, timeout_s=0.5)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.attempts, alone.completions, failures(alone)) == (6, 5, {"timeout": 1})
    assert (analysis.verdict, analysis.prompts[0].distinct.text, named(analysis)) == (Verdict.AGREED, 1, {})


@pytest.mark.parametrize(("how", "reason"), [("500", "http-500"), ("error-in-200", "error-in-200")])
def test_a_few_failures_beside_enough_completions_are_measured(stage: Stage, how: str, reason: str) -> None:
    played = stage.play("shape.Faulty", at=[2, 5], how=how)
    analysis = probed(played.url, prompts="Count.", n=12, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, failures(alone)) == (10, {reason: 2})
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})
    assert len(played.requests()) == 12  # nothing is retried behind the user's back


def test_a_limit_on_the_rate_is_waited_out_and_every_refusal_is_counted(stage: Stage) -> None:
    played = stage.play("shape.Faulty", at=[2, 5], how="429")
    analysis = probed(played.url, prompts="Count.", n=12, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (alone.attempts, alone.completions, failures(alone)) == (14, 12, {"http-429": 2})
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})
    assert len(played.requests()) == 14


def test_all_failures_are_not_measured_and_quote_the_first(stage: Stage) -> None:
    played = stage.play("shape.Faulty", at=list(range(4)), how="500")
    analysis = probed(played.url, prompts="Count.", n=4, company=1)
    told = cause(analysis, "not-measured")
    assert (analysis.verdict, analysis.exit_code) == (Verdict.UNDECIDED, 3)
    assert told.certainty == "found"
    assert "the model crashed" in told.evidence + told.remedy
    assert set(named(analysis)) == {"not-measured"}


def test_a_refused_key_ends_the_plan_and_is_never_repeated(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENARIO_KEY", "sk-scenario-0123456789abcdef")
    played = stage.play("shape.Refusing")
    analysis = probed(played.url, prompts="Count.", n=8, company=(1, 4), key_env="SCENARIO_KEY")
    told = cause(analysis, "not-measured")
    assert (analysis.exit_code, len(played.requests())) == (3, 1)
    assert "no such key" in told.evidence + told.remedy
    assert "0123456789abcdef" not in json.dumps(document(analysis))


# Anthropic's blocks


def test_blocks_of_every_kind_are_read_for_their_text_alone(stage: Stage) -> None:
    played = stage.play("shape.Blocks")
    prompts = [f"Shape {number}" for number in range(6)]
    run = temp0.ask(played.url, model="m", api="anthropic", prompts=prompts, n=4, company=1)
    texts = [{answer.text for answer in completions(run, f"p{number}")} for number in range(1, 7)]
    assert texts == [{""}, {"Hi"}, {""}, {"ab"}, {"Hi"}, {""}]
    analysis = temp0.analyze(run)
    verdicts = [prompt.verdict for prompt in analysis.prompts]
    assert verdicts == [
        Verdict.UNDECIDED, Verdict.AGREED, Verdict.UNDECIDED, Verdict.AGREED, Verdict.AGREED, Verdict.UNDECIDED,
    ]  # fmt: skip
    finishes = [[finish.reason for text in prompt.texts for finish in text.finishes] for prompt in analysis.prompts]
    assert (finishes[0], finishes[5]) == (["end_turn"], ["refusal"])
    assert analysis.exit_code == 4
    assert {"p1", "p3"} <= set(cause(analysis, "no-visible-output").prompts)
    assert completions(run, "p3")[0].reasoning == "Hm."


# Streams


def test_a_last_chunk_of_usage_without_choices_ends_one_answer(stage: Stage) -> None:
    played = stage.play("shape.UsageLast")
    run = temp0.ask(played.url, model="m", prompts="Say hello.", n=4, company=1, stream="on")
    answers = completions(run)
    assert [(answer.text, answer.finish) for answer in answers] == [("Hello", "stop")] * 4
    assert {(answer.usage.prompt, answer.usage.completion) for answer in answers} == {(3, 2)}
    assert temp0.analyze(run).verdict is Verdict.AGREED


def test_a_stream_cut_at_any_byte_gives_one_text(stage: Stage) -> None:
    played = stage.play("shape.CutEverywhere")
    run = temp0.ask(played.url, model="m", prompts="Say hello.", n=16, company=1, stream="on")
    assert [answer.text for answer in completions(run)] == [HELLO] * 16
    analysis = temp0.analyze(run)
    assert (analysis.verdict, analysis.prompts[0].distinct.text, named(analysis)) == (Verdict.AGREED, 1, {})


def test_a_stream_that_ends_in_mid_character_is_no_answer(stage: Stage) -> None:
    played = stage.play("shape.CutEverywhere", breaks=True)
    analysis = probed(played.url, prompts="Say hello.", n=3, company=1, stream="on")
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, sum(failures(alone).values())) == (0, 3)
    assert analysis.exit_code == 3
    assert "not-measured" in found(analysis)


def test_a_chunk_of_two_tokens_is_two_tokens_and_its_wrong_alternatives_no_margin(stage: Stage) -> None:
    played = stage.play("shape.TwoTokensAChunk")
    run = temp0.ask(played.url, model="m", prompts="Go on.", n=8, company=1, stream="on", logprobs="on")
    assert {len(answer.tokens or ()) for answer in completions(run)} == {2}
    analysis = temp0.analyze(run)
    fork = first_fork(analysis.prompts[0])
    assert (fork.token, fork.margin.kind, fork.margin.value) == (1, "unknown", None)
    assert fork.margin.reason
    assert "sampling" not in found(analysis)


def test_logprobs_that_are_all_zero_tell_no_margin(stage: Stage) -> None:
    played = stage.play("shape.TwoTokensAChunk", zero=True)
    analysis = probed(played.url, prompts="Go on.", n=8, company=1, stream="on", logprobs="on")
    margin = first_fork(analysis.prompts[0]).margin
    assert (margin.kind, margin.value) == ("unknown", None)
    assert "sampling" not in named(analysis)


# Logprobs


def with_logprobs(stage: Stage, shape: str) -> tuple[Run, Analysis]:
    played = stage.play("shape.LogprobShapes")
    run = temp0.ask(played.url, model="m", prompts=shape, n=8, company=1, logprobs="on")
    return run, temp0.analyze(run)


@pytest.mark.parametrize("shape", LOGPROBS)
def test_logprobs_of_any_shape_leave_texts_and_valid_json(stage: Stage, shape: str) -> None:
    _, analysis = with_logprobs(stage, shape)
    fork = first_fork(analysis.prompts[0])
    assert (analysis.verdict, fork.char, [branch.count for branch in fork.branches]) == (Verdict.DIVERGED, 4, [4, 4])
    assert "sampling" not in found(analysis)
    json.dumps(document(analysis), allow_nan=False)


def test_the_margin_of_a_listed_token_is_its_lead(stage: Stage) -> None:
    margin = first_fork(with_logprobs(stage, "listed")[1].prompts[0]).margin
    assert margin.kind == "near"
    assert margin.value == pytest.approx(0.1)


@pytest.mark.parametrize("shape", ["outside", "minus infinity", "-9999", "-100", "nan", "null", "zero", "positive"])
def test_logprobs_that_say_nothing_tell_no_margin_and_why(stage: Stage, shape: str) -> None:
    margin = first_fork(with_logprobs(stage, shape)[1].prompts[0]).margin
    assert (margin.kind, margin.value) == ("unknown", None)
    assert margin.reason


@pytest.mark.parametrize("shape", ["nan", "null"])
def test_what_is_no_logprob_is_not_recorded_as_one(stage: Stage, shape: str) -> None:
    run, _ = with_logprobs(stage, shape)
    assert {answer.tokens[1].logprob for answer in completions(run) if answer.tokens} == {None}


def test_logprobs_that_were_asked_for_and_are_null_leave_the_text(stage: Stage) -> None:
    played = stage.play("shape.NoLogprobs")
    analysis = probed(played.url, prompts="Go on.", n=4, company=1, logprobs="on")
    distinct = analysis.prompts[0].distinct
    assert (analysis.verdict, distinct.text, distinct.tokens, distinct.logprobs) == (Verdict.AGREED, 1, None, None)
