"""How many answers are still equal, character by character: the share of pairs that no fork has parted yet.

Taken from the fork tree's counts alone; where a curve ends is the share of equal pairs in the conditions table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from temp0.core.analysis import ForkTree, PromptAnalysis, Verdict
from temp0.report.contrast import contrasts
from temp0.report.figure import every, percent, some
from temp0.report.plot import DASHES, SERIES, chart, count_axis, label, share_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Pairs of one condition or between two: from each `char` on, the share whose texts are equal up to and with it."""

    name: str
    pairs: int
    steps: tuple[tuple[int, float], ...]

    @property
    def end(self) -> float:
        """The share of pairs that are equal to their end."""
        return self.steps[-1][1] if self.steps else 1.0


def survival(prompt: PromptAnalysis) -> tuple[Curve, ...]:
    """A curve for each condition with two completions or more, those without logprobs, or one for all, where many.

    One more for the pairs between the two conditions that part most surely, where there is room. None where answers
    never fork.
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
    own = {name: {sha256: told.get(name, 0) for sha256, told in counts.items()} for name in named}
    apart_most = [pair for pair in contrasts(prompt).shown if {pair.a, pair.b} <= set(named)]
    across = [
        _across(f"{pair.a} \N{MULTIPLICATION SIGN} {pair.b}", prompt.tree, own[pair.a], own[pair.b])
        for pair in apart_most
        if pair.verdict is Verdict.DIVERGED
    ]
    return (*(_curve(name, prompt.tree, own[name]) for name in named), *across[: min(1, _MOST - len(named))])


def _across(name: str, tree: ForkTree, ours: Mapping[str, int], theirs: Mapping[str, int]) -> Curve:
    """Of N times M pairs, a fork into branches of n_i and m_i parts N' M' - sum n_i m_i."""
    pairs = sum(ours.values()) * sum(theirs.values())
    parted = Counter[int]()
    for fork in tree.forks():
        sizes = [
            (sum(ours[sha256] for sha256 in branch.sha256), sum(theirs[sha256] for sha256 in branch.sha256))
            for branch in fork.branches
        ]
        parted[fork.char] += sum(a for a, _ in sizes) * sum(b for _, b in sizes) - sum(a * b for a, b in sizes)
    return Curve(name=name, pairs=pairs, steps=_steps(pairs, parted))


def _curve(name: str, tree: ForkTree, counts: Mapping[str, int]) -> Curve:
    """Of N completions, a fork into branches of n_i parts (N'^2 - sum n_i^2) / 2 pairs, where N' came so far."""
    total = sum(counts.values())
    parted = Counter[int]()
    for fork in tree.forks():
        sizes = [sum(counts[sha256] for sha256 in branch.sha256) for branch in fork.branches]
        parted[fork.char] += sum(sizes) ** 2 - sum(size**2 for size in sizes)
    ordered = total * (total - 1)
    return Curve(name=name, pairs=ordered // 2, steps=_steps(ordered, parted))


def _steps(pairs: int, parted: Mapping[int, int]) -> tuple[tuple[int, float], ...]:
    """The share of the pairs that is left after each character at which some part."""
    left, steps = pairs, []
    for char in sorted(char for char, gone in parted.items() if gone):
        left -= parted[char]
        steps.append((char, left / pairs))
    return tuple(steps)


def survival_figure(prompt: PromptAnalysis) -> Markup | None:
    """The curves, drawn; `None` where the prompt has none."""
    curves = survival(prompt)
    if not curves:
        return None
    longest = max(len(text.text) for text in prompt.texts)

    def draw(axes: Axes) -> None:
        for place, curve in sorted(enumerate(curves), key=lambda told: -told[1].end):
            chars, shares = zip((0, 1.0), *curve.steps, (longest, curve.end), strict=True)
            axes.step(chars, shares, where="post", color=SERIES[place], linestyle=DASHES[place], linewidth=2)
            axes.lines[-1].set_label(f"{percent(curve.end)} {label(curve.name, 18)}")
        share_axis(axes)
        count_axis(axes, "character of the answer", longest)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    return chart("Pairs still equal. " + " ".join(map(_words, curves)), draw)


def _words(curve: Curve) -> str:
    first = f", the first pair parts at character {curve.steps[0][0]:,}" if curve.steps else ""
    return f"{curve.name}: {percent(curve.end)} of {some(curve.pairs, 'pair')} to the end{first}."
