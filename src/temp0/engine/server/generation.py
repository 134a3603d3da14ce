"""Carries one inquiry through the engine: from the engine's thread to the event loop, and back out as pieces.

Invariant: whatever happens to the client, the engine's slot is given back; leaving the context without an ending
cancels the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temp0.engine.request import Emission
from temp0.engine.server.inquiry import Inquiry
from temp0.engine.server.service import Service
from temp0.engine.server.text_stream import Ending, Piece, TextStream
from temp0.errors import Temp0Error


class Generation:
    """One answer in the making; iterate once over its pieces, then read `ending`, `emitted` and `cached`.

    `emitted` counts its tokens so far, `cached` those of its prompt that the prefix cache had, known from the first
    piece on.
    """

    def __init__(self, arrived: asyncio.Queue[Emission | Temp0Error], text: TextStream) -> None:
        self._arrived = arrived
        self._text = text
        self.ending: Ending | None = None
        self.emitted = 0
        self.cached = 0

    async def pieces(self) -> AsyncIterator[Piece]:
        """The answer as it grows; a piece may be empty while a character is incomplete.

        Raises what the engine reports when a step of it fails.
        """
        while self.ending is None:
            news = await self._arrived.get()
            if isinstance(news, Temp0Error):
                raise news
            piece = self._text.push(news)
            self.emitted += 1
            self.cached = news.cached_tokens
            self.ending = piece.ending
            yield piece

    async def whole(self) -> Piece:
        """The answer in one piece, the same as all pieces joined."""
        pieces = [piece async for piece in self.pieces()]
        return Piece(
            text="".join(piece.text for piece in pieces),
            emissions=tuple(emission for piece in pieces for emission in piece.emissions),
            ending=self.ending,
        )


@asynccontextmanager
async def generation(service: Service, inquiry: Inquiry) -> AsyncIterator[Generation]:
    """Queue an inquiry for as long as the context is open.

    Raises `RequestError` where the engine refuses it and `QueueFullError` where there is no room.
    """
    arrived: asyncio.Queue[Emission | Temp0Error] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def hand_over(news: Emission | Temp0Error) -> None:
        loop.call_soon_threadsafe(arrived.put_nowait, news)

    answer = Generation(arrived, TextStream(service.engine.tokenizer.bytes_of, inquiry.stops))
    ticket = service.engine.submit(inquiry.request, hand_over, on_failure=hand_over)
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
