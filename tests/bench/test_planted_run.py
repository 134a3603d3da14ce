"""What the analysis is timed on is a run as real ones are, and its effects are really there."""

from collections import Counter
from dataclasses import replace

import pytest

from planted_run import EFFECTS, effect, events, planted_run
from temp0.core.analysis import Verdict
from temp0.core.judgement import analysis
from temp0.core.run import Attempt, Completion, Run, Sample


def grown(prompts: int, completions: int, seed: int = 0) -> Run:
    run = planted_run(prompts=prompts, completions=completions)
    happened = list(events(run, seed=seed))
    return replace(
        run,
        attempts=tuple(one for one in happened if isinstance(one, Attempt)),
        samples=tuple(one for one in happened if isinstance(one, Sample)),
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return grown(10, 2_000)


def answers(run: Run) -> list[Completion]:
    return [attempt.outcome for attempt in run.attempts if isinstance(attempt.outcome, Completion)]


def test_equal_arguments_give_equal_runs_and_another_seed_another(run: Run) -> None:
    assert grown(10, 2_000) == run
    assert grown(10, 2_000, seed=1) != run


def test_every_block_of_the_plan_is_asked_in_its_order(run: Run) -> None:
    judged = [attempt for attempt in run.attempts if attempt.role == "judged"]
    assert len(judged) == 2_000
    assert list(dict.fromkeys(attempt.block for attempt in judged)) == [block.index for block in run.plan.blocks()]
    sizes = Counter(attempt.block for attempt in judged)
    assert all(sizes[block.index] == block.size for block in run.plan.blocks())
    assert [attempt.order for attempt in run.attempts] == list(range(len(run.attempts)))


def test_only_company_has_fillers(run: Run) -> None:
    fillers = [attempt for attempt in run.attempts if attempt.role == "filler"]
    assert {attempt.condition for attempt in fillers} == {"company 8"}


def test_answers_are_as_long_as_promised_and_none_has_the_headers_of_another(run: Run) -> None:
    assert {len(answer.text) for answer in answers(run)} == {500, 80}
    assert len({answer.headers for answer in answers(run)}) == len(answers(run))


def test_a_size_that_cannot_be_shared_out_is_refused() -> None:
    with pytest.raises(ValueError, match="no multiple of 20 for each"):
        planted_run(prompts=10, completions=2_010)


def test_every_effect_is_seen_and_nothing_where_there_is_none(run: Run) -> None:
    judged = analysis(run)
    verdicts = {prompt.id: prompt.verdict for prompt in judged.prompts}
    assert {effect(name) for name, verdict in verdicts.items() if verdict is Verdict.DIVERGED} >= {
        "company",
        "backend",
        "change",
        "predecessor",
        "cache",
        "chance",
    }
    assert {verdict for name, verdict in verdicts.items() if effect(name) == "none"} == {Verdict.AGREED}
    assert {cause.cause for cause in judged.causes} >= {
        "response-cache",
        "backend-mix",
        "cache-state",
        "order",
        "company",
        "observer",
        "unseen-company",
    }
    assert len(verdicts) == len(EFFECTS)
