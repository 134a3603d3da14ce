"""How many answers are still equal, character by character: the share of pairs that no fork has parted yet.

Taken from the fork tree's counts alone; where a curve ends is the share of equal pairs in the conditions table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from temp0.core.analysis import ForkTree, PromptAnalysis
from temp0.report.figure import every, percent
from temp0.report.plot import Scale, apart, count_axis, drawn, label, mark, share_axis, sheet, write

_MOST = 5
_HEIGHT = 210.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 340.0, 12.0, 166.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The pairs of one condition: from each `char` on, the share of them whose texts are equal up to and with it."""

    name: str
    completions: int
    steps: tuple[tuple[int, float], ...]

    @property
    def end(self) -> float:
        """The share of pairs that are equal to their end."""
        return self.steps[-1][1] if self.steps else 1.0


def survival(prompt: PromptAnalysis) -> tuple[Curve, ...]:
    """A curve for each condition with two completions or more, those without logprobs, or one for all, where many.

    None where answers never fork.
    """
    if prompt.tree is None or prompt.tree.fork is None:
        return ()
    asked = [one for one in prompt.conditions if one.completions > 1]
    plain = [one for one in asked if not one.condition.logprobs]
    named = [one.name for one in (asked if len(asked) <= _MOST else plain)]
    if not 0 < len(named) <= _MOST:
        everything = {text.sha256: text.count for text in prompt.texts}
        return (_curve(every(len(asked), "condition"), prompt.tree, everything),)
    counts = {text.sha256: dict(text.conditions) for text in prompt.texts}
    return tuple(
        _curve(name, prompt.tree, {sha256: own.get(name, 0) for sha256, own in counts.items()}) for name in named
    )


def _curve(name: str, tree: ForkTree, counts: Mapping[str, int]) -> Curve:
    """Of N completions, a fork into branches of n_i parts (N'^2 - sum n_i^2) / 2 pairs, where N' came so far."""
    total = sum(counts.values())
    parted = Counter[int]()
    for fork in tree.forks():
        sizes = [sum(counts[sha256] for sha256 in branch.sha256) for branch in fork.branches]
        parted[fork.char] += sum(sizes) ** 2 - sum(size**2 for size in sizes)
    left, steps = total * (total - 1), []
    for char in sorted(char for char, pairs in parted.items() if pairs):
        left -= parted[char]
        steps.append((char, left / (total * (total - 1))))
    return Curve(name=name, completions=total, steps=tuple(steps))


def survival_figure(prompt: PromptAnalysis) -> Markup | None:
    """The curves, drawn; `None` where the prompt has none."""
    curves = survival(prompt)
    if not curves:
        return None
    longest = max(len(text.text) for text in prompt.texts)
    x, y = Scale(low=0, high=longest, start=_LEFT, end=_RIGHT), Scale(low=0, high=1, start=_BOTTOM, end=_TOP)
    svg = sheet("Pairs still equal. " + " ".join(map(_words, curves)), _HEIGHT)
    share_axis(svg, y, _LEFT, _RIGHT)
    count_axis(svg, x, _BOTTOM, "character of the answer")
    heights = apart([y.at(curve.end) + 4 for curve in curves], _TOP + 4, _BOTTOM + 4)
    for place, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        path, now = f"M{x.start:.1f} {y.at(1):.1f}", 1.0
        for char, share in curve.steps:
            path += f"H{x.at(char):.1f}V{y.at(share):.1f}"
            now = share
        mark(svg, "path", f"curve s{place} d{place}", d=f"{path}H{x.end:.1f}")
        name = f"{percent(now)} {label(curve.name, 18)}"
        write(svg, _RIGHT + 8, height, name, "name")
        mark(
            svg,
            "path",
            f"curve s{place} d{place}",
            d=f"M{_RIGHT:.1f} {y.at(now):.1f}L{_RIGHT + 6:.1f} {height - 4:.1f}",
        )
    return drawn(svg)


def _words(curve: Curve) -> str:
    first = f", the first pair parts at character {curve.steps[0][0]:,}" if curve.steps else ""
    return f"{curve.name}: {percent(curve.end)} of the pairs of {curve.completions:,} completions to the end{first}."
