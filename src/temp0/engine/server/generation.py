"""Carries one inquiry through the engine: from the engine's thread to the event loop, and back out as pieces.

Invariant: whatever happens to the client, the engine's slot is given back; leaving the context without an ending
cancels the request. The event loop is woken for each token only where each is awaited, else once an answer: every
waking takes a core and the interpreter from the threads that calculate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from temp0.engine.request import Emission, Score
from temp0.engine.server.inquiry import Inquiry
from temp0.engine.server.service import Service
from temp0.engine.server.text_stream import Ending, Piece, TextStream, joined
from temp0.errors import Temp0Error

# The emissions since the last news, or why no more will come.
_News = Sequence[Emission] | Temp0Error

_NOTHING = Piece(text="", emissions=(), ending=Ending(reason="length"))


class Generation:
    """One answer in the making; iterate once over its pieces, then read `ending`, `emitted` and `cached`.

    `emitted` counts its tokens so far, `cached` those of its prompt that the prefix cache had, and `prompt` has the
    scores of its prompt where they are asked for; the last two are known from the first piece on. Without `answers`
    the prompt is all there is: one piece without text.
    """

    def __init__(self, arrived: asyncio.Queue[_News], text: TextStream, *, answers: bool = True) -> None:
        self._arrived = arrived
        self._text = text
        self._answers = answers
        self.ending: Ending | None = None
        self.emitted = 0
        self.cached = 0
        self.prompt: tuple[Score, ...] = ()

    async def pieces(self) -> AsyncIterator[Piece]:
        """The answer as it grows; a piece may be empty while a character is incomplete.

        Raises what the engine reports when a step of it fails.
        """
        while self.ending is None:
            news = await self._arrived.get()
            if isinstance(news, Temp0Error):
                raise news
            for emission in news:
                piece = self._text.push(emission) if self._answers else _NOTHING
                self.emitted += self._answers
                self.prompt = self.prompt or emission.prompt
                self.cached = emission.cached_tokens
                self.ending = piece.ending
                yield piece

    async def whole(self) -> Piece:
        """The answer in one piece, the same as all pieces joined."""
        return joined([piece async for piece in self.pieces()])


@asynccontextmanager
async def generation(service: Service, inquiry: Inquiry) -> AsyncIterator[Generation]:
    """Queue an inquiry for as long as the context is open.

    Raises `RequestError` where the engine refuses it and `QueueFullError` where there is no room.
    """
    arrived: asyncio.Queue[_News] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    # A stop string may end the answer at any token, which only its text tells.
    each_is_awaited = inquiry.stream or bool(inquiry.stops)
    gathered: list[Emission] = []

    def hand_over(news: _News) -> None:
        loop.call_soon_threadsafe(arrived.put_nowait, news)

    def gather(emission: Emission) -> None:
        gathered.append(emission)
        if each_is_awaited or emission.finish:
            hand_over(tuple(gathered))
            gathered.clear()

    text = TextStream(service.engine.tokenizer.bytes_of, inquiry.stops)
    answer = Generation(arrived, text, answers=inquiry.request.max_tokens > 0)
    ticket = service.engine.submit(inquiry.request, gather, on_failure=hand_over)
    try:
        yield answer
    except (asyncio.CancelledError, ConnectionError):
        service.outcomes.count("cancelled")
        raise
    else:
        service.outcomes.count(answer.ending.reason if answer.ending else "fault")
    finally:
        if answer.ending is None or answer.ending.reason == "stop_sequence":
            service.engine.cancel(ticket)
