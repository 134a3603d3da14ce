"""Values nested as deep as can just be read, or just no more: each depth is a completion or a failure."""

from __future__ import annotations

import pytest
from reading import record, unsound
from target import spoken

SPOKEN = spoken()
DEPTHS = range(310, 1000, 5)
VALUES = {"lists": (b"[", b"]"), "objects": (b'{"error":', b"}")}
PLACES = {
    "error": b'{"error":%s}',
    "type": b'{"type":"message_start","message":%s}',
    "text": b'{"text":%s,"content":%s,"response":%s}',
    "delta": b'{"choices":[{"delta":{"content":%s}}]}',
    "item": b'{"type":"response.output_item.done","item":%s}',
    "error in a choice": b'{"choices":[{"error":%s}]}',
    "block": b'{"type":"content_block_start","index":0,"content_block":{"text":%s}}',
    "message": b'{"message":%s}',
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", SPOKEN)
def test_no_depth_is_too_deep_for_a_failure(name: str, kind: str):
    opening, closing = VALUES[kind]
    for place, template in PLACES.items():
        for depth in DEPTHS:
            body = template.replace(b"%s", opening * depth + b"0" + closing * depth)
            for content, content_type in (
                (body, "application/json"),
                (b"data: " + body + b"\n\n", "text/event-stream"),
            ):
                outcome = record(SPOKEN[name], [content], content_type)
                assert [*unsound(outcome)] == [], (place, depth)
