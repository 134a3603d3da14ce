"""The share of forks by margin as a static SVG: a point and its interval for each bin and format of activations."""

from __future__ import annotations

from io import StringIO

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from junction.table import Seen, interval, margin_bins, range_of

_COLOURS = ("#0b6e99", "#b4540a", "#5b5b5b")
_TITLE = "Share of positions at which company left the answer, by the lead of the likeliest token"
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "junctions", "font.size": 9, "font.family": "sans-serif"}


def svg(seen: Seen) -> str:
    """The picture; its title says in words what it shows."""
    sides = {name: margin_bins(side) for name, side in seen.items()}
    places = [at for at, same in enumerate(zip(*sides.values(), strict=True)) if any(one.positions for one in same)]
    names = [range_of(next(iter(sides.values()))[at]) for at in places]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        axes = figure.subplots()
        for number, (name, columns) in enumerate(sides.items()):
            told = [(x, columns[at]) for x, at in enumerate(places) if columns[at].positions]
            shares = [one.forks / one.positions for _, one in told]
            ends = [interval(one.forks, one.positions) for _, one in told]
            axes.errorbar(
                [x + 0.2 * (number - (len(sides) - 1) / 2) for x, _ in told],
                shares,
                yerr=[
                    [share - low for share, (low, _) in zip(shares, ends, strict=True)],
                    [high - share for share, (_, high) in zip(shares, ends, strict=True)],
                ],
                fmt="os^"[number],
                color=_COLOURS[number],
                clip_on=False,
                label=f"{name} activations",
            )
        axes.set_title(_TITLE, loc="left", fontsize=10)
        axes.set_xticks(range(len(places)), names)
        axes.set_xlabel("lead (nats)")
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.grid(axis="y", color="#dddddd")
        axes.spines[["left", "top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Title": _TITLE})
    return written.getvalue()
