"""Times a streamed answer of the openai-chat dialect: its text, its token counts, and when its tokens came.

An event counts from the moment at which it was complete. It reads any bytes without raising; what is no streamed
answer is a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temp0.core.run import Failure, Usage
from temp0.probe.dialect.dialect import UNREADABLE, malformed
from temp0.probe.dialect.openai_chat import OPENAI_CHAT
from temp0.probe.dialect.openai_chat_stream import PartialChat
from temp0.probe.dialect.reason import MALFORMED, excerpt
from temp0.probe.event_stream import EventReader
from temp0.probe.stream import Piece, joined


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedAnswer:
    """A whole answer. `first_s` and `last_s` are seconds from sending the request.

    The first token is the first event with something to read in it, text or reasoning; the last one comes with the
    event that says that the answer ended, since the last tokens may have no text. `events` counts those with
    something to read, which is what is left to count where `usage` tells nothing.
    """

    text: str
    first_s: float
    last_s: float
    events: int
    usage: Usage


def streamed_answer(pieces: Sequence[Piece]) -> StreamedAnswer | Failure:
    """The answer that came in these pieces, or the failure that it is."""
    reader, answer = EventReader(), PartialChat()
    seen, first_s, last_s = 0, None, 0.0
    for piece in pieces:
        for event in reader.feed(piece.data):
            seen += 1
            last_s = last_s if answer.is_whole else piece.at_s
            try:
                answer.add(event)
            except UNREADABLE as error:
                return malformed(error)
            first_s = piece.at_s if first_s is None and answer.pieces else first_s
    if not seen:
        return _unstreamed(pieces)
    completion = OPENAI_CHAT.gathered(answer)
    if isinstance(completion, Failure):
        return completion
    return StreamedAnswer(
        text=completion.text,
        first_s=last_s if first_s is None else first_s,
        last_s=last_s,
        events=answer.pieces,
        usage=completion.usage,
    )


def _unstreamed(pieces: Sequence[Piece]) -> Failure:
    seen = excerpt(joined(pieces).decode("utf-8", "replace")) or "nothing"
    return Failure(reason=MALFORMED, message=f"a streamed answer was asked for, and no event came but: {seen}")
