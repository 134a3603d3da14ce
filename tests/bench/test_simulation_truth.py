"""Are the simulated endpoints what their names say?"""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, islice, pairwise
from math import inf, sqrt
from pathlib import Path
from random import Random

import pytest

from simulation.catalogue import SHAPES
from simulation.chance_shapes import ODDS
from simulation.conditions import ALONE, CACHE, COMPANY, LOGPROBS
from simulation.crowd import Crowd, bursts, nobody, rising, tide
from simulation.delay import DELAYS, HOSTED, LONGEST_S, QUICK
from simulation.envelope import ORDINARY, Envelope
from simulation.scene import Scene, Setting, Shape, plan, played
from simulation.truth import Crowded, Independent, Steady, Truth, shares, zipf
from simulation.writing import Writing
from temp0.core.analysis import Verdict
from temp0.core.judgement import analysis
from temp0.core.plan import Condition
from temp0.core.run import Attempt, Completion, Run


def shape(name: str) -> Shape:
    (found,) = [one for one in SHAPES if f"{one.family}: {one.name}" == name]
    return found


def judged(run: Run) -> list[tuple[Attempt, Completion]]:
    attempts = sorted(run.attempts, key=lambda attempt: attempt.order)
    return [
        (attempt, attempt.outcome)
        for attempt in attempts
        if attempt.role == "judged" and isinstance(attempt.outcome, Completion)
    ]


def texts(run: Run, prompt: str = "p1", condition: str = "alone") -> list[str]:
    return [
        answer.text for attempt, answer in judged(run) if (attempt.prompt, attempt.condition) == (prompt, condition)
    ]


def run_of(
    truth: Callable[[Setting], Truth], conditions: tuple[Condition, ...] = ALONE, *, n: int = 30, **scene: object
) -> Run:
    setting = Setting(plan=plan(conditions, n=n, prompts=1, seed=5), seed="5")
    return played(setting, replace(Scene(truth=truth(setting), right=frozenset()), **scene))


def three_standard_errors(share: float, n: int) -> float:
    return 3 * sqrt(share * (1 - share) / n)


@pytest.mark.parametrize("one", SHAPES, ids=lambda one: f"{one.family}: {one.name}")
def test_every_shape_makes_runs_that_the_analysis_takes(one: Shape) -> None:
    run, scene = one.play(5, seed=1)
    found = analysis(run)
    assert len(found.prompts) == one.prompts[1 % len(one.prompts)]
    assert found.verdict in set(Verdict)
    assert one.needs is None or scene.right


def test_what_makes_the_runs_knows_nothing_of_their_analysis() -> None:
    told = "import sys, simulation.catalogue; print(*sorted(name for name in sys.modules if name.startswith('temp0.')))"
    bench = Path(__file__).parent.parent.parent / "bench"
    seen = subprocess.run([sys.executable, "-c", told], cwd=bench, capture_output=True, text=True, check=True).stdout
    assert seen.split() == ["temp0.core", "temp0.core.plan", "temp0.core.run", "temp0.errors"]


def test_shapes_have_names_of_their_own_and_only_planted_ones_must_be_named() -> None:
    assert len({(one.family, one.name) for one in SHAPES}) == len(SHAPES)
    free = {"none", "iid", "strangers", "ambiguous"}
    assert all(one.needs is None for one in SHAPES if one.family in free or one.name.startswith("nearly"))


@pytest.mark.parametrize("scene", [{"delay": HOSTED}, {"envelope": ORDINARY[3]}, {"slots": 1}, {"has_metrics": True}])
def test_independent_texts_do_not_hang_on_what_surrounds_them(scene: dict[str, object]) -> None:
    def truth(setting: Setting) -> Truth:
        return Independent(random=setting.random("truth"), shares=shares(0.4, 5))

    assert texts(run_of(truth, **scene)) == texts(run_of(truth))
    assert len(set(texts(run_of(truth)))) > 3


def test_independent_texts_are_as_frequent_in_company_as_alone() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for seed in range(20):
        setting = Setting(plan=plan(COMPANY, n=40, prompts=1, seed=seed), seed=str(seed))
        truth = Independent(random=setting.random("truth"), shares=shares(0.1, 5))
        run = played(setting, Scene(truth=truth, right=frozenset(), delay=QUICK))
        usual = Writing(seed=str(seed), random=Random()).text("p1", 0, 160)
        counts.update((attempt.condition, answer.text == usual) for attempt, answer in judged(run))
    for condition in ("alone", "company 8"):
        others, n = counts[condition, False], counts[condition, False] + counts[condition, True]
        assert n == 800
        assert abs(others / n - 0.1) < three_standard_errors(0.1, n)


def test_texts_are_independent_of_the_one_before() -> None:
    run = run_of(lambda setting: Independent(random=setting.random("truth"), shares=[0.5, 0.5]), n=2000)
    equal = [first == second for first, second in pairwise(texts(run))]
    assert abs(sum(equal) / len(equal) - 0.5) < three_standard_errors(0.5, len(equal))


