"""Fresh prompts of a stated number of tokens, so that a time to first token is that of a prompt really read.

Two passages share no beginning beyond a server's own template, so that no prefix cache can have read one before. The
words are common ones, each a single token for most tokenizers; what a passage really has is what the server counts.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from temp0.core.plan import Message
from temp0.core.run import Failure, Question
from temp0.probe.streamed_chat import StreamedAnswer

Ask = Callable[[Question], Awaitable[StreamedAnswer | Failure]]

_COMMON_WORDS = (
    "time year people way day man thing woman life child world school state family student group country problem "
    "hand part place case week company system program question work government number night point home water room "
    "mother area money story fact month lot right study book eye job word business issue side kind head house "
    "service friend father power hour game line end member law car city community name team minute idea body "
    "information back parent face others level office door health person art war history party result change "
    "reason research girl moment air teacher force education"
)
_TRIES = 3


def passage(words: int, seed: str) -> Question:
    """A question of so many words drawn by `seed`, answered by a single token."""
    text = " ".join(random.Random(seed).choices(_COMMON_WORDS.split(), k=words))
    return Question(messages=(Message(role="user", content=text),), max_tokens=1)


async def fitted_words(ask: Ask, tokens: int) -> int | Failure:
    """How many words make a prompt of `tokens` tokens, its template included, by the server's own counts.

    As near as it gets in a few tries; `tokens` itself where the server counts nothing.
    """
    words = max(1, tokens // 2)
    for attempt in range(_TRIES):
        answer = await ask(passage(words, f"fit {attempt}"))
        if isinstance(answer, Failure):
            return answer
        counted = answer.usage.prompt
        if counted is None:
            return tokens
        if counted == tokens:
            return words
        words = max(1, words + tokens - counted)
    return words
