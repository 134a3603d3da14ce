"""SGLang's native `/generate`: one text in, its continuation out, with a log probability and an id for each token.

Source: https://docs.sglang.io/basic_usage/sampling_params.html and .../native_api.html. No chat template is put around
the text, and the server's one model is asked. What a chunk tells is all so far, or only what is new where the server
was started so: what is told as all so far begins with what was told before, and counts as many ids as tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from temp0.core.run import Completion, Failure, Question, Usage
from temp0.probe.dialect.dialect import Dialect, Headers, path_of, with_path
from temp0.probe.dialect.error import error_in, said
from temp0.probe.dialect.field import name_at, object_at, text_at, told_count, told_name, told_object
from temp0.probe.dialect.logprob import tokens
from temp0.probe.dialect.lone_prompt import lone_prompt
from temp0.probe.dialect.openai_chat import NEUTRAL, OPENAI_CHAT, TOP_LOGPROBS
from temp0.probe.dialect.partial import DONE, chunk_in, joined
from temp0.probe.dialect.reason import CUT, ERROR_IN_200, MASK, excerpt
from temp0.probe.dialect.vllm import ENGINE_NEUTRAL
from temp0.probe.event_stream import Event

QUESTIONS = "/generate"

_Object = Mapping[str, object]
_LISTS = ("output_token_logprobs", "output_top_logprobs")  # told piece by piece in a stream


def _url(url: str) -> str:
    return with_path(url, path_of(url).removesuffix(QUESTIONS) + QUESTIONS)


def _models_url(url: str) -> str:
    return with_path(url, path_of(url).removesuffix(QUESTIONS) + "/v1/models")


def _body(question: Question, _model: str) -> _Object:
    """A last message of the assistant's is the beginning of the continuation, and follows the text as it is.

    Raises:
        UsageError: There are more messages than one text can say.

    """
    begun = [turn for turn in question.messages[-1:] if turn.role == "assistant"]
    text = lone_prompt(question.messages[: len(question.messages) - len(begun)], dialect=f"sglang at {QUESTIONS}")
    greedy = {"temperature": 0, **NEUTRAL, **ENGINE_NEUTRAL} if question.greedy else {}
    body: dict[str, object] = {
        "text": text + "".join(turn.content for turn in begun),
        "sampling_params": {"max_new_tokens": question.max_tokens, **greedy},
        "stream": question.stream,
    }
    if question.logprobs:
        body |= {"return_logprob": True, "top_logprobs_num": TOP_LOGPROBS, "return_text_in_logprobs": True}
    return body


def _read(payload: object, headers: Headers) -> Completion | Failure:
    answer = object_at(payload, "the answer")
    if said := error_in(answer):
        return Failure(reason=ERROR_IN_200, message=said)
    text, told = text_at(answer.get("text"), "text"), told_object(answer.get("meta_info"))
    ended = told_object(told.get("finish_reason"))
    finish = name_at(ended.get("type"), "meta_info.finish_reason.type")
    if finish == "abort":
        return Failure(reason=ERROR_IN_200, message=f"the answer was aborted: {excerpt(str(ended.get('message')))}")
    if finish is None:
        return Failure(reason=CUT, message="the answer does not say why it ended")
    weights = told_name(told.get("weight_version"))
    return Completion(
        text=text,
        finish=finish,
        tokens=tokens(_logprobs(told), text),
        usage=Usage(
            prompt=told_count(told.get("prompt_tokens")),
            completion=told_count(told.get("completion_tokens")),
            cached=told_count(told.get("cached_tokens")),
        ),
        id=told_name(told.get("id")),
        headers=tuple(sorted((*headers, ("weight-version", weights)))) if weights else headers,
    )


def _logprobs(told: _Object) -> _Object | None:
    """The logprobs in the shape of OpenAI's, from lists of [logprob, id, text]."""
    chosen, others = (told.get(name) for name in _LISTS)
    if not isinstance(chosen, list):
        return None
    tops: Sequence[object] = others if isinstance(others, list) and len(others) == len(chosen) else [None] * len(chosen)
    return {
        "content": [
            {**_entry(entry), "top_logprobs": [_entry(other) for other in top] if isinstance(top, list) else []}
            for entry, top in zip(chosen, tops, strict=True)
        ]
    }


def _entry(entry: object) -> dict[str, object]:
    logprob, name, text = entry if isinstance(entry, list) and len(entry) == 3 else (None, None, None)
    return {"token": text, "id": name, "logprob": logprob}


class _PartialGenerate:
    """What the chunks so far have told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self._pieces: list[_Object] = []
        self._is_new_only = False

    @property
    def is_whole(self) -> bool:
        return bool(self._pieces) and bool(told_object(self._pieces[-1].get("meta_info")).get("finish_reason"))

    def add(self, event: Event) -> None:
        data = event.data.strip()
        if not data or data == DONE or self.is_whole:
            return
        if event.name == "error":
            self.error = self.error or said(data)
            return
        chunk = chunk_in(event)
        self.error = self.error or error_in(chunk)
        if self.error is None:
            self._take(chunk)

    def payload(self) -> _Object:
        """The answer as it would have come unstreamed."""
        last = self._pieces[-1]
        if not self._is_new_only:
            return last
        told = told_object(last.get("meta_info"))
        lists = {name: self._listed(name) for name in _LISTS if name in told}
        text = joined(text_at(piece.get("text"), "text") for piece in self._pieces)
        return {**last, "text": text, "meta_info": {**told, **lists}}

    def _take(self, chunk: _Object) -> None:
        text, ids = text_at(chunk.get("text"), "text"), chunk.get("output_ids")
        count = told_count(told_object(chunk.get("meta_info")).get("completion_tokens"))
        known = len(ids) if isinstance(ids, list) and count else None
        before = str(self._pieces[-1]["text"]) if self._pieces else ""
        until_key, key, _ = text.partition(MASK)  # of which a part may have come before
        begins_so = text.startswith(before) or bool(key and known and before.startswith(until_key))
        goes_on = begins_so and (known is None or known >= (count or 0))
        self._is_new_only |= bool(self._pieces) and not goes_on
        if self._pieces and known and not self._is_new_only:
            self._pieces.clear()  # all so far, for certain: what came before is in it
        self._pieces.append(chunk)

    def _listed(self, name: str) -> list[object]:
        lists = [told_object(piece.get("meta_info")).get(name) for piece in self._pieces]
        return [entry for listed in lists if isinstance(listed, list) for entry in listed]


SGLANG_GENERATE = Dialect(
    name="sglang",
    key_variable=OPENAI_CHAT.key_variable,
    can_logprobs=True,
    url=_url,
    models_url=_models_url,
    headers=OPENAI_CHAT.headers,
    body=_body,
    read=_read,
    partial=_PartialGenerate,
    continues=True,
)