def test_all_distinct_means_all_distinct() -> None:
    setting = Setting(plan=plan(COMPANY, n=100, prompts=1, seed=2), seed="2")
    seen = [answer.text for _, answer in judged(played(setting, ODDS["all distinct"](setting)))]
    assert len(set(seen)) == len(seen) == 200


def test_shares_are_those_of_zipfs_law_and_sum_to_one() -> None:
    assert zipf(3) == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert shares(0.3, 2) == pytest.approx([0.7, 0.2, 0.1])


def test_delays_have_a_heavy_tail_that_ends() -> None:
    random = Random(1)
    for delay in DELAYS:
        drawn = sorted(delay.draw(random) for _ in range(4000))
        assert drawn[2000] == pytest.approx(delay.median_s, rel=0.1)
        assert drawn[-1] > 4 * delay.median_s
        assert drawn[-1] <= LONGEST_S


def crowd_over(crowd: Crowd, seconds: int) -> list[float]:
    return [crowd.at(float(second)) for second in range(seconds)]


def test_crowds_come_as_their_names_say() -> None:
    assert set(crowd_over(nobody(), 100)) == {0}
    grown = crowd_over(rising(Random(1), over_s=100, size=10), 200)
    assert sum(grown[:30]) / 30 < 3 < 7 < sum(grown[100:]) / 100
    burst = crowd_over(bursts(Random(1), quiet_s=20, busy_s=10, size=12), 1000)
    assert set(burst) == {0, 12}
    assert 5 < sum(before != after for before, after in pairwise(burst)) < 150
    day = crowd_over(tide(Random(1), period_s=100, size=10), 100)
    assert max(day) > 7
    assert min(day) < 1


def test_a_crowd_is_constant_between_its_pieces() -> None:
    crowd = Crowd(iter([(1.0, 2.0), (3.0, 5.0), (inf, 0.0)]))
    assert [crowd.at(time_s) for time_s in (0.0, 0.9, 1.0, 2.9, 3.0, 99.0)] == [2, 2, 5, 5, 0, 0]


def test_more_strangers_make_other_texts_likelier() -> None:
    def rate(size: float) -> float:
        run = run_of(
            lambda setting: Crowded(random=setting.random("truth"), rate=0.05),
            n=400,
            crowd=Crowd(iter([(inf, size)])),
        )
        return 1 - Counter(texts(run)).most_common(1)[0][1] / 400

    assert rate(0) == 0
    assert abs(rate(4) - 0.2) < three_standard_errors(0.2, 400)
    assert abs(rate(8) - 0.4) < three_standard_errors(0.4, 400)


def test_company_changes_the_text_of_every_judged_attempt_unless_the_server_is_serial() -> None:
    run, _ = shape("company: another text, counted; alone and 8").play(20, seed=0)
    alone, together = set(texts(run)), set(texts(run, condition="company 8"))
    assert len(alone) == len(together) == 1
    assert alone != together
    run, scene = shape("company: nearly: one at a time; alone and 8").play(20, seed=0)
    assert set(texts(run)) == set(texts(run, condition="company 8"))
    assert scene.right == frozenset()


def test_a_partial_effect_holds_for_the_prompts_that_are_named() -> None:
    run, scene = shape("company: another text on 45 % of the prompts; alone and 8").play(10, seed=2)
    differing = {
        prompt.id
        for prompt in run.plan.prompts
        if set(texts(run, prompt.id)) != set(texts(run, prompt.id, "company 8"))
    }
    assert len(run.plan.prompts) == 5
    assert differing == scene.affected
    assert len(differing) == 2


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("backend mix: two by fingerprint; alone", lambda answer: answer.fingerprint),
        ("backend mix: two by model; alone", lambda answer: answer.model),
        ("backend mix: two by header; alone", lambda answer: dict(answer.headers)["x-served-by"]),
    ],
)
def test_replicas_write_one_text_each(name: str, sign: Callable[[Completion], str | None]) -> None:
    run, _ = shape(name).play(30, seed=0)
    pairs = {(sign(answer), answer.text) for _, answer in judged(run)}
    assert len(pairs) == len({one for one, _ in pairs}) == len({text for _, text in pairs}) == 2


def test_a_deploy_changes_the_text_once() -> None:
    run, _ = shape("order: a deploy; alone").play(30, seed=0)
    changes = [before != after for before, after in pairwise(texts(run))]
    assert sum(changes) == 1
    assert 0.2 < changes.index(True) / 30 < 0.8


def test_the_predecessors_prompt_decides_where_it_should() -> None:
    run, _ = shape("order: another text after one prompt; alone").play(20, seed=0)
    asked = {attempt.order: attempt.prompt for attempt in run.attempts}
    for prompt in run.plan.prompts:
        mine = [(attempt, answer.text) for attempt, answer in judged(run) if attempt.prompt == prompt.id]
        after = {text for attempt, text in mine if asked.get(attempt.order - 1) == "p1"}
        otherwise = {text for attempt, text in mine if asked.get(attempt.order - 1) != "p1"}
        assert len(after) == len(otherwise) == 1
        assert after != otherwise


