"""The fake endpoint does what its settings say, and the same again under the same seed."""

import asyncio
import re
from collections import Counter
from dataclasses import replace

import pytest
from scripted_server import question

from temp0.core.run import Completion, Failure, Question
from temp0.errors import EndpointError
from temp0.probe import fake
from temp0.probe.endpoint import ColdMeans, NoColdMeans
from temp0.probe.fake import FakeEndpoint
from temp0.probe.fake_setting import FakeSettings

LONG = question(max_tokens=500)


def outcomes(url: str, *, n: int, together: int = 1, asked: Question = LONG) -> list[Completion | Failure]:
    async def go() -> list[Completion | Failure]:
        endpoint = FakeEndpoint(url)
        answers = []
        for _ in range(n // together):
            answers += await asyncio.gather(*(endpoint.complete(asked) for _ in range(together)))
        return [answer.outcome for answer in answers]

    return asyncio.run(go())


def texts(url: str, *, n: int, together: int = 1, asked: Question = LONG) -> list[str]:
    found = outcomes(url, n=n, together=together, asked=asked)
    return [outcome.text for outcome in found if isinstance(outcome, Completion)]


def one(url: str, asked: Question = LONG) -> Completion:
    (outcome,) = outcomes(url, n=1, asked=asked)
    assert isinstance(outcome, Completion)
    return outcome


def shared(first: list[str], second: list[str]) -> int:
    return next(place for place, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)


def test_rate_zero_never_varies_alone_or_together():
    assert len(set(texts("fake:", n=200) + texts("fake:", n=200, together=8))) == 1


def test_the_same_seed_gives_the_same_answers_and_another_seed_others():
    url = "fake:rate=0.5,jitter_ms=1"
    assert texts(url, n=30, together=3) == texts(url, n=30, together=3)
    assert texts(url, n=30) != texts(url + ",seed=8", n=30)


def test_the_rate_is_the_share_of_variants_and_each_variant_comes_up():
    counts = Counter(texts("fake:variants=3,rate=0.3,seed=1", n=2000))
    assert len(counts) == 4
    assert 520 < 2000 - counts.most_common(1)[0][1] < 680


def test_the_rate_in_company_holds_for_everyone_in_flight_whoever_came_first():
    url = "fake:company_rate=1,variants=1"
    alone = set(texts(url, n=5))
    company = set(texts(url, n=40, together=8))
    assert len(alone) == len(company) == 1
    assert alone != company


def test_a_request_that_is_joined_late_was_in_company():
    async def go() -> list[Completion | Failure]:
        endpoint = FakeEndpoint("fake:company_rate=1,variants=1,delay_ms=60")
        first = asyncio.create_task(endpoint.complete(LONG))
        await asyncio.sleep(0.03)
        second = asyncio.create_task(endpoint.complete(LONG))
        return [(await first).outcome, (await second).outcome]

    alone = one("fake:company_rate=1,variants=1").text
    assert [isinstance(outcome, Completion) and outcome.text != alone for outcome in asyncio.run(go())] == [True, True]


def test_company_text_gives_one_text_alone_and_another_single_text_in_company():
    alone = set(texts("fake:company_text=1", n=20))
    company = set(texts("fake:company_text=1", n=40, together=8))
    assert len(alone) == len(company) == 1
    assert alone.isdisjoint(company)
    assert company.isdisjoint(texts("fake:rate=1", n=200))


def test_a_serial_endpoint_has_no_company():
    assert len(set(texts("fake:serial=1,company_text=1", n=40, together=8))) == 1


def test_cold_text_is_another_text_until_the_prompt_is_cached():
    first, *later = texts("fake:cold_text=1", n=5)
    assert set(later) == set(texts("fake:", n=1))
    assert first not in {*later, *texts("fake:rate=1", n=200)}


def test_a_cold_question_neither_uses_nor_feeds_the_cache():
    async def go() -> list[str]:
        endpoint = FakeEndpoint("fake:cold_text=1")
        outcomes = [
            (await endpoint.complete(replace(LONG, cache=state))).outcome for state in ("cold", "warm", "cold", "warm")
        ]
        return [outcome.text for outcome in outcomes if isinstance(outcome, Completion)]

    cold, first, again, warm = asyncio.run(go())
    assert cold == first == again != warm


def test_it_tells_how_much_of_the_prompt_was_cached_unless_told_not_to():
    def told(url: str) -> list[int | None]:
        return [one.usage.cached for one in outcomes(url, n=2) if isinstance(one, Completion)]

    prompt = one("fake:").usage.prompt
    assert told("fake:") == [0, prompt]
    assert told("fake:tells=0") == [None, None]


@pytest.mark.parametrize(
    ("setting", "asked"),
    [("observer_text", replace(LONG, logprobs=True)), ("stream_text", replace(LONG, stream=True))],
)
def test_how_it_is_asked_can_change_the_text(setting: str, asked: Question):
    assert one("fake:", asked).text == one("fake:").text == one(f"fake:{setting}=1").text
    assert one(f"fake:{setting}=1", asked).text != one("fake:").text


def test_a_fake_can_be_one_that_never_forgets():
    async def means(url: str) -> ColdMeans | NoColdMeans:
        return await FakeEndpoint(url).cold_means()

    assert isinstance(asyncio.run(means("fake:")), ColdMeans)
    assert asyncio.run(means("fake:can_cold=0")) == NoColdMeans(why="this simulated endpoint has can_cold=0")


@pytest.mark.parametrize("fork", [0, 1, 5, 11])
def test_texts_part_exactly_at_the_fork(fork: int):
    found = {tuple(text.split()) for text in texts(f"fake:variants=12,rate=0.9,length=12,fork={fork}", n=500)}
    assert len(found) == 13
    usual = min(found)
    assert {shared(list(usual), list(other)) for other in found - {usual}} == {fork}


def test_a_text_is_readable_sentences():
    assert re.fullmatch(r"([A-Z][a-z]*( [a-z]+){6} [a-z]+\. ?){3}", one("fake:length=24").text)


def test_max_tokens_cuts_by_words_and_the_finish_says_so():
    whole, cut = one("fake:length=12"), one("fake:length=12", question(max_tokens=5))
    assert (whole.finish, cut.finish) == ("stop", "length")
    assert whole.text.split()[:5] == cut.text.split()
    assert one("fake:length=12", question(max_tokens=12)).finish == "stop"


def test_tokens_spell_the_text_and_have_the_margin_at_the_fork():
    completion = one("fake:margin=0.25,fork=3,length=9", question(max_tokens=9, logprobs=True))
    assert completion.tokens is not None
    assert b"".join(token.bytes for token in completion.tokens).decode() == completion.text
    margins = [token.top[0].logprob - token.top[1].logprob for token in completion.tokens]
    assert margins[3] == pytest.approx(0.25)
    assert min(margins[:3] + margins[4:]) > 1
    assert one("fake:").tokens is None


def test_the_rival_of_a_branch_at_the_fork_is_the_other_branch():
    url, asked = "fake:variants=1,rate=0.5", question(max_tokens=30, logprobs=True)
    found = {outcome.text: outcome for outcome in outcomes(url, n=30, asked=asked) if isinstance(outcome, Completion)}
    first, second = found.values()
    assert first.tokens
    assert second.tokens
    assert first.tokens[8].bytes == second.tokens[8].top[1].bytes
    assert second.tokens[8].bytes == first.tokens[8].top[1].bytes


@pytest.mark.parametrize("fault", ["http-500", "http-429", "http-401", "timeout", "cut", "not-json", "null-content"])
def test_a_fault_is_a_failure_with_its_reason(fault: str):
    (failure,) = outcomes(f"fake:fail_rate=1,fault={fault}", n=1)
    assert isinstance(failure, Failure)
    assert failure.reason == fault
    assert failure.status == (int(fault[5:]) if fault.startswith("http-") else None)


def test_the_fail_rate_is_the_share_of_faults():
    found = outcomes("fake:fail_rate=0.5", n=1000)
    assert 430 < sum(isinstance(outcome, Failure) for outcome in found) < 570


def test_an_empty_text_is_a_completion():
    assert one("fake:fail_rate=1,fault=empty").text == ""


def test_it_tells_how_many_are_running_unless_told_not_to():
    async def go(url: str) -> tuple[float | None, float | None]:
        endpoint = FakeEndpoint(url)
        asking = [asyncio.create_task(endpoint.complete(LONG)) for _ in range(5)]
        await asyncio.sleep(0.01)
        during = await endpoint.running()
        await asyncio.gather(*asking)
        return during, await endpoint.running()

    assert asyncio.run(go("fake:delay_ms=50")) == (5, 0)
    assert asyncio.run(go("fake:delay_ms=20,serial=1")) == (1, 0)
    assert asyncio.run(go("fake:delay_ms=50,tells=0")) == (None, None)


def test_a_cancelled_request_is_no_longer_in_flight():
    async def go() -> float | None:
        endpoint = FakeEndpoint("fake:delay_ms=10000")
        asking = asyncio.create_task(endpoint.complete(LONG))
        await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return await endpoint.running()

    assert asyncio.run(go()) == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("fake:rates=1", "no setting 'rates'; it knows variants, rate"),
        ("fake:rate", "rate is '', expected a number from 0 to 1"),
        ("fake:rate=1.5", "rate is '1.5', expected a number from 0 to 1"),
        ("fake:rate=nan", "rate is 'nan'"),
        ("fake:rate=-0.1", "rate is '-0.1'"),
        ("fake:variants=-1", "variants is '-1', expected a whole number from 0"),
        ("fake:variants=two", "variants is 'two'"),
        ("fake:length=0", "length is '0'"),
        ("fake:length=5,fork=5", "fork is 5, expected a word before length=5"),
        ("fake:variants=0,rate=0.1", "variants is 0"),
        ("fake:serial=yes", "serial is 'yes', expected 0 or 1"),
        ("fake:fault=fire", "fault is 'fire', expected http-STATUS"),
        ("fake:fault=http-200", "fault is 'http-200'"),
        ("fake:seed=", "seed is empty"),
        ("fake:rate=0.1,rate=0.2", "rate is given twice"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(url: str, said: str):
    with pytest.raises(EndpointError, match=re.escape(said)):
        FakeEndpoint(url)


def test_every_setting_is_documented_with_its_default():
    documented = dict(re.findall(r"^    (\w+)=(\S+)", fake.__doc__ or "", re.MULTILINE))
    settings = {name: getattr(FakeSettings(), name) for name in FakeSettings.__dataclass_fields__}
    shown = {
        name: str(int(value) if isinstance(value, bool | float) and value == int(value) else value)
        for name, value in settings.items()
    }
    assert documented == shown | {"company_rate": "RATE"}
