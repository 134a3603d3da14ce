"""An endpoint whose answers are streamed and timed, for a price and not for a verdict.

It speaks openai-chat and nothing else. Fields that a server need not know are sent only while it takes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from temp0.core.run import Address, Failure, Question
from temp0.errors import EndpointError
from temp0.probe.dialect.error import named_fields
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.host import with_known_path
from temp0.probe.key import endpoint_key
from temp0.probe.opening import open_endpoint
from temp0.probe.recognition import open_api
from temp0.probe.stream import StreamConnection
from temp0.probe.streamed_chat import StreamedAnswer, streamed_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """Which fields that a server need not know go with a question.

    `ignore_eos` has every answer go on to its limit (vLLM, SGLang, llama.cpp, ours); `stream_options` has the server
    count tokens.
    """

    ignore_eos: bool = True
    stream_options: bool = True

    def applied(self, body: Mapping[str, object]) -> dict[str, object]:
        """The body of a streamed question with these fields, and without those that are not wanted."""
        sent = dict(body) | {"ignore_eos": self.ignore_eos}
        return {name: value for name, value in sent.items() if getattr(self, name, True)}

    def without(self, refusal: Failure) -> Extras | None:
        """What is left after a refusal that names one of them; `None` where it names none."""
        named = named_fields(refusal, (field.name for field in fields(self) if getattr(self, field.name)))
        return replace(self, **dict.fromkeys(named, False)) if named else None


class TimedEndpoint:
    """A model behind a URL, asked for streamed answers over one pool of connections."""

    def __init__(self, *, address: Address, url: str, connection: StreamConnection) -> None:
        self.address = address
        self._url = url
        self._connection = connection

    async def ask(self, question: Question, extras: Extras) -> StreamedAnswer | Failure:
        """Send one request, once, and read its answer."""
        body = extras.applied(OPENAI_CHAT.body(replace(question, stream=True), self.address.model))
        written = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        pieces = await self._connection.stream(self._url, written)
        if isinstance(pieces, Failure):
            return pieces
        answer = streamed_answer(pieces)
        return self._connection.redacted(answer) if isinstance(answer, Failure) else answer

    async def close(self) -> None:
        """Close all connections."""
        await self._connection.close()


async def open_timed_endpoint(
    url: str,
    *,
    model: str | None = None,
    api: str | None = None,
    key_env: str | None = None,
    timeout_s: float = 300.0,
    environ: Mapping[str, str],
) -> TimedEndpoint:
    """An endpoint for an `http://` or `https://` URL. Close it when done.

    Raises `EndpointError` for a URL, dialect or model that cannot be right, and `UsageError` for a key that is not
    there.
    """
    if url.startswith("fake:"):
        raise EndpointError("a simulated endpoint has no speed to price; give the URL of a server")
    api = api or open_api(url)
    plain = await open_endpoint(url, model=model, api=api, key_env=key_env, timeout_s=timeout_s, environ=environ)
    await plain.close()
    address = plain.address
    if address.api != OPENAI_CHAT.name:
        raise EndpointError(
            f"{address.url} speaks {address.api}, and only {OPENAI_CHAT.name} can be priced; "
            "give the URL of its OpenAI-style interface, such as http://127.0.0.1:8000/v1"
        )
    key = endpoint_key(address.url, variable=OPENAI_CHAT.key_variable, key_env=key_env, environ=environ)
    headers = OPENAI_CHAT.headers(key.value if key else None)
    connection = StreamConnection(address.url, key=key, headers=headers, timeout_s=timeout_s)
    return TimedEndpoint(address=address, url=OPENAI_CHAT.url(with_known_path(address.url)), connection=connection)
