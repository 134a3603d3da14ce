"""One streamed answer over HTTP, timed: each piece of it with the moment at which it came.

Nothing is parsed until the answer is whole, so that reading costs the timed server as little as can be. Every fault
of the way is a failure, as for a connection whose answers come whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

from temp0.core.run import Failure
from temp0.probe.connection import Connection
from temp0.probe.dialect.error import said
from temp0.probe.dialect.reason import TOO_LARGE, http_failure
from temp0.probe.intake import LARGEST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes of a body that came together, and the seconds from sending the request until they did."""

    at_s: float
    data: bytes


class StreamConnection(Connection):
    """A pool of connections to one server whose answers are streamed."""

    async def stream(self, url: str, body: bytes) -> tuple[Piece, ...] | Failure:
        """Post one request, once, and take its answer piece by piece until it ends."""
        session = self._session(keep=True)
        sent = self._clock()
        headers = {"Content-Type": "application/json"}
        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                pieces = await self._pieces(response, sent)
                self._has_answered = True
        except (aiohttp.ClientError, OSError) as error:
            self._note_loss(error)
            return self._failure(error)
        if pieces is None:
            return Failure(reason=TOO_LARGE, message=f"the answer has more than {LARGEST_BYTES:,} bytes")
        if not 200 <= response.status < 300:
            return self.redacted(http_failure(response.status, said(joined(pieces))))
        return pieces

    async def _pieces(self, response: aiohttp.ClientResponse, sent: float) -> tuple[Piece, ...] | None:
        pieces: list[Piece] = []
        size_bytes = 0
        async for data in response.content.iter_any():
            pieces.append(Piece(at_s=self._clock() - sent, data=data))
            size_bytes += len(data)
            if size_bytes > LARGEST_BYTES:
                return None
        return tuple(pieces)


def joined(pieces: Sequence[Piece]) -> bytes:
    """The whole body."""
    return b"".join(piece.data for piece in pieces)
