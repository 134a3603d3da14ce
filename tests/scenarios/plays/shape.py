"""Servers that write one answer in many shapes: odd characters, empty texts, cuts in the stream, odd logprobs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chat_shape import BEGUN, chat
from scenario import Asked, Fault, Scenario, Spoken, Told, spoken

HELLO = "你好😊"


class Texts(Scenario):
    """Tells `texts` in turn for each prompt; a pair is a text and why it ended."""

    texts: Sequence[str | Sequence[str | None] | None] = ()
    reasoning: str | None = None

    def answer(self, asked: Asked) -> Told:
        told = self.texts[asked.before % len(self.texts)]
        text, finish = (told, "stop") if told is None or isinstance(told, str) else (told[0], told[1])
        return Told(text=text, finish=finish, reasoning=None if text else self.reasoning)


class Escaped(Scenario):
    """Case 29: writes the text as it is given here, in JSON: escapes, lone surrogates and raw characters."""

    texts: Sequence[str] = ()

    def answer(self, asked: Asked) -> Told:
        written = self.texts[asked.before % len(self.texts)]
        plain = chat(Told(text="@@"), asked).decode()
        return Told(body=plain.replace('"@@"', f'"{written}"').encode())


class SpacesLost(Scenario):
    """Case 29: loses the spaces only where it streams."""

    def answer(self, asked: Asked) -> Told:
        return Told(text="onetwothree" if asked.body.get("stream") else "one two three")


class Window(Scenario):
    """Case 35: 200 words, seven ways on from the 133rd word; cut by the token limit, whichever comes first."""

    words = 200
    forks_after = 132

    def answer(self, asked: Asked) -> Told:
        words = [f"w{place}" for place in range(self.words)]
        words[self.forks_after] = f"way{asked.before % 7}"
        is_cut = asked.max_tokens < self.words
        text = " ".join(words[: asked.max_tokens])
        near = (-0.75, {" elsewhere": -0.8})
        tokens = spoken(text, {self.forks_after: near} if asked.max_tokens > self.forks_after else None)
        return Told(text=text, tokens=tokens, finish="length" if is_cut else "stop")


class Faulty(Scenario):
    """Fails at the requests named in `at`, in the way named by `how`; else one text."""

    at: Sequence[int] = ()
    how: str = "500"

    def answer(self, asked: Asked) -> Told | Fault:
        if asked.order not in self.at:
            return Told(text="It works.")
        if self.how == "hangs":
            return Fault(hangs=True)
        if self.how == "error-in-200":
            return Told(body=b'{"error": {"message": "the model crashed"}}')
        return Fault(status=int(self.how), message="the model crashed")


class Refusing(Scenario):
    """Refuses every key, and repeats it in what it says."""

    def answer(self, asked: Asked) -> Fault:
        return Fault(status=401, message=f"no such key: {asked.headers.get('Authorization')}")


class Blocks(Scenario):
    """Case 39: Anthropic's content in every shape, by the number that the prompt ends with."""

    def answer(self, asked: Asked) -> Told:
        signature = f"sig-{asked.order}"  # differs every time, and is no part of any text
        thinking = {"type": "thinking", "thinking": "", "signature": signature}
        pondering = {"type": "thinking", "thinking": "Hm.", "signature": signature}
        tool = {"type": "tool_use", "id": f"toolu_{asked.order}", "name": "f", "input": {"a": 1}}
        redacted = {"type": "redacted_thinking", "data": signature}
        shapes: tuple[tuple[list[Mapping[str, Any]], str], ...] = (
            ([], "end_turn"),
            ([thinking, _text("Hi")], "end_turn"),
            ([pondering], "end_turn"),
            ([_text("a"), tool, _text("b")], "tool_use"),
            ([redacted, _text("Hi")], "end_turn"),
            ([], "refusal"),
        )
        content, finish = shapes[int(asked.prompt[-1])]
        return Told(content=content, finish=finish)


