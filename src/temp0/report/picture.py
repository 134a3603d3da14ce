"""The fork tree as a picture: where each line of flow runs, and the row of text at its end.

A line is as thick as its share of the completions. The commonest text keeps to the top row and runs straight; all
others leave it downwards. Lengths are CSS pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from temp0.core.analysis import Finish, ForkTree, PromptAnalysis
from temp0.report.outline import Limb, Outline, outline
from temp0.report.visible import ELLIPSIS, beginning, ending, visible

ROW = 76
_TRUNK = 46
_LEAF = 26
_WIDEST_STEP, _NARROWEST_STEP, _STEPS = 64, 30, 210
_THICKEST, _THINNEST = 34.0, 2.0
_PASSED, _SHOWN = 56, 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One line of the picture as an SVG path; `is_mode` where it leads to the commonest text."""

    path: str
    thickness: float
    is_mode: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A fork in the picture, with its character position as label."""

    x: float
    top: float
    bottom: float
    char: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a row's text; `passed` belongs to a fork further left, shared with other rows."""

    text: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The end of a line: how many completions, of which texts and conditions, and what they say from the fork on."""

    count: int
    sha256: tuple[str, ...]
    conditions: tuple[tuple[str, int], ...]
    pieces: tuple[Piece, ...]
    is_end: bool
    finishes: tuple[Finish, ...]
    folded: bool
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Everything the template draws."""

    width: int
    height: int
    total: int
    flows: tuple[Flow, ...]
    joints: tuple[Joint, ...]
    rows: tuple[Row, ...]


def picture(prompt: PromptAnalysis) -> Picture | None:
    """The picture of a prompt's fork tree, or `None` where its completions never part."""
    if prompt.tree is None or prompt.tree.fork is None:
        return None
    shown = outline(prompt.tree.fork, prompt.tree.text)
    return _Pen(prompt, prompt.tree, _step(shown)).drawn(shown)


def _step(shown: Outline) -> float:
    """How far apart forks stand, so that deep trees stay narrow."""
    return max(_NARROWEST_STEP, min(_WIDEST_STEP, _STEPS / _depth(shown)))


def _depth(shown: Outline) -> int:
    return 1 + max((_depth(limb.fork) for limb in shown.limbs if limb.fork), default=0)


