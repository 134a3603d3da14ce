"""Values nested as deep as can just be read, or just no more: each depth is a completion or a failure."""

from __future__ import annotations

import pytest
from reading import record, unsound
from target import spoken

DEPTHS = range(930, 1000, 3)  # where a value can be read and no longer be written, or the other way round
VALUES = {"lists": (b"[", b"]"), "objects": (b'{"error":', b"}")}
PLACES = {
    "error": b'{"error":%s}',
    "opening": b'{"type":"message_start","message":%s}',
    "text": b'{"text":%s,"content":%s,"response":%s}',
    "delta": b'{"choices":[{"delta":{"content":%s}}]}',
    "error in a choice": b'{"choices":[{"error":%s}]}',
    "item": b'{"type":"response.output_item.done","item":%s}',
    "block": b'{"type":"content_block_start","index":0,"content_block":{"text":%s}}',
    "message": b'{"message":%s}',
}


@pytest.mark.parametrize("kind", VALUES)
def test_no_depth_is_too_deep_for_a_failure(kind: str):
    opening, closing = VALUES[kind]
    for dialect in spoken().values():
        for template in PLACES.values():
            for depth in DEPTHS:
                document = template.replace(b"%s", opening * depth + b"0" + closing * depth)
                for body in (document, b"data: " + document + b"\n\n", document + b"\n" + document):
                    assert [*unsound(record(dialect, [body]))] == []
