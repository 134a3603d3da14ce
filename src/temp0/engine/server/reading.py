"""What the model reads of a recorded body: the text that the server turned into tokens, by the door the body went to.

The doors read with these very functions, so that nothing about their templates is known twice.
"""

from __future__ import annotations

from collections.abc import Callable

from temp0.engine.server import anthropic_messages, openai_chat, openai_responses
from temp0.engine.server.fields import Fields, parsed
from temp0.engine.server.served import ServedTemplate
from temp0.errors import RequestError


def _as_it_is(_: ServedTemplate, fields: Fields) -> str:
    return fields.required_text("prompt")


_DOORS: tuple[tuple[str, Callable[[ServedTemplate, Fields], str]], ...] = (
    ("/chat/completions", openai_chat.text_read),
    ("/completions", _as_it_is),
    ("/responses", openai_responses.text_read),
    ("/messages", anthropic_messages.text_read),
)


def text_read_of(body: bytes, *, path: str, template: ServedTemplate) -> str:
    """The text read of a body that was sent to `path`.

    Raises RequestError for a body that the server would turn away, token ids in place of a text included, and for a
    path that no question goes to.
    """
    for end, read in _DOORS:
        if path.endswith(end):
            return read(template, parsed(body))
    raise RequestError(f"no question goes to {path}")
