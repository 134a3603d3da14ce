"""What an answer comes in: its id, its time, the fingerprint and model it names, and its headers.

Each is drawn from a stream of its own, so that none can line up with a text unless it names the replica that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from simulation.server import Request

CREATED = 1_750_000_000
"""When the simulated runs begin, as Unix time."""

Ids = Literal["unique", "constant", "missing"]
Created = Literal["seconds", "constant", "missing"]
Sign = Literal["null", "empty", "constant", "replica", "chance"]
Header = Literal["request-id", "replica", "chance", "timing", "countdown", "miss", "limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The fields of a completion beside its text."""

    id: str | None
    created: int | None
    fingerprint: str | None
    model: str
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """How an endpoint fills them: `replica` names the machine that answered, `chance` one of three by lot."""

    ids: Ids = "unique"
    created: Created = "seconds"
    fingerprint: Sign = "null"
    model: Literal["constant", "replica"] = "constant"
    headers: tuple[Header, ...] = ()

    def told(self, request: Request, now_s: float, random: Random) -> Told:
        """What comes with the answer to a request that ends now."""
        return Told(
            id={"unique": f"chatcmpl-{random.getrandbits(64):016x}", "constant": "chatcmpl-0", "missing": None}[
                self.ids
            ],
            created={"seconds": CREATED + int(request.began_s), "constant": 1, "missing": None}[self.created],
            fingerprint=self._fingerprint(request, random),
            model=f"model-{request.replica}" if self.model == "replica" else "model",
            headers=tuple(sorted(self._header(kind, request, now_s, random) for kind in self.headers)),
        )

    def _fingerprint(self, request: Request, random: Random) -> str | None:
        by_lot = random.randrange(3)
        return {
            "null": None,
            "empty": "",
            "constant": "fp_44709d6fcb",
            "replica": f"fp_{request.replica:04x}",
            "chance": f"fp_{by_lot:04x}",
        }[self.fingerprint]

    def _header(self, kind: Header, request: Request, now_s: float, random: Random) -> tuple[str, str]:
        by_lot = random.randrange(3)
        return {
            "request-id": ("x-request-id", f"{random.getrandbits(64):016x}"),
            "replica": ("x-served-by", f"node-{request.replica}"),
            "chance": ("x-worker-id", f"{by_lot}"),
            "timing": ("x-process-time", f"{now_s - request.began_s:.3f}"),
            "countdown": ("x-ratelimit-remaining-requests", f"{10_000 - request.order}"),
            "limits": ("x-ratelimit-limit-requests", "10000"),
            "miss": ("x-cache", "MISS"),
        }[kind]


PLAIN = Envelope()

ORDINARY = (
    PLAIN,
    Envelope(fingerprint="replica", headers=("request-id",)),
    Envelope(model="replica", headers=("replica", "timing", "miss")),
    Envelope(fingerprint="constant", headers=("request-id", "timing")),
    Envelope(fingerprint="chance", headers=("request-id", "countdown", "limits")),
    Envelope(ids="constant", created="missing", headers=("chance",)),
    Envelope(ids="missing", created="constant", fingerprint="empty"),
    Envelope(ids="constant", created="seconds", fingerprint="constant"),
    Envelope(ids="missing", created="missing", headers=("miss", "timing")),
    Envelope(ids="unique", created="constant", fingerprint="chance", headers=("chance", "miss")),
)
"""What endpoints of chance answer in, one for each run; a replica that it tells has nothing to do with the texts."""
