"""How often an answer wakes the event loop, which shares its cores with the threads that calculate."""

from __future__ import annotations

import asyncio

import pytest
from scripted_engine import ScriptedEngine

from temp0.engine.request import Request
from temp0.engine.server.generation import generation
from temp0.engine.server.inquiry import Inquiry
from temp0.engine.server.metrics import Outcomes
from temp0.engine.server.service import Service


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts how often another thread woke it."""

    wakings = 0

    def call_soon_threadsafe(self, callback, *args, context=None):
        self.wakings += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


async def answer(*, stream=False, stops=()):
    """The answer's text, its tokens, and the wakings that it took."""
    service = Service(
        engine=ScriptedEngine(),
        outcomes=Outcomes(),
        default_max_tokens=9,
        started=0,
        new_id=lambda: "id1",
        clock=lambda: 0.0,
    )
    inquiry = Inquiry(request=Request(tokens=(1,), max_tokens=9), stops=stops, stream=stream)
    async with generation(service, inquiry) as making:
        piece = await making.whole()
        return piece.text, making.emitted, asyncio.get_running_loop().wakings


@pytest.mark.parametrize(("fields", "wakings"), [({}, 1), ({"stream": True}, 5), ({"stops": ("?",)}, 5)])
def test_an_answer_wakes_the_event_loop_once_unless_each_token_is_awaited(fields, wakings):
    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        assert runner.run(answer(**fields)) == ("Hello there!", 5, wakings)
