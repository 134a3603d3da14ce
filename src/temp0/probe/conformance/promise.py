"""What every dialect promises, one check each.

A check is pure but for the disorder of its trial, and gives what was seen where the promise was not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from random import Random
from urllib.parse import urlsplit

from temp0.core.run import Completion, Failure
from temp0.core.text import utf8
from temp0.probe.conformance.disorder import any_value, changed_bytes, changed_value, pieces
from temp0.probe.conformance.trial import MAX_TOKENS, PROMPT, Sample, Trial, described
from temp0.probe.dialect.reason import REASONS
from temp0.probe.event_stream import Event

_KEY = "sk-conformance-123"
_URLS = ("http://host:1", "http://host:1/", "http://host/v1", "https://host/some/v1/?api-version=2")
_ESSENTIAL = ("model", "messages", "prompt", "input", "temperature", "max_tokens")


def _bodies_are_json(trial: Trial) -> Iterator[str]:
    for question in trial.questions():
        body = trial.body(question)
        if body != trial.body(question):
            yield f"two bodies of one question: {body}"
        if PROMPT not in _texts(body):
            yield f"the prompt is not in the body: {body}"
        if not any(value == MAX_TOKENS and value is not True for value in _leaves(body)):
            yield f"max_tokens of {MAX_TOKENS} is not in the body: {body}"


def _zero_stays_zero(trial: Trial) -> Iterator[str]:
    for question in trial.questions():
        told = [value for name, value in _members(trial.body(question)) if name == "temperature"]
        wanted = [0] if question.greedy else []
        if told != wanted or any(isinstance(value, bool) for value in told):
            yield f"temperature is {told}, expected {wanted}, where greedy is {question.greedy}"


def _only_what_is_wanted(trial: Trial) -> Iterator[str]:
    ask = {(question.logprobs, question.stream): trial.body(question) for question in trial.questions()}
    if trial.dialect.can_logprobs and ask[True, False] == ask[False, False]:
        yield "logprobs are not asked for"
    if ask[False, True] == ask[False, False]:
        yield "a streamed answer is not asked for"
    for (_, stream), body in ask.items():
        if body.get("stream", stream) is not stream:
            yield f"stream is {body['stream']}, expected {stream}"


def _fields_that_can_be_missed(trial: Trial) -> Iterator[str]:
    sent = {name for question in trial.questions() for name, _ in _members(trial.body(question))}
    for name in (*trial.dialect.dispensable, *(old for old, _ in trial.dialect.renamed)):
        if name not in sent:
            yield f"{name} is never sent"
    for name in trial.dialect.dispensable:
        if name in _ESSENTIAL:
            yield f"{name} decides the answer, and may not be left out"


def _urls_are_stable(trial: Trial) -> Iterator[str]:
    for given in _URLS:
        for where in (trial.dialect.url, trial.dialect.models_url):
            asked = where(given)
            if where(trial.dialect.url(given)) != asked:
                yield f"{given}: {asked} becomes {where(trial.dialect.url(given))}"
            if urlsplit(asked)[:2] != urlsplit(given)[:2] or urlsplit(asked).query != urlsplit(given).query:
                yield f"{given}: another host, or another query: {asked}"


def _the_key_stays_in_the_headers(trial: Trial) -> Iterator[str]:
    for key in (_KEY, None):
        headers = trial.dialect.headers(key)
        if any(not isinstance(part, str) for pair in headers.items() for part in pair):
            yield f"headers are no texts: {headers}"
    if any("None" in value for value in trial.dialect.headers(None).values()):
        yield f"headers without a key: {trial.dialect.headers(None)}"
    if not trial.dialect.key_variable:
        yield "no variable is named that holds the key"


def _samples_are_read(trial: Trial) -> Iterator[str]:
    for form in ("answer", "stream"):
        if all(getattr(sample, form) is None for sample in trial.samples):
            yield f"no sample has a {form}"
    for sample in trial.samples:
        if sample.answer is not None and trial.dialect.framing.begins(sample.answer, "application/json"):
            yield f"{sample.name}: a whole answer is taken for a stream"
        for where, outcome in trial.outcomes(sample):
            if not _matches(sample.expected, seen := described(outcome)):
                yield f"{where}: read {_part(seen, sample.expected)}, expected {json.dumps(dict(sample.expected))}"


def _streamed_is_whole(trial: Trial) -> Iterator[str]:
    for sample in trial.samples:
        read = [_compared(outcome) for _, outcome in trial.outcomes(sample)]
        if len(read) == 2 and read[0] != read[1]:
            yield f"{sample.name}: whole {read[0]}, streamed {read[1]}"


def _cuts_change_nothing(trial: Trial) -> Iterator[str]:
    for sample in _streams(trial):
        data = sample.stream or b""
        whole = trial.streamed([data])
        if trial.streamed([data[place : place + 1] for place in range(len(data))]) != whole:
            yield f"{sample.name}: read otherwise byte by byte"
        for _ in range(trial.rounds // len(trial.samples)):
            parts = pieces(trial.random, data)
            if trial.streamed(parts) != whole:
                yield f"{sample.name}: read otherwise in parts of {[len(part) for part in parts]} bytes"


def _half_an_answer_is_none(trial: Trial) -> Iterator[str]:
    for sample in _streams(trial):
        data = sample.stream or b""
        whole, events = trial.streamed([data]), trial.events([data])
        halves = [trial.dialect.streamed(events[:count]) for count in range(len(events))]
        cuts = [trial.random.randrange(len(data)) for _ in range(trial.rounds // len(trial.samples))]
        for outcome in (*halves, *(trial.streamed([data[:cut]]) for cut in cuts)):
            if isinstance(outcome, Completion) and _compared(outcome) != _compared(whole):
                yield f"{sample.name}: a stream that broke off is read as {outcome.text!r}"


def _anything_is_read(trial: Trial) -> Iterator[str]:
    answers = [json.loads(sample.answer) for sample in trial.samples if sample.answer is not None]
    for _ in range(trial.rounds):
        payload = changed_value(trial.random, trial.random.choice(answers)) if answers else any_value(trial.random)
        before = deepcopy(payload)
        outcome = trial.dialect.completion(payload)
        yield from _unsound(outcome, payload)
        if repr(trial.dialect.completion(payload)) != repr(outcome) or repr(payload) != repr(before):
            yield f"reading it changed something: {_shown(payload)}"
    for _ in range(trial.rounds):
        yield from _unsound(trial.dialect.completion(payload := any_value(trial.random)), payload)


def _any_stream_is_read(trial: Trial) -> Iterator[str]:
    streams = [sample.stream for sample in trial.samples if sample.stream]
    for _ in range(trial.rounds):
        data = changed_bytes(trial.random, trial.random.choice(streams) if streams else b"{}\n\n")
        outcome = trial.streamed(pieces(trial.random, data))
        yield from _unsound(outcome, data)
        if repr(trial.streamed([data])) != repr(outcome):
            yield f"read otherwise in other parts: {_shown(data)}"
        events = [event for stream in streams[:1] for event in trial.events([stream])]
        if events:
            place = trial.random.randrange(len(events))
            events[place] = _changed_event(trial.random, events[place])
            yield from _unsound(trial.dialect.streamed(events), events[place])


def _changed_event(random: Random, event: Event) -> Event:
    try:
        value = json.loads(event.data)
    except ValueError:
        value = None
    return Event(data=json.dumps(changed_value(random, value)).encode(), name=random.choice((event.name, "", "error")))


PROMISES: tuple[tuple[str, Callable[[Trial], Iterator[str]]], ...] = (
    ("a body is JSON with the prompt and the limit in it, the same each time", _bodies_are_json),
    ("a greedy question has a temperature of 0, any other has none", _zero_stays_zero),
    ("logprobs and streaming are asked for where they are wanted", _only_what_is_wanted),
    ("what may be left out or renamed is sent, and decides nothing", _fields_that_can_be_missed),
    ("a URL stays the same however often it is completed", _urls_are_stable),
    ("headers are texts, and there is none for a key that is not there", _the_key_stays_in_the_headers),
    ("the samples are read as expected", _samples_are_read),
    ("an answer is the same streamed and whole", _streamed_is_whole),
    ("a stream is the same however its bytes are cut", _cuts_change_nothing),
    ("a stream that breaks off is no other answer", _half_an_answer_is_none),
    ("any JSON is a completion or a failure, and reading changes nothing", _anything_is_read),
    ("any bytes and any events are a completion or a failure", _any_stream_is_read),
)


def _streams(trial: Trial) -> list[Sample]:
    return [sample for sample in trial.samples if sample.stream]


def _unsound(outcome: object, read: object) -> Iterator[str]:
    if isinstance(outcome, Failure):
        if outcome.reason not in REASONS or not outcome.message:
            yield f"a failure without a known reason or a message: {outcome}"
    elif not isinstance(outcome, Completion):
        yield f"neither a completion nor a failure: {outcome!r} of {_shown(read)}"
    elif not isinstance(outcome.text, str):
        yield f"a text that is none: {outcome.text!r} of {_shown(read)}"
    elif outcome.tokens is not None:
        spelled = b"".join(token.bytes for token in outcome.tokens)
        if not spelled.startswith(utf8(outcome.text)):
            yield f"tokens that do not spell the text: {spelled!r} of {_shown(read)}"


def _compared(outcome: Completion | Failure) -> tuple[object, ...]:
    if isinstance(outcome, Failure):
        return (outcome.reason,)
    tokens = None if outcome.tokens is None else [token.bytes for token in outcome.tokens]
    return outcome.text, outcome.finish, outcome.reasoning, outcome.tool_calls, outcome.refusal, tokens


def _matches(expected: object, seen: object) -> bool:
    """Whether what was seen has all that is expected: of an object the fields named, of a list each member."""
    if isinstance(expected, Mapping):
        return isinstance(seen, Mapping) and all(
            name in seen and _matches(value, seen[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        if not isinstance(seen, list) or len(expected) != len(seen):
            return False
        return all(_matches(one, other) for one, other in zip(expected, seen, strict=True))
    return expected == seen and isinstance(expected, bool) == isinstance(seen, bool)


def _part(seen: Mapping[str, object], expected: Mapping[str, object]) -> str:
    return json.dumps({name: value for name, value in seen.items() if name in expected or name == "failure"})


def _members(value: object) -> Iterator[tuple[str, object]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield from value.items()
    for below in inner:
        yield from _members(below)


def _leaves(value: object) -> Iterator[object]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        yield value
    for below in inner or ():
        yield from _leaves(below)


def _texts(value: object) -> str:
    return "\n".join(leaf for leaf in _leaves(value) if isinstance(leaf, str))


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
