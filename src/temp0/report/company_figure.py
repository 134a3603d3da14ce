"""Equal pairs against company: each level that was asked, its 95 % interval, and how many different texts came.

Only levels with completions are drawn, and only where all else is equal between them.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from markupsafe import Markup

from temp0.core.analysis import ConditionAnalysis, PromptAnalysis
from temp0.report.figure import company, interval, some
from temp0.report.ladder import by_company, setting_name
from temp0.report.plot import Scale, drawn, label, mark, share_axis, sheet, write

_MOST_SERIES, _MOST_NAMED = 2, 5
_HEIGHT = 210.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 464.0, 26.0, 158.0
_APART = 14.0
_SHAPES = ("M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0", "M-4-4h8v8h-8z")

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
    x = Scale(low=-0.5, high=len(levels) - 0.5, start=_LEFT, end=_RIGHT)
    y = Scale(low=0, high=1, start=_BOTTOM, end=_TOP)
    svg = sheet("Equal pairs by company. " + " ".join(_words(one) for _, own in found for one in own), _HEIGHT)
    share_axis(svg, y, _LEFT, _RIGHT)
    for number, level in enumerate(levels):
        write(svg, x.at(number), _BOTTOM + 18, "alone" if level == 1 else f"company {level}", "name", anchor="middle")
    for number, (name, own) in enumerate(found):
        shift = _APART * (number - (len(found) - 1) / 2)
        for one in own:
            at = x.at(levels.index(one.company.asked)) + shift
            _level(svg, one, at, y, number)
            _texts(svg, one, at, y, is_left=number == 0 and len(found) > 1)
        if len(found) > 1:
            _key(svg, number, label(name or "the same otherwise", 24))
    if len(found) == 1 and len(levels) <= _MOST_NAMED:
        for one in found[0][1]:
            reached = company(one.company)
            if one.company.asked > 1:
                place = x.at(levels.index(one.company.asked))
                write(
                    svg, place, _BOTTOM + 34, f"reached {reached}".replace("reached not", "not"), "dim", anchor="middle"
                )
    return drawn(svg)


def _level(svg: Element, one: ConditionAnalysis, x: float, y: Scale, number: int) -> None:
    estimate = one.agreement
    if estimate is None:
        return
    high = estimate.value if estimate.high is None else estimate.high
    if estimate.low is not None:
        ends = f"M{x - 4:.1f} {y.at(high):.1f}h8m-4 0V{y.at(estimate.low):.1f}m-4 0h8"
        mark(svg, "path", f"whisker s{number}", d=ends)
    at = y.at(estimate.value)
    mark(svg, "path", f"point f{number}", d=_SHAPES[number], transform=f"translate({x:.1f} {at:.1f})")


def _texts(svg: Element, one: ConditionAnalysis, x: float, y: Scale, *, is_left: bool) -> None:
    """How many texts came, beside the point."""
    if one.agreement is not None:
        at = y.at(one.agreement.value) - 6
        write(
            svg,
            x - 9 if is_left else x + 9,
            at,
            some(one.distinct.text, "text"),
            "name",
            anchor="end" if is_left else "start",
        )


def _key(svg: Element, number: int, name: str) -> None:
    x = _LEFT + 140 * number
    mark(svg, "path", f"point f{number}", d=_SHAPES[number], transform=f"translate({x + 6:.1f} {_BOTTOM + 36:.1f})")
    write(svg, x + 16, _BOTTOM + 40, name, "dim")


def _words(one: ConditionAnalysis) -> str:
    return f"{one.name}: {interval(one.agreement)}, {some(one.distinct.text, 'text')} in {one.completions:,}."