def test_only_what_was_never_asked_is_cold() -> None:
    run, _ = shape("cache: the first of each prompt differs; alone").play(10, seed=1)
    for prompt in run.plan.prompts:
        first, *later = texts(run, prompt.id)
        assert set(later) == {later[0]}
        assert first != later[0]
    run, _ = shape("cache: another text when cold; as found, cold, warm").play(10, seed=1)
    assert set(texts(run, condition="alone, cache cold")).isdisjoint(texts(run, condition="alone, cache warm"))


@pytest.mark.parametrize(("mark", "repeats_id", "says_hit"), [("id", True, False), ("header", False, True)])
def test_a_cache_of_answers_replays_the_first_one(mark: str, repeats_id: bool, says_hit: bool) -> None:
    run = run_of(
        lambda setting: Independent(random=setting.random("truth"), shares=[0.0, 1.0], fresh=True), replays=mark
    )
    (attempt, first), *later = judged(run)
    took_s = attempt.ended_s - attempt.started_s
    for replayed, answer in later:
        assert answer.text == first.text
        assert replayed.ended_s - replayed.started_s < took_s / 5
        assert ((answer.id, answer.created) == (first.id, first.created)) is repeats_id
        assert (dict(answer.headers).get("x-cache") == "HIT") is says_hit


def test_answers_are_kept_only_for_a_while() -> None:
    run = run_of(
        lambda setting: Independent(random=setting.random("truth"), shares=[0.0, 1.0], fresh=True),
        replays="id",
        keeps_s=0.3,
        n=200,
    )
    assert 1 < len(set(texts(run))) < 100


def test_envelopes_hold_what_they_say() -> None:
    def answers(envelope: Envelope) -> list[Completion]:
        return [answer for _, answer in judged(run_of(lambda _: Steady(), envelope=envelope, n=60))]

    unique = answers(Envelope(headers=("request-id",)))
    assert len({answer.id for answer in unique}) == len({answer.headers for answer in unique}) == 60
    assert 1 < len({answer.created for answer in unique}) < 60
    constant = answers(Envelope(ids="constant", created="constant", fingerprint="empty"))
    assert {(answer.id, answer.created, answer.fingerprint) for answer in constant} == {("chatcmpl-0", 1, "")}
    missing = answers(Envelope(ids="missing", created="missing", fingerprint="null"))
    assert {(answer.id, answer.created, answer.fingerprint) for answer in missing} == {(None, None, None)}
    assert len({answer.fingerprint for answer in answers(Envelope(fingerprint="chance"))}) == 3


def shared_words(one: list[str], other: list[str]) -> int:
    return next(place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)


def test_variants_of_a_text_fork_from_it_and_from_each_other() -> None:
    writing = Writing(seed="1", random=Random(1))
    written = [writing.text("p1", variant, 160) for variant in range(40)]
    assert len(set(written)) == 40
    words = [text.split() for text in written]
    shared = [shared_words(words[0], other) for other in words[1:]]
    assert len(set(shared)) > 5
    assert min(shared) >= 3
    assert any(shared_words(one, other) > shared_words(words[0], one) + 2 for one, other in combinations(words[1:], 2))
    assert writing.text("p1", 1, 16) == " ".join(words[1][:16])


def margins(name: str) -> list[float]:
    run, _ = shape(name).play(10, seed=0)
    return [
        token.logprob - token.top[0].logprob
        for _, answer in judged(run)
        for token in answer.tokens or ()
        if token.logprob is not None
    ]


def test_a_greedy_token_is_the_likeliest_and_a_sampled_one_need_not_be() -> None:
    assert set(margins("observer: another text; with logprobs and without")) == {0.0}
    sampled = margins("sampling: all distinct; with logprobs and without")
    assert min(sampled) < -2
    assert 0.05 < sum(margin < -0.5 for margin in sampled) / len(sampled) < 0.3
    nearly = margins("sampling: nearly: greedy, but up to 0.3 below the top; with logprobs and without")
    assert -0.3 <= min(nearly) < 0


def test_tokens_spell_the_text_and_the_chosen_one_is_among_the_alternatives() -> None:
    run = run_of(lambda _: Steady(), LOGPROBS, bits=5)
    with_tokens = [answer for _, answer in judged(run) if answer.tokens]
    assert len(with_tokens) == 30
    for answer in with_tokens:
        tokens = answer.tokens or ()
        assert b"".join(token.bytes for token in tokens).decode() == answer.text
        for token in tokens:
            assert (token.bytes, token.logprob) in [(one.bytes, one.logprob) for one in token.top]
            assert [one.logprob for one in token.top] == sorted((one.logprob for one in token.top), reverse=True)
    assert 1 < len({answer.tokens for answer in with_tokens}) <= 5


def test_a_sequence_of_pieces_can_go_on_for_ever() -> None:
    crowd = bursts(Random(3), quiet_s=1, busy_s=1, size=1)
    assert set(islice((crowd.at(float(second)) for second in range(10_000)), 10_000)) == {0, 1}


def test_a_cache_plan_has_its_three_states() -> None:
    assert [condition.cache for condition in CACHE] == ["as-found", "cold", "warm"]
