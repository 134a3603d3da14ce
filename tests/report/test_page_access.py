"""The page without a mouse, without eyes and without scripts, in real headless Chromium."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import analysis_samples as samples
import msgspec
import pytest
import reason_samples as reasons
from analysis_samples import ALONE, COMPANY, analyzed
from devtools import Tab, opened
from test_bottom import FOLLOWED, SECOND
from test_page import CHROMIUM

from temp0.core.descent import Descent
from temp0.report import html

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
FORKED = {"A": {ALONE: ["the old line is stale."] * 4 + ["the new line was stale."] * 2, COMPANY: ["the old line"] * 8}}
NAMED = {"link", "button", "DisclosureTriangle", "region", "image", "img"}
FOCUS = """(() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const isOutlined = style.outlineStyle !== "none" && style.outlineWidth !== "0px";
  return [one.tagName, one.textContent.trim().slice(0, 40), isOutlined];
})()"""
Found = TypeVar("Found")


def driven(page: str, folder: Path, drive: Callable[[Tab], Awaitable[Found]], **how: Any) -> Found:
    """What a test's own driver finds in the opened page."""

    async def run() -> Found:
        async with opened(str(CHROMIUM), page, folder, **how) as tab:
            return await drive(tab)

    return asyncio.run(run())


async def walk_to(tab: Tab, words: str) -> list[tuple[str, str, bool]]:
    """Presses Tab until what holds the focus begins with these words; every stop on the way, that one included."""
    stops = []
    for _ in range(60):
        await tab.press("Tab")
        stops.append(tuple(await tab.value(FOCUS)))
        if stops[-1][1].startswith(words):
            return stops
    pytest.fail(f"{words} is not reached: {stops}")


def test_the_tree_is_walked_and_two_branches_are_compared_by_keys_alone(tmp_path: Path) -> None:
    async def drive(tab: Tab) -> tuple[list[tuple[str, str, bool]], list[str], str]:
        stops = await walk_to(tab, "Walk the tree")
        await tab.press("Enter")
        stops += await walk_to(tab, "open all")
        await tab.press("Enter")
        stops += await walk_to(tab, "compare")
        await tab.press("Enter")
        asked = await tab.value("document.querySelector('.told').textContent")
        stops += await walk_to(tab, "compare")
        await tab.press("Enter")
        marked = await tab.value("[...document.querySelectorAll('.told mark')].map((one) => one.textContent)")
        return stops, marked, asked

    stops, marked, asked = driven(html(analyzed(FORKED)), tmp_path, drive)

    assert "choose compare at another branch" in asked
    assert marked
    assert all(is_outlined for _, _, is_outlined in stops)


def test_tab_goes_down_the_page_and_never_back(tmp_path: Path) -> None:
    async def drive(tab: Tab) -> list[float]:
        places = []
        for _ in range(40):
            await tab.press("Tab")
            places.append(await tab.value("document.activeElement.getBoundingClientRect().top + scrollY"))
            if await tab.value("document.activeElement === document.body"):
                break
        return places[:-1]

    places = driven(html(analyzed(FORKED)), tmp_path, drive)

    assert len(places) > 5
    # Links and buttons of one line stand at heights that are not quite the same.
    assert all(later >= earlier - 20 for earlier, later in pairwise(places))


def test_with_scripts_off_every_text_opens_by_keys_and_nothing_is_missing(tmp_path: Path) -> None:
    async def drive(tab: Tab) -> tuple[bool, str, int]:
        await walk_to(tab, "Walk the tree")
        await tab.press("Enter")
        is_open = await tab.value("document.querySelector('.walk').open")
        return is_open, await tab.value("document.body.innerText"), await tab.value("document.scripts.length")

    page = html(analyzed(FORKED))
    is_open, text, scripts = driven(page, tmp_path, drive, script=False)

    assert is_open
    assert scripts == 1
    assert "open all" not in text
    for words in ("Why", "Between conditions", "How long answers stay equal", "How to read this", "new line was"):
        assert words in text


@pytest.mark.parametrize("make", [samples.five_prompts, samples.hostile, reasons.crossed, reasons.observed])
def test_whatever_can_be_reached_has_a_name_of_its_own(make: samples.Maker, tmp_path: Path) -> None:
    async def drive(tab: Tab) -> list[tuple[str, str]]:
        await tab.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        return await tab.tree()

    page = html(make(), second=SECOND, descents=(FOLLOWED,))
    met = driven(page, tmp_path, drive)

    reached = [(role, name) for role, name in met if role in NAMED]
    assert {role for role, _ in reached} >= {"link", "region"}
    assert not [one for one in reached if not one[1]]
    # A region is jumped to by its name alone.
    regions = Counter(name for role, name in reached if role == "region")
    assert [name for name, count in regions.items() if count > 1] == []
    buttons = Counter(name for role, name in reached if role == "button")
    assert [name for name, count in buttons.items() if count > 1] == []


def test_every_figure_says_in_words_what_it_shows(tmp_path: Path) -> None:
    async def drive(tab: Tab) -> tuple[list[tuple[str, str]], int]:
        return await tab.tree(), await tab.value("document.querySelectorAll('svg').length")

    page = html(samples.five_prompts(), second=SECOND, descents=(FOLLOWED,))
    met, drawings = driven(page, tmp_path, drive)

    pictures = [name for role, name in met if role in {"image", "img"}]
    assert len(pictures) == drawings > 5
    assert all(len(name) > 10 for name in pictures)
    headings = [name for role, name in met if role == "heading"]
    assert headings[0].startswith("3 of 5 prompts each got more than one answer")


@pytest.mark.parametrize("width", [360, 500, 800, 1280])
def test_a_followed_fork_of_the_real_engine_fits_every_width(width: int, tmp_path: Path) -> None:
    async def drive(tab: Tab) -> int:
        return int(await tab.value("document.documentElement.scrollWidth"))

    followed = msgspec.json.decode((GALLERY / "descents.json").read_bytes(), type=tuple[Descent, ...])
    page = html(samples.five_prompts(), second=SECOND, descents=followed)

    assert driven(page, tmp_path, drive, width=width) <= width
