"""Trees drawn as SVG: well formed, whole where small, without crossing lines, and looked at in Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import tree_records as samples
from tree_records import blocks, chain, lanes, pairs, strided, tree_of

from temp0.core.reduction_tree import ReductionTree
from temp0.report.tree_drawing import tree_svg
from temp0.report.tree_group import tree_groups
from temp0.report.tree_sheet import kind_svg, tree_sheet

SVG = "{http://www.w3.org/2000/svg}"
TREES = {
    "pairs": tree_of(pairs(range(8))),
    "lanes": tree_of(strided(lanes(8, 4), 4, 2, 1)),
    "long lanes": samples.LANES,
    "a chain": tree_of(chain(range(30))),
    "nested": tree_of(chain(blocks(18, 32, lambda part: chain([chain(part[::2]), chain(part[1::2])])))),
    "at once": tree_of((tuple(range(5)), 5, 6, 7, 8)),
}
CHROMIUM = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)


def labels(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def segments(svg: str) -> Iterator[tuple[str, float, float, float]]:
    """The lines of the first tree in a picture: direction, fixed coordinate, and from where to where."""
    group = next(ElementTree.fromstring(svg).iter(f"{SVG}g"))
    first = next((inner for inner in group if inner.tag == f"{SVG}g"), group)
    for path in first.iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"[-\d.]+", path.get("d") or "")]
        x, top, low, *end = numbers
        yield "down", x, min(top, low), max(top, low)
        if end:
            yield "across", low, min(x, end[0]), max(x, end[0])


@pytest.mark.parametrize("name", TREES)
def test_lines_of_a_tree_never_cross(name: str) -> None:
    lines = list(segments(tree_svg(TREES[name], name)))
    downs = [line for line in lines if line[0] == "down"]
    crossings = [
        (across, down)
        for across in lines
        if across[0] == "across"
        for down in downs
        if across[2] + 0.2 < down[1] < across[3] - 0.2 and down[2] + 0.2 < across[1] < down[3] - 0.2
    ]
    assert lines
    assert crossings == []


@pytest.mark.parametrize("name", [name for name in TREES if name != "at once"])
def test_no_two_additions_share_a_stretch_of_line(name: str) -> None:
    joined = sorted(line[1:] for line in segments(tree_svg(TREES[name], name)) if line[0] == "across")
    assert all(one[0] != other[0] or one[2] <= other[1] + 0.2 for one, other in pairwise(joined))


def test_a_small_tree_is_drawn_whole() -> None:
    told = labels(tree_svg(TREES["lanes"], "lanes"))
    assert sorted(int(label) for label in told if label.isdigit()) == list(range(32))


def test_a_large_tree_is_folded_into_boxes_and_one_box_is_opened() -> None:
    told = labels(tree_svg(TREES["nested"], "nested"))
    assert "0 … 31" in told
    assert "544 … 575" in told
    assert "inside one box, its 32 summands numbered from 0" in told


def test_every_addition_has_a_joint() -> None:
    def joints(tree: ReductionTree) -> int:
        return len(list(ElementTree.fromstring(tree_svg(tree, "a tree")).iter(f"{SVG}circle")))

    assert joints(TREES["pairs"]) == 7
    assert joints(TREES["at once"]) == 2
    assert joints(tree_of(0)) == 0


def test_the_sheet_says_where_which_tree_was_seen() -> None:
    sheet = tree_sheet(samples.WHOLE)
    told = labels(sheet)
    assert told.count("numpy.matmul, float32, K = 576") == 1
    assert {"A", "B", "AB", "N = 4", "N = 9"} <= set(told)
    assert "N = 4, batch size 5: A has row 4" in told
    assert any(label.startswith("A: 8 lanes of 72") for label in told)
    assert any("no tree: the sum is exact" in label for label in told)
    assert "A <processor> & more" in sheet.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_one_kind_is_a_picture_of_its_own() -> None:
    (group, *_) = tree_groups(samples.WHOLE)
    told = labels(kind_svg(group, group.kinds[1]))
    assert "B: 3 chains of 192, added in order" in told
    assert "0 … 191" in told


@pytest.mark.chromium
@pytest.mark.skipif(CHROMIUM is None, reason="needs headless Chromium")
def test_chromium_draws_the_sheet(tmp_path: Path) -> None:
    page, picture = tmp_path / "trees.svg", tmp_path / "trees.png"
    page.write_text(tree_sheet(samples.WHOLE), encoding="utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1400,900", f"--screenshot={picture}", page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert picture.stat().st_size > 20_000
