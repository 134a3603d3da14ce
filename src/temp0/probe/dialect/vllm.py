"""vLLM's server: the openai-chat dialect with every sampling field said, and with token ids.

Sources: https://docs.vllm.ai/en/latest/serving/openai_compatible_server/ and vllm/entrypoints/openai. vLLM takes the
sampling fields that a question leaves out from the model's generation_config, and a repetition penalty changes greedy
answers too: so each is sent at the value that does nothing. It passes over fields that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping

from temp0.core.run import Alternative, Question, Token
from temp0.core.text import utf8
from temp0.probe.dialect.field import told_count, told_number, told_object
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.variation import Answer, variation

ENGINE_NEUTRAL: Mapping[str, object] = {
    "top_k": -1,  # no limit; newer releases also say 0
    "min_p": 0,
    "repetition_penalty": 1,
}
"""What vLLM and SGLang take from the model besides the fields of OpenAI's, at the values that do nothing."""

TOKEN_IDS = "return_token_ids"


def engine_body(question: Question, model: str) -> Mapping[str, object]:
    """The body of OpenAI's dialect, the neutral sampling fields, and token ids where logprobs are asked for."""
    ids = {TOKEN_IDS: True} if question.logprobs else {}
    neutral = ENGINE_NEUTRAL if question.greedy else {}
    return {**OPENAI_CHAT.body(question, model), **neutral, **ids}


def with_ids(choice: Answer, ids: object) -> Answer:
    """The choice with token ids in its logprobs, where there are as many of them."""
    logprobs = told_object(choice.get("logprobs"))
    entries = logprobs.get("content")
    if not isinstance(entries, list) or not isinstance(ids, list) or len(ids) != len(entries):
        return choice
    named = [{**told_object(entry), "id": name} for entry, name in zip(entries, ids, strict=True)]
    return {**choice, "logprobs": {**logprobs, "content": named}}


def prompt_tokens(answer: Answer) -> tuple[Token, ...] | None:
    """The tokens of the prompt in an answer's `prompt_logprobs`, without the first, of which nothing is told.

    Never asked for by temp0, which would change what the server computes; `--extra-json` can. Each position is an
    object of token ids; the prompt's own token is the one of `prompt_token_ids`, else the first, and it may be one
    more than was asked for. `None` where they are absent or unreadable.
    """
    positions, ids = answer.get("prompt_logprobs"), answer.get("prompt_token_ids")
    if not isinstance(positions, list):
        return None
    names = [str(name) for name in ids] if isinstance(ids, list) and len(ids) == len(positions) else None
    read = [
        _prompt_token(told_object(position), names[place] if names else None)
        for place, position in enumerate(positions)
        if place
    ]
    found = tuple(token for token in read if token is not None)
    return found if len(found) == len(read) else None


def _prompt_token(position: Answer, name: str | None) -> Token | None:
    chosen = next(iter(position), None) if name is None else name
    if chosen is None or chosen not in position or not chosen.isdecimal():
        return None
    told = {name: told_object(entry) for name, entry in position.items()}
    top = tuple(
        Alternative(bytes=_spelled(entry), logprob=logprob)
        for entry in told.values()
        if (logprob := told_number(entry.get("logprob"))) is not None
    )
    own = told[chosen]
    return Token(bytes=_spelled(own), id=told_count(int(chosen[:20])), logprob=told_number(own.get("logprob")), top=top)


def _spelled(entry: Answer) -> bytes:
    text = entry.get("decoded_token")
    return utf8(text) if isinstance(text, str) else b""


VLLM = variation(
    "vllm",
    body=engine_body,
    choice=lambda choice: with_ids(choice, choice.get("token_ids")),
    dispensable=(*OPENAI_CHAT.dispensable, *ENGINE_NEUTRAL, TOKEN_IDS),
    continues=True,
)
