"""What matplotlib draws becomes part of a page: its colours, no ids, equal bytes, and not a word to the user."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from temp0.report.plot import OTHER, SERIES, chart, count_axis, label, share_axis

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
RUN = "10a4205ce1be"
HOSTILE = "$x_1$ _hidden 東京 مرحبا \N{FAMILY} </svg><script>"


def sample(axes) -> None:
    axes.plot([0, 4000], [0, 1], "o--", color=SERIES[0])
    axes.hlines([0.5, 0.5], [0, 2000], [1000, 3000], color=OTHER, linewidth=5)
    axes.text(10, 0.5, HOSTILE)
    axes.legend(axes.lines, ["_a name that begins with a low line"])
    share_axis(axes)
    count_axis(axes, "character", 4000)


def test_a_chart_has_its_words_the_colours_of_the_page_and_nothing_that_refers() -> None:
    svg = chart("What it <shows>.", sample)
    tree = fromstring(svg)

    assert tree.attrib == {"class": "plot", "viewBox": "0 0 440 210", "role": "img", "aria-label": "What it <shows>."}
    assert {one.tag for one in tree} == {"path", "text"}
    assert all(one.attrib["d"] for one in tree.findall("path"))
    assert not re.search(r"id=|href|url\(|style=|#[0-9a-f]{6}|font", svg)
    assert {"var(--c0)", "var(--other)", "var(--line)"} <= {one.get("stroke") for one in tree}


def test_strangers_text_and_names_with_a_low_line_stay_as_they_are() -> None:
    told = [one.text for one in fromstring(chart("Words.", sample)).findall("text")]

    assert HOSTILE in told
    assert told[-1] == "_a name that begins with a low line"
    assert "<script" not in chart("Words.", sample)


def test_shares_and_whole_numbers_are_few_and_round() -> None:
    told = [one.text for one in fromstring(chart("Words.", sample)).findall("text")]

    assert [one for one in told if one and one.endswith("%")] == ["0\u00a0%", "50\u00a0%", "100\u00a0%"]
    assert [one for one in told if one and re.fullmatch(r"[\d,]+", one)] == ["0", "1,000", "2,000", "3,000", "4,000"]


def test_what_is_counted_is_never_told_in_parts() -> None:
    svg = chart("Words.", lambda axes: count_axis(axes, "layer", 2))

    told = [one.text for one in fromstring(svg).findall("text") if one.get("text-anchor") == "middle"]
    assert told == ["0", "1", "2", "layer"]


def test_strokes_of_one_kind_are_one_path() -> None:
    (path,) = [one for one in fromstring(chart("Words.", sample)) if one.get("stroke") == "var(--other)"]

    assert path.attrib["d"].count("M") == 2
    assert not re.search(r"\d\.\d\d|\s[ML]", path.attrib["d"])


def test_wide_characters_count_twice_in_a_label() -> None:
    assert label("condition", 18) == "condition"
    assert label("é" * 18, 18) == "é" * 18
    assert label("東" * 18, 18) == "東" * 8 + "…"
    assert label("", 18) == ""


def test_what_matplotlib_may_log_is_as_before_once_a_chart_is_drawn() -> None:
    logger = logging.getLogger("matplotlib")
    level = logger.level
    chart("Words.", sample)

    assert logger.level == level
    with pytest.raises(ZeroDivisionError):
        chart("Words.", lambda axes: 1 / 0)
    assert logger.level == level


def reported(form: str, folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    store = Path(shutil.copy(GALLERY / "runs.db", folder))
    command = ["-m", "temp0", "report", RUN, "--format", form, "--store", str(store), "-o", "-"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MPL", "XDG"))}
    return subprocess.run(
        [sys.executable, *options, *command],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=folder,
        env={**kept, **environment},
    )


@pytest.mark.parametrize(("form", "draws"), [("html", True), ("json", False), ("md", False), ("junit", False)])
def test_matplotlib_is_loaded_only_where_charts_are_drawn(form: str, draws: bool, tmp_path: Path) -> None:
    told = reported(form, tmp_path, "-X", "importtime").stderr

    assert bool(re.search(r"\| +matplotlib$", told, re.MULTILINE)) == draws


def test_a_user_without_a_home_or_with_settings_of_their_own_gets_the_same_page_and_hears_nothing(
    tmp_path: Path,
) -> None:
    plain = reported("html", tmp_path, HOME="/dev/null/nowhere")
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nno.such.setting: 1\nsvg.fonttype: path\n", encoding="utf-8")
    own = reported("html", tmp_path, HOME=str(tmp_path))

    assert plain.stdout == own.stdout
    assert plain.stdout.count('<svg class="plot"') == 4
    assert plain.stderr == own.stderr == ""
