"""What OpenAI's completions have in common, of a chat or of a text: envelope, usage, stream options, token ids.

`return_token_ids` asks for the ids of prompt and answer, as in vLLM: an end token is among them, and tokens of a stop
string are not, as in the logprobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temp0.engine.request import Emission
from temp0.engine.server.fields import Fields
from temp0.engine.server.generation import Generation
from temp0.engine.server.inquiry import Inquiry
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.service import Service
from temp0.engine.server.text_stream import Ending

_FINISH = {"stop": "stop", "length": "length", "stop_sequence": "stop"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a client wants to see beside the text: usage at the end of a stream, and the ids of all tokens."""

    usage: bool
    ids: bool


def shown(fields: Fields) -> Shown:
    """Reads `stream_options` and `return_token_ids`."""
    options = fields.object("stream_options")
    if options is not None and not fields.flag("stream"):
        raise RefusedError("stream_options is sent, but stream is not true", field="stream_options")
    return Shown(usage=options is not None and options.flag("include_usage"), ids=fields.flag("return_token_ids"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One inquiry and its answer in the making."""

    service: Service
    inquiry: Inquiry
    answer: Generation
    shown: Shown
    id: str
    created: int

    def envelope(self, kind: str) -> dict[str, object]:
        """What stands around the choices of every answer and of every chunk."""
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.service.engine.name,
            "system_fingerprint": self.service.engine.fingerprint,
        }

    def usage(self) -> dict[str, object]:
        """The tokens so far."""
        prompt = len(self.inquiry.request.tokens)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self.answer.emitted,
            "total_tokens": prompt + self.answer.emitted,
            "prompt_tokens_details": {"cached_tokens": self.answer.cached},
        }

    def prompt_ids(self) -> dict[str, object]:
        """The field with the prompt's token ids, if they are wanted."""
        return {"prompt_token_ids": list(self.inquiry.request.tokens)} if self.shown.ids else {}

    def token_ids(self, emissions: Sequence[Emission]) -> dict[str, object]:
        """The field with the ids of some tokens of the answer, if they are wanted."""
        return {"token_ids": [emission.token for emission in emissions]} if self.shown.ids else {}


def finish_reason(ending: Ending | None) -> str | None:
    """Why the text ended, in the dialect's words."""
    return _FINISH[ending.reason] if ending else None
