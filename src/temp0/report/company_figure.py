"""Equal pairs against company: each level that was asked, its 95 % interval, and how many different texts came.

Only levels with completions are drawn, and only where all else is equal between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from temp0.core.analysis import ConditionAnalysis, PromptAnalysis
from temp0.report.figure import company, interval, some
from temp0.report.ladder import by_company, setting_name
from temp0.report.plot import INK, SERIES, SOFT, chart, label, share_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SERIES, _MOST_NAMED = 2, 5
_APART = 0.07
_PLAIN = "the same otherwise"

Series = tuple[str, tuple[ConditionAnalysis, ...]]


def series(prompt: PromptAnalysis) -> tuple[Series, ...]:
    """Conditions that differ in company alone, at two levels or more; none where one text is all there is."""
    if prompt.distinct.text < 2:
        return ()
    known = {one.name: one for one in prompt.conditions if one.completions}
    groups = by_company([one.condition for one in prompt.conditions if one.name in known])
    found = [(setting_name(group[-1]), tuple(known[one.name] for one in group)) for group in groups]
    return tuple(one for one in found if len({level.company.asked for level in one[1]}) > 1)


def company_figure(prompt: PromptAnalysis) -> Markup | None:
    """The levels, drawn; `None` where company was not varied."""
    found = series(prompt)[:_MOST_SERIES]
    if not found:
        return None
    levels = sorted({one.company.asked for _, own in found for one in own})
    is_roomy = len(levels) <= _MOST_NAMED

    def draw(axes: Axes) -> None:
        share_axis(axes)
        names = [f"company {level}" if is_roomy else f"{level:,}" for level in levels]
        axes.set_xticks(range(len(levels)), ["alone" if levels[0] == 1 else names[0], *names[1:]])
        axes.set(xlim=(-0.5, len(levels) - 0.5), xlabel="" if is_roomy else "company")
        axes.tick_params(axis="x", labelcolor=INK, length=0)
        for number, (name, own) in enumerate(found):
            axes.plot([], [], "os"[number], color=SERIES[number], markersize=8, label=label(name or _PLAIN, 24))
            side = 2 * number - 1 if len(found) > 1 else 0
            for one in own:
                _level(axes, levels.index(one.company.asked) + side * _APART, one, number, side)
        if len(found) > 1:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
        elif is_roomy:
            below: dict[str, Any] = {"textcoords": "offset points", "xycoords": axes.get_xaxis_transform()}
            axes.annotate("reached ", (-0.5, 0), (0, -30), color=SOFT, ha="right", **below)
            for one in found[0][1]:
                if one.company.asked > 1:
                    place = levels.index(one.company.asked), 0
                    axes.annotate(company(one.company), place, (0, -30), color=SOFT, ha="center", **below)

    return chart("Equal pairs by company. " + " ".join(_words(one) for _, own in found for one in own), draw)


def _level(axes: Axes, x: float, one: ConditionAnalysis, number: int, side: int) -> None:
    """A point with its interval, and how many texts came: at its left where `side` is -1."""
    if (estimate := one.agreement) is None:
        return
    if estimate.low is not None:
        high = estimate.value if estimate.high is None else estimate.high
        middle, half = (estimate.low + high) / 2, abs(high - estimate.low) / 2
        axes.errorbar(x, middle, half, fmt="none", ecolor=SERIES[number], capsize=4, capthick=1.5)
    axes.plot(x, estimate.value, "os"[number], color=SERIES[number], markersize=8)
    told, place = some(one.distinct.text, "text"), (x, estimate.value)
    axes.annotate(told, place, (9 * (side or 1), 5), textcoords="offset points", ha="right" if side < 0 else "left")


def _words(one: ConditionAnalysis) -> str:
    return f"{one.name}: {interval(one.agreement)}, {some(one.distinct.text, 'text')} in {one.completions:,}."
