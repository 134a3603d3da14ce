"""Logprobs as OpenAI's legacy completions list them: one list a fact, and alternatives as an object by string.

A token that is a part of a character is written as OpenAI writes it, `bytes:` and an escape for each of its bytes, and
one that has no bytes, such as an end token, as `token_id:N`, as vLLM does on request: so tokens that differ are not
taken for one. Of two tokens with one string, which a vocabulary may have, the likelier one is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from temp0.engine.request import Emission, Score
from temp0.engine.server.served import ServedTokenizer
from temp0.engine.tokenizer import TextDecoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A token with its logprob and alternatives, and the character of the text at which it begins.

    The logprob of a text's first token is None: nothing comes before it.
    """

    token: int
    start: int
    logprob: float | None
    top: tuple[tuple[int, float], ...] = ()


class Places:
    """Where the tokens of a text begin, token by token; the text itself begins at character `start`."""

    def __init__(self, bytes_of: Callable[[int], bytes], *, start: int = 0) -> None:
        self._bytes_of = bytes_of
        self._decoder = TextDecoder()
        self._end = start

    def next(self, token: int) -> int:
        """The character at which the next token begins: that which it is a part of, where it is one."""
        start = self._end
        self._end += len(self._decoder.push(self._bytes_of(token)))
        return start

    def placed(self, emissions: Iterable[Emission]) -> list[Placed]:
        """The next tokens of an answer."""
        return [
            Placed(token=one.token, start=self.next(one.token), logprob=one.logprob, top=one.top) for one in emissions
        ]


def placed_prompt(tokens: Sequence[int], starts: Sequence[int], scores: Sequence[Score]) -> list[Placed]:
    """The tokens of a prompt with their scores, which the first one has not."""
    first = Placed(token=tokens[0], start=starts[0], logprob=None)
    told = zip(scores, starts[1:], strict=True)
    return [
        first,
        *(Placed(token=score.token, start=start, logprob=score.logprob, top=score.top) for score, start in told),
    ]


def legacy_logprobs(
    tokenizer: ServedTokenizer, placed: Sequence[Placed], *, alternatives: bool, by_id: bool
) -> dict[str, object]:
    """The lists; without `alternatives` there are none. `by_id` writes every token as `token_id:N`.

    The token itself is always among its alternatives, so they may be one more than were asked for.
    """

    def name(token: int) -> str:
        return _name(tokenizer.bytes_of(token), token, by_id=by_id)

    def top(one: Placed) -> dict[str, float] | None:
        if one.logprob is None:
            return None
        named: dict[str, float] = {}
        for token, logprob in (*one.top, (one.token, one.logprob)):
            named.setdefault(name(token), logprob)
        return named

    return {
        "tokens": [name(one.token) for one in placed],
        "token_logprobs": [one.logprob for one in placed],
        "top_logprobs": [top(one) for one in placed] if alternatives else None,
        "text_offset": [one.start for one in placed],
    }


def _name(data: bytes, token: int, *, by_id: bool) -> str:
    if by_id or not data:
        return f"token_id:{token}"
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)