class _Pen:
    """Draws one tree from the top row down."""

    def __init__(self, prompt: PromptAnalysis, tree: ForkTree, step: float) -> None:
        self._counts = {text.sha256: text.conditions for text in prompt.texts}
        self._total = tree.count
        self._step = step
        self._width = 0.0
        self._flows: list[Flow] = []
        self._joints: list[Joint] = []
        self._rows: list[Row] = []

    def drawn(self, shown: Outline) -> Picture:
        self._width = _TRUNK + (_depth(shown) - 1) * self._step + self._step / 2 + _LEAF
        top = ROW / 2 - self._first_leaf(shown) / 2
        self._line(0, top, _TRUNK, top, self._thickness(shown), is_mode=True)
        self._fork(shown, _TRUNK, top, (), is_mode=True)
        return Picture(
            width=round(self._width),
            height=ROW * len(self._rows),
            total=self._total,
            flows=tuple(sorted(self._flows, key=lambda flow: (flow.is_mode, -flow.thickness))),
            joints=tuple(self._joints),
            rows=tuple(self._rows),
        )

    def _fork(self, shown: Outline, x: float, top: float, passed: tuple[Piece, ...], *, is_mode: bool) -> None:
        """Draws what leaves a fork at `x`, whose incoming line has its upper edge at `top`."""
        self._joints.append(Joint(x=x, top=top, bottom=top + self._thickness(shown), char=shown.fork.char))
        leaving = top
        for index, limb in enumerate(shown.limbs):
            goes_straight = is_mode and index == 0
            thickness = self._limb_thickness(limb)
            arriving = self._next_top(limb.fork, thickness)
            end = x + self._step if limb.fork else self._width
            self._line(x, leaving, end, arriving, thickness, is_mode=goes_straight)
            leaving += thickness
            if limb.fork:
                self._fork(limb.fork, end, arriving, passed + _passed(limb), is_mode=goes_straight)
            else:
                self._rows.append(self._row(limb, passed))
        if shown.others:
            thickness = self._leaf(shown.others_count)
            self._line(x, leaving, self._width, self._next_top(None, thickness), thickness, is_mode=False)
            self._rows.append(_others(shown))

    def _line(self, x: float, top: float, end: float, end_top: float, thickness: float, *, is_mode: bool) -> None:
        start_y, end_y, bend = top + thickness / 2, end_top + thickness / 2, self._step * 0.8
        curve = ""
        if abs(start_y - end_y) > 0.01:
            curve = f"C{x + bend:.1f} {start_y:.1f} {x:.1f} {end_y:.1f} {x + bend:.1f} {end_y:.1f}"
        path = f"M{x:.1f} {start_y:.1f}{curve}H{end:.1f}"
        self._flows.append(Flow(path=path, thickness=round(thickness, 1), is_mode=is_mode))

    def _next_top(self, fork: Outline | None, thickness: float) -> float:
        """The upper edge of a line that leads to the next free row."""
        first = self._first_leaf(fork) if fork else thickness
        return (len(self._rows) + 0.5) * ROW - first / 2

    def _first_leaf(self, shown: Outline) -> float:
        first = shown.limbs[0]
        return self._first_leaf(first.fork) if first.fork else self._leaf(first.count)

    def _thickness(self, shown: Outline) -> float:
        others = self._leaf(shown.others_count) if shown.others else 0.0
        return sum(map(self._limb_thickness, shown.limbs)) + others

    def _limb_thickness(self, limb: Limb) -> float:
        return self._thickness(limb.fork) if limb.fork else self._leaf(limb.count)

    def _leaf(self, count: int) -> float:
        return max(_THINNEST, _THICKEST * count / self._total)

    def _row(self, limb: Limb, passed: tuple[Piece, ...]) -> Row:
        counts = Counter[str]()
        for sha256 in limb.sha256:
            counts.update(dict(self._counts[sha256]))
        return Row(
            count=limb.count,
            sha256=limb.sha256,
            conditions=tuple(counts.items()),
            pieces=passed + tuple(_own(limb)),
            is_end=limb.is_end,
            finishes=limb.finishes,
            folded=limb.folded,
            others=0,
        )


def _others(shown: Outline) -> Row:
    return Row(
        count=shown.others_count,
        sha256=(),
        conditions=(),
        pieces=(),
        is_end=False,
        finishes=(),
        folded=False,
        others=shown.others,
    )


def _passed(limb: Limb) -> tuple[Piece, ...]:
    """A branch further left in short: the word at its fork, and the beginning and end of what follows.

    What the words of the next fork repeat is left to them.
    """
    turned, *others = limb.spans
    rest = "".join(span.text for span in others)
    if len(rest) > _PASSED:
        first, last = beginning(rest, _PASSED // 2), ending(rest, _PASSED // 2)
        rest = f"{first.removesuffix(ELLIPSIS)} {ELLIPSIS} {last.removeprefix(ELLIPSIS)}"
    else:
        rest = visible(rest)
    turn = beginning(turned.text[: len(turned.text) - limb.repeated], _PASSED)
    pieces = Piece(text=turn, mark="turn"), Piece(text=rest, mark="passed")
    return tuple(piece for piece in pieces if piece.text)


def _own(limb: Limb) -> Iterator[Piece]:
    room = _SHOWN
    for span in limb.spans:
        if room <= 0:
            return
        text = beginning(span.text, room)
        room -= len(text)
        if text:
            yield Piece(text=text.replace(" ", "␣") if span.mark == "fork" else text, mark=span.mark)


def shared(text: str, limit: int = 420) -> str:
    """The text before a fork, its middle left out where it is long; its end, next to the fork, is what matters."""
    if len(text) <= limit:
        return visible(text)
    return f"{beginning(text, limit // 3)} {ending(text, 2 * limit // 3).removeprefix(ELLIPSIS)}"