class UsageLast(Scenario):
    """Case 41: the last chunk has the usage and no choices; every second time the first has no choices, too."""

    def answer(self, asked: Asked) -> Told:
        deltas: list[Mapping[str, Any]] = [
            _chunk({"role": "assistant", "content": None}),
            _chunk({"content": "He"}),
            _chunk({"content": "llo"}),
            _chunk({}, finish="stop"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
        ]
        if asked.before % 2:
            deltas.insert(0, {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
        return Told(events=deltas)


class CutEverywhere(Scenario):
    """Case 44: the bytes of a stream cut at another place each time; the first time, byte by byte.

    Where the cut is `breaks`, the stream ends in the middle of the last character instead.
    """

    breaks = False

    def answer(self, asked: Asked) -> Told:
        events = [_chunk({"content": HELLO}), _chunk({}, finish="stop")]
        return Told(events=events, cut=_in_mid_character if self.breaks else _cut_at(asked.before), breaks=self.breaks)


class TwoTokensAChunk(Scenario):
    """Case 46: one chunk, two tokens; the alternatives of the first stand under both. The texts fork at the second.

    With `zero` every logprob is 0.0 instead, as speculative decoding had it.
    """

    zero = False

    def answer(self, asked: Asked) -> Told:
        second = " sat" if asked.before % 2 else " ran"
        top = [("cat", -0.2), ("dog", -1.8)]
        entries = [_entry("cat", -0.2, top), _entry(second, -0.4, top)]
        if self.zero:
            entries = [_entry(text, 0.0, [(text, 0.0), ("dog", 0.0)]) for text in ("cat", second)]
        return Told(
            events=[
                _chunk({"content": f"cat{second}"}, logprobs={"content": entries}),
                _chunk({}, finish="stop"),
            ]
        )


LOGPROBS: Mapping[str, tuple[Any, Callable[[str, str], Sequence[tuple[str, Any]]]]] = {
    "listed": (-0.7, lambda own, other: [(own, -0.7), (other, -0.8)]),
    "extra": (-0.7, lambda own, other: [(other, -0.6), (own, -0.7)]),
    "outside": (-0.7, lambda own, other: [(other, -0.6), (" never", -3.0)]),
    "minus infinity": (-0.0001, lambda own, other: [(own, -0.0001), (other, -math.inf)]),
    "-9999": (-0.0001, lambda own, other: [(own, -0.0001), (other, -9999.0)]),
    "-100": (-0.0001, lambda own, other: [(own, -0.0001), (other, -100.0)]),
    "nan": (math.nan, lambda own, other: [(own, math.nan), (other, math.nan)]),
    "null": (None, lambda own, other: []),
    "zero": (0.0, lambda own, other: [(own, 0.0), (other, 0.0)]),
    "positive": (0.4, lambda own, other: [(own, 0.4), (other, 0.3)]),
}


class LogprobShapes(Scenario):
    """Case 47: two texts that part at the second token, with logprobs in the shape that the prompt names."""

    def answer(self, asked: Asked) -> Told:
        own, other = (" sat", " ran") if asked.before % 2 else (" ran", " sat")
        logprob, top = LOGPROBS[asked.prompt]
        fork = Spoken(text=own, logprob=logprob, top=top(own, other))
        first = Spoken(text="cat", logprob=-0.1, top=[("cat", -0.1), ("dog", -2.4)])
        return Told(text=f"cat{own}", tokens=(first, fork))


class NoLogprobs(Scenario):
    """Answers with null where logprobs were asked for."""

    def answer(self, asked: Asked) -> Told:
        body = {
            "id": f"chatcmpl-{asked.order}",
            "created": BEGUN + asked.order,
            "model": "m",
            "choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop", "logprobs": None}],
        }
        return Told(body=json.dumps(body).encode())


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def _chunk(delta: Mapping[str, Any], *, finish: str | None = None, logprobs: Any = None) -> Mapping[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprobs}]}


def _entry(text: str, logprob: float, top: Sequence[tuple[str, float]]) -> Mapping[str, Any]:
    listed = [{"token": other, "logprob": value, "bytes": list(other.encode())} for other, value in top]
    return {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": listed}


def _cut_at(place: int) -> Callable[[bytes], Sequence[bytes]]:
    def cut(data: bytes) -> Sequence[bytes]:
        """Cut around the text and inside it, where characters of three and of four bytes are."""
        if place == 0:
            return [data[at : at + 1] for at in range(len(data))]
        at = data.index("你".encode()) + place - 2
        return [data[:at], data[at:]]

    return cut


def _in_mid_character(data: bytes) -> Sequence[bytes]:
    return [data[: data.index("😊".encode()) + 2]]
