"""One dialect on trial: the samples it is to read, the questions it is to write, and the disorder it has to bear.

Nothing here judges: it only has the dialect do what it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from random import Random

from temp0.core.plan import Message
from temp0.core.run import Completion, Failure, Question, Token
from temp0.errors import UsageError
from temp0.probe.dialect.dialect import Dialect
from temp0.probe.event_stream import Event

MODEL, PROMPT, MAX_TOKENS = "a-model", "What is 2+2? \u00e9 \U0001f378 \u2028", 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A recorded answer, whole or streamed or both, as bytes of its body, and what is to be read in it.

    `expected` is compared with `described`, field by field, and only in the fields that it has.
    """

    name: str
    expected: Mapping[str, object]
    answer: bytes | None = None
    stream: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A dialect, its samples, and the disorder to try it with."""

    dialect: Dialect
    samples: Sequence[Sample]
    random: Random
    rounds: int

    def questions(self) -> Iterator[Question]:
        """Every kind of question that the dialect can be asked; one message of a user's is the least."""
        system, user = Message(role="system", content="Be brief."), Message(role="user", content=PROMPT)
        begun = Message(role="assistant", content=" Well")
        logprobs = (False, True) if self.dialect.can_logprobs else (False,)
        kinds = product(((user,), (system, user), (user, begun)), logprobs, (False, True), (True, False))
        for messages, with_logprobs, stream, greedy in kinds:
            question = Question(
                messages=messages, max_tokens=MAX_TOKENS, logprobs=with_logprobs, stream=stream, greedy=greedy
            )
            if messages == (user,) or self._can_say(question):
                yield question

    def _can_say(self, question: Question) -> bool:
        try:
            self.dialect.body(question, MODEL)
        except UsageError:
            return False
        return True

    def body(self, question: Question) -> Mapping[str, object]:
        """The body of a question, as it would arrive."""
        return dict(json.loads(json.dumps(dict(self.dialect.body(question, MODEL)), allow_nan=False)))

    def streamed(self, parts: Iterable[bytes]) -> Completion | Failure:
        """What a stream comes to whose bytes come in these parts."""
        return self.dialect.streamed(self.events(parts))

    def events(self, parts: Iterable[bytes]) -> list[Event]:
        """The events of a stream whose bytes come in these parts."""
        reader = self.dialect.framing.reader()
        return [event for part in parts for event in reader.feed(part)] + reader.end()

    def outcomes(self, sample: Sample) -> Iterator[tuple[str, Completion | Failure]]:
        """What a sample comes to, whole and streamed."""
        if sample.answer is not None:
            yield f"{sample.name}, whole", self.dialect.completion(json.loads(sample.answer))
        if sample.stream is not None:
            yield f"{sample.name}, streamed", self.streamed([sample.stream])


def described(outcome: Completion | Failure) -> dict[str, object]:
    """What was read, as JSON: the fields of a completion, its tokens as texts with ids; or `failure`, the reason."""
    if isinstance(outcome, Failure):
        return {"failure": outcome.reason}
    tokens = None if outcome.tokens is None else [_described_token(token) for token in outcome.tokens]
    told = asdict(outcome) | {"tokens": tokens}
    return dict(json.loads(json.dumps(told)))


def _described_token(token: Token) -> dict[str, object]:
    top = [{"text": _text(other.bytes), "logprob": other.logprob} for other in token.top]
    return {"text": _text(token.bytes), "id": token.id, "logprob": token.logprob, "top": top}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
