"""What only drawings need: margins of the commonest answer, when attempts ran, and the limits that keep both small."""

from __future__ import annotations

from dataclasses import replace

from temp0.core.analysis import PromptAnalysis
from temp0.core.detail import DRAWN_ATTEMPTS, DRAWN_PROMPTS, DRAWN_TOKENS
from temp0.core.judgement import analysis
from temp0.core.plan import Condition, Message, Plan, Prompt
from temp0.core.run import Address, Alternative, Attempt, Completion, Failure, Run, Token
from temp0.core.text import sha256

ALONE = Condition()


def told(words: int, margin: float = 0.25) -> Completion:
    token = Token(
        bytes=b"ab",
        logprob=-0.5,
        top=(Alternative(bytes=b"ab", logprob=-0.5), Alternative(bytes=b"x", logprob=-0.5 - margin)),
    )
    return Completion(text="ab" * words, finish="stop", tokens=(token,) * words)


def run(outcomes: list[Completion | Failure], prompts: int = 1) -> Run:
    asked = tuple(
        Prompt(id=f"p{number}", messages=(Message(role="user", content="?"),), n=len(outcomes), max_tokens=16)
        for number in range(prompts)
    )
    attempts = [
        Attempt(
            order=place * len(outcomes) + number,
            prompt=prompt.id,
            condition=ALONE.name,
            block=place * len(outcomes) + number,
            role="judged",
            started_s=float(number),
            first_byte_s=None,
            ended_s=number + 0.5,
            in_flight=1,
            predecessor=None,
            outcome=outcome,
        )
        for place, prompt in enumerate(asked)
        for number, outcome in enumerate(outcomes)
    ]
    address = Address(url="http://127.0.0.1:9/v1", api="openai-chat", model="m")
    plan = Plan(prompts=asked, conditions=(ALONE,), seed=0)
    return Run(id="r", created="2026-03-01T09:30:00Z", address=address, plan=plan, attempts=tuple(attempts))


def first(of: Run) -> PromptAnalysis:
    return analysis(of).prompts[0]


def test_the_timeline_has_every_judged_attempt_with_its_text_or_its_failure() -> None:
    refused = Failure(reason="timed out", message="no byte")
    timeline = first(run([told(2), refused, told(3)])).timeline

    assert [(one.started_s, one.ended_s, one.failure) for one in timeline] == [
        (0.0, 0.5, None),
        (1.0, 1.5, "timed out"),
        (2.0, 2.5, None),
    ]
    assert [one.sha256 for one in timeline] == [sha256("abab"), None, sha256("ababab")]
    assert {one.in_flight for one in timeline} == {1}


def test_margins_are_of_the_commonest_answer_and_forks_are_marked() -> None:
    positions = first(run([told(2), told(3), told(3)])).positions

    assert [one.char for one in positions] == [0, 2, 4]
    assert [one.margin for one in positions] == [0.25] * 3
    assert [one.has_forked for one in positions] == [False, False, True]


def test_a_long_answer_keeps_its_first_positions_only() -> None:
    assert len(first(run([told(DRAWN_TOKENS + 50)] * 2)).positions) == DRAWN_TOKENS


def test_runs_too_large_to_draw_keep_neither() -> None:
    many_prompts = analysis(run([told(2)] * 2, prompts=DRAWN_PROMPTS + 1)).prompts
    many_attempts = first(run([told(2)] * (DRAWN_ATTEMPTS + 1)))

    assert not any(prompt.timeline or prompt.positions for prompt in many_prompts)
    assert many_attempts.timeline == ()
    assert len(many_attempts.positions) == 2
    assert len(first(run([told(2)] * DRAWN_ATTEMPTS)).timeline) == DRAWN_ATTEMPTS


def test_the_stored_order_of_attempts_does_not_show() -> None:
    made = run([told(2), told(3), told(3)])

    assert analysis(made) == analysis(replace(made, attempts=made.attempts[::-1]))
