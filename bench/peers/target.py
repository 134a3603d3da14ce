"""The figures to reach, each with what was seen beside it; nothing here decides an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from peers.contender import LLAMA_BF16, OPENVINO_F16, OURS
from peers.roof_table import decode_share, products_share
from peers.roofline import Roofline
from peers.rounds import Level
from peers.spread import Spread, ratio
from peers.table import markdown, missing

# Peer, requests in flight, and how many times its tokens/s ours should give.
RATIOS = (
    (LLAMA_BF16, 1, 1.0),
    (LLAMA_BF16, 8, 2.0),
    (LLAMA_BF16, 16, 2.0),
    (OPENVINO_F16, 1, 1.5),
    (OPENVINO_F16, 8, 1.5),
    (OPENVINO_F16, 16, 1.5),
)
ROOF_SHARE = 0.7

Row = tuple[str, str, str, str]


def targets(levels: Mapping[int, Level], roofline: Roofline | str) -> str:
    """Every target as a row; `roofline` may be the reason why there is none."""
    rows = [_ratio_row(levels.get(in_flight), peer, in_flight, times) for peer, in_flight, times in RATIOS]
    return markdown(("figure", "to reach", "seen", "reached"), [*rows, *_roof_rows(roofline)])


def _ratio_row(level: Level | None, peer: str, in_flight: int, times: float) -> Row:
    name = f"{OURS} over {peer}, {in_flight} in flight"
    lacking = next((side for side in (OURS, peer) if level and not level.rates.get(side)), None)
    if level is None:
        return _row(name, f"{times}x", f"not measured: {in_flight} in flight was not asked")
    if lacking:
        return _row(name, f"{times}x", f"{lacking} {missing(lacking, level)}")
    return _row(name, f"{times}x", ratio(level.rates[OURS], level.rates[peer]), times, "{:.2f}x")


def _roof_rows(roofline: Roofline | str) -> Iterator[Row]:
    figures: tuple[tuple[str, Callable[[Roofline], Spread]], ...] = (
        ("decode at 1 row, of memory bandwidth", lambda roofline: decode_share(roofline, 1)),
        ("products at 128 rows, of peak multiply-adds", lambda roofline: products_share(roofline, 128)),
    )
    for name, share in figures:
        seen = f"not measured: {roofline}" if isinstance(roofline, str) else share(roofline)
        yield _row(name, f"{ROOF_SHARE:.0%}", seen, ROOF_SHARE, "{:.0%}")


def _row(name: str, to_reach: str, seen: Spread | str, least: float = 0.0, form: str = "") -> Row:
    if isinstance(seen, str):
        return (name, f">= {to_reach}", seen, "")
    return (name, f">= {to_reach}", seen.text(form), "yes" if seen.middle >= least else "no")
