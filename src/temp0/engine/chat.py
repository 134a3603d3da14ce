"""A conversation as the one text a model was trained on, by the chat template that came with it.

The template is a program from a file nobody vouches for, so it runs in jinja2's immutable sandbox; it sees a pinned
date, so that the same messages give the same prompt on every day.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn

from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from temp0.core.plan import Message
from temp0.engine.checkpoint import Checkpoint
from temp0.errors import ModelError, RequestError

# The date that Llama 3's own templates fall back to where a renderer has no clock.
PINNED_DATE = datetime(2024, 7, 26)


class ChatTemplate:
    """A chat template, compiled. `source` is jinja2 as Hugging Face's tokenizers write it; None if a model has none."""

    def __init__(self, source: str | None, *, bos_token: str = "", eos_token: str = "") -> None:
        """ModelError for a template that is not jinja2."""
        self._tokens = {"bos_token": bos_token, "eos_token": eos_token}
        try:
            self._template = None if source is None else _environment().from_string(source)
        except TemplateSyntaxError as error:
            raise ModelError(
                f"the model's chat template is not valid jinja2 (line {error.lineno}: {error.message}); "
                "fetch the model again or choose another"
            ) from error

    def render(self, messages: Sequence[Message], *, opens_answer: bool = True) -> str:
        """The prompt of a conversation, up to where the assistant speaks, or without its opening words.

        Raises RequestError where the template refuses the messages, and where the model has no template.
        """
        if self._template is None:
            raise RequestError("this model has no chat template: send a plain prompt as a completion instead")
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=opens_answer, **self._tokens)
        except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise RequestError(f"the model's chat template refuses these messages: {error}") from error

    def begun(self, messages: Sequence[Message]) -> str:
        """The prompt of a conversation whose last message, the assistant's, is gone on from.

        What comes before it is rendered as when the answer was begun, and its text follows as it is: so the model is
        where it was when it had written just that, whatever a template does to a message that has ended.
        """
        *before, last = messages
        return self.render(before) + last.content


def chat_template_of(checkpoint: Checkpoint) -> ChatTemplate:
    """The chat template that came with a model, or the one that refuses where none did."""
    words = checkpoint.vocabulary
    return ChatTemplate(
        checkpoint.chat_template,
        bos_token="" if words.bos_id is None else words.tokens[words.bos_id],
        eos_token="" if words.eos_id is None else words.tokens[words.eos_id],
    )


def _environment() -> ImmutableSandboxedEnvironment:
    """Set as transformers sets it, so that a template means here what its author saw.

    Source: transformers/utils/chat_template_utils.py, `_compile_jinja_template`.
    """
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = PINNED_DATE.strftime
    return environment


def _json(value: object, *, ensure_ascii: bool = False, indent: int | None = None, sort_keys: bool = False) -> str:
    """Plain JSON: jinja2's own filter escapes for HTML, which no model was trained on."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys, allow_nan=False)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
