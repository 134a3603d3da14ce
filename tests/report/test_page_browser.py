"""The page in real headless Chromium: it walks, it complains of nothing, nothing is cut off, and it prints."""

from __future__ import annotations

import re
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import analysis_samples as samples
import pytest
import reason_samples as reasons
from analysis_samples import ALONE, analyzed
from test_bottom import FOLLOWED, SECOND
from test_page import CHROMIUM

from temp0.report import html

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDE = """
const wide = [...document.querySelectorAll("main table, main figure, main pre, main details")].filter((one) => {
  const frame = one.closest(".scroll");
  const room = frame ? frame.scrollWidth : document.documentElement.clientWidth;
  return one.getBoundingClientRect().width > room + 1;
});
document.title = "page " + (document.documentElement.scrollWidth <= innerWidth) + ", too wide: " + wide.length;
"""
WALK = """
document.querySelectorAll(".walk, .walk details").forEach((one) => { one.open = true; });
const press = (leaf, word) => [...leaf.querySelectorAll("button")].find((one) => one.textContent === word).click();
const leaves = [...document.querySelectorAll(".walk .leaf")];
press(leaves[0], "compare");
const asked = document.querySelector(".told").textContent;
press(leaves[1], "compare");
const marks = [...document.querySelectorAll(".told mark")].map((one) => one.textContent);
document.title = [asked.includes("is one side"), marks.join("|"), document.querySelectorAll("img").length].join(" ");
"""


def driven(page: str, driver: str) -> str:
    """The page with a second script, which its policy allows by name as it does the first."""
    digest = b64encode(sha256(driver.encode()).digest()).decode()
    allowed = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    return allowed.replace("</body>", f"<script>{driver}</script></body>")


def browsed(text: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, path.as_uri()]
    return subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8")


def title(told: str) -> str:
    found = re.search(r"<title>(.*?)</title>", told)
    assert found
    return found[1]


@pytest.mark.parametrize("scheme", [(), ("--force-dark-mode",)], ids=["light", "dark"])
def test_nothing_is_complained_of(scheme: tuple[str, ...], tmp_path: Path) -> None:
    page = html(samples.five_prompts(), second=SECOND, descents=(FOLLOWED,))

    said = browsed(page, tmp_path, "--enable-logging=stderr", "--dump-dom", *scheme)

    assert "CONSOLE" not in said.stderr
    assert "copy this answer" in said.stdout


def test_a_script_that_the_page_does_not_know_is_stopped_and_that_is_seen(tmp_path: Path) -> None:
    page = html(samples.five_prompts()).replace("</body>", "<script>document.title = 'ran'</script></body>")

    said = browsed(page, tmp_path, "--enable-logging=stderr", "--dump-dom")

    assert title(said.stdout).startswith("diverged")
    assert "CONSOLE" in said.stderr


@pytest.mark.parametrize("width", [500, 1100])
def test_no_table_or_figure_is_cut_off(width: int, tmp_path: Path) -> None:
    page = driven(html(samples.five_prompts(), second=SECOND, descents=(FOLLOWED,)), WIDE)
    crossed = driven(html(reasons.crossed()), WIDE)

    for one in (page, crossed):
        said = browsed(one, tmp_path, f"--window-size={width},900", "--dump-dom")
        assert title(said.stdout) == "page true, too wide: 0"


def test_two_branches_are_compared_word_by_word(tmp_path: Path) -> None:
    page = html(analyzed({"A": {ALONE: ["the old line is stale."] * 4 + ["the new line was stale."] * 2}}))

    said = browsed(driven(page, WALK), tmp_path, "--dump-dom")

    assert title(said.stdout) == "true old|is|new|was 0"


@pytest.mark.parametrize(
    "texts",
    [
        ["</script><script>document.title='ran'</script>one", "</script><script>document.title='ran'</script>two"],
        ["<img src=x onerror=document.title='ran'>" + "a" * 100_000, "b" * 100_000],
        ["مرحبا بالعالم واحد", "مرحبا بالعالم اثنان"],
        ["東京は夜の七時です", "東京は朝の七時です"],
        ["👩‍👩‍👧‍👦 family 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👩‍👩‍👧‍👦 flags 🏳️‍🌈"],
    ],
    ids=["script", "long", "right-to-left", "cjk", "emoji"],
)
def test_whatever_the_texts_are_walking_shows_them_as_text(texts: list[str], tmp_path: Path) -> None:
    page = html(analyzed({"A": {ALONE: texts}}))

    said = browsed(driven(page, WALK), tmp_path, "--dump-dom", "--enable-logging=stderr")

    assert title(said.stdout).startswith("true ")
    assert title(said.stdout).endswith(" 0")
    assert "CONSOLE" not in said.stderr


def test_it_prints(tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"

    browsed(html(samples.five_prompts()), tmp_path, f"--print-to-pdf={paper}")

    assert paper.read_bytes().startswith(b"%PDF-")
    assert paper.stat().st_size > 20_000
