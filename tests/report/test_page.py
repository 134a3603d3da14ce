"""The page: complete, bounded, self-contained, and inert whatever a completion says."""

from __future__ import annotations

import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import analysis_samples as samples
import pytest
import reason_samples as reasons

from temp0 import report
from temp0.core.run import Failure
from temp0.report import html

VOID = {"meta", "br", "line", "path"}
NAMES = """
html head meta title style body br header main footer section p b span bdi h1 h2 h3 ul ol li dl div dt dd time code
table caption thead tbody tr th td a i blockquote figure figcaption svg desc path line text mark u details summary pre
rect script
"""
ALLOWED = set(NAMES.split())
CHROMIUM = next(
    (found for name in ("chromium", "google-chrome", "chromium-browser") if (found := shutil.which(name))), None
)


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and the text outside styles."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.comments: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def read(make: samples.Maker) -> Reader:
    return Reader(html(make()))


@pytest.mark.parametrize("make", reasons.ALL)
def test_every_element_is_one_of_ours_and_is_closed(make: samples.Maker) -> None:
    page = read(make)

    assert set(page.elements) <= ALLOWED
    assert page.open == []
    assert page.comments == []


@pytest.mark.parametrize("make", reasons.ALL)
def test_no_attribute_can_act_or_fetch(make: samples.Maker) -> None:
    for tag, name, value in read(make).attributes:
        assert not name.startswith("on")
        assert name not in {"src", "srcset", "action", "xlink:href"}
        if name == "href":
            assert re.fullmatch(r"#p\d+|#reading", value or ""), (tag, value)
        if name == "style":
            assert re.fullmatch(r"(width:[\d.]+%|height:\d+px)", value or "")


@pytest.mark.parametrize("make", reasons.ALL)
def test_the_page_forbids_everything_but_its_own_style_and_its_one_script(make: samples.Maker) -> None:
    page = html(make())
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()

    assert f"content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\"" in page
    assert script == (Path(report.__file__).parent / "templates" / "walk.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function|fetch|XMLHttp", script)
    assert "@import" not in page
    assert "url(" not in page


def test_hostile_text_is_shown_as_text() -> None:
    page = read(samples.hostile)

    for text in ("</script><script>alert(1)</script>", 'img src=x onerror="alert(1)"', "{{7*7}} {% raw %} ]]>"):
        assert text in page.text
    assert "49 {%" not in page.text


@pytest.mark.parametrize("make", [*reasons.ALL, samples.many])
def test_a_page_is_valid_utf_8_without_control_characters(make: samples.Maker) -> None:
    page = html(make())

    page.encode("utf-8")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "\u2039U+DCB2\u203a" in page or make is not samples.hostile


def test_ids_are_unique_and_every_link_and_label_has_its_target() -> None:
    page = read(samples.many)

    assert len(page.ids) == len(set(page.ids))
    wanted = [value.strip("#") for _, name, value in page.attributes if name == "href" and value]
    wanted += [one for _, name, value in page.attributes if name == "aria-labelledby" for one in (value or "").split()]
    assert set(wanted) <= set(page.ids)


def test_the_page_can_be_read_by_a_screen_reader() -> None:
    page = html(samples.five_prompts())

    assert '<html lang="en">' in page
    assert page.count("<h1>") == 1
    assert page.count("<table") == page.count("<caption>")
    trees = re.findall(r'role="img" aria-labelledby="(t\d) (d\d)"', page)
    assert len(trees) == page.count("<desc id=") == 3
    plots = re.findall(r'<svg class="plot" [^>]*>', page)
    assert len(plots) >= 6
    assert all(re.search(r'role="img" aria-label="[^"]{30,}"', plot) for plot in plots)
    assert re.search(r"<title id=\"t5\">Fork tree of prompt E</title>", page)


def test_the_summary_says_verdict_cause_and_remedy() -> None:
    text = read(samples.five_prompts).text

    for part in (
        "diverged",
        "3 of 5 prompts each got more than one answer: the answer depends on what runs beside it.",
        "Prompt C and 2 more prompts like it: alone always one text in 20",
        "use arithmetic whose order does not depend on the batch",
        "https://api.example.com/v1",
        "2026-03-01 09:30:00 UTC",
        "temp0 show 01k4x9w2vq",
        "What this cannot tell",
    ):
        assert part in text


def test_the_differing_words_are_marked() -> None:
    page = html(samples.five_prompts())

    assert "<mark>token</mark>" in page
    assert "<mark>nobody</mark>" in page
    assert "<mark>␣—</mark>" in page


def test_what_needs_explaining_is_explained() -> None:
    text = " ".join(read(samples.five_prompts).text.replace("\u00a0", " ").split())

    assert "unlike the mode, at most: at most this share of blocks holds a text unlike the commonest" in text
    assert (
        "TARr@20: the share of prompts whose completions under a condition, at least 20 of them, are all one text"
        in text
    )
    assert "7.9 of 8: 8 requests in flight were asked for; the server itself counted 7.9 running" in text
    assert re.search(r"p = 0\.01\d; 0\.04\d adjusted for 5 prompts", text)


def test_found_and_suspected_look_unlike() -> None:
    page = html(reasons.explained())

    assert page.count('<li class="found">') == page.count('<li class="suspected">') == 1
    assert page.count('<li class="found aside">') == 1
    assert '<span class="certainty">suspected</span> cache-state: <span class="meaning">' in page


def test_flags_and_commands_in_a_remedy_are_set_apart() -> None:
    page = html(samples.five_prompts())

    assert "<code>--enable-deterministic-inference</code>, <code>temp0 serve --arithmetic invariant</code>;" in page
    assert "then measure again:</bdi>" in page


def test_what_could_not_be_tested_and_what_was_not_met_have_their_places() -> None:
    explained, missed = read(reasons.explained).text, read(reasons.load_missed).text

    assert "no fingerprint and no replica header came back" in explained
    assert "“company 8”not shown: the server answered one at a time" in missed


def test_each_branch_of_a_fork_shows_what_it_saw() -> None:
    page = html(reasons.observed())

    assert "What the branches saw at character 41" in page
    assert "<mark>\u22120.6924</mark>" in page
    assert "Branch of 34" in page
    assert page.count('<details class="sight" open>') == 1
    assert "another computation here (observer, found)" in page


def test_branches_that_saw_the_same_are_said_to() -> None:
    assert "the branches saw the same logprobs and chose differently" in html(reasons.tied())
    assert "saw the same" not in html(reasons.observed())


def test_company_level_by_level_is_a_table_with_bars() -> None:
    page = html(reasons.crossed())

    assert page.count('<table class="ladder">') == 4
    assert "49 of 96" in page
    assert 'class="ladder"' not in html(samples.five_prompts())


def test_many_conditions_take_letters_in_place_of_colours_and_columns() -> None:
    few, many = html(samples.five_prompts()), html(reasons.crossed())

    assert 'class="key c1"' in few
    assert 'class="key' not in many
    assert '<b class="letters">a</b>' in many
    assert "under 20 of 20 conditions" in many
    assert "<span>company 32, stream, cache warm</span>" not in many
    assert many.count('<th scope="col" class="number">alone, cache cold</th>') == 0


def test_a_long_text_is_elided_with_a_note() -> None:
    assert re.search(r"99,7\d\d characters left out", read(samples.hostile).text)


def test_the_size_stays_bounded_however_much_there_is_to_show() -> None:
    answers = [f"{number} " + "\u202e<&\U0001f600" * 2_500 for number in range(20)]
    prompts = {f"p{number}": {samples.ALONE: answers} for number in range(20)}

    size_bytes = len(html(samples.analyzed(prompts)).encode())

    assert size_bytes < 2_000_000
    assert len(html(samples.many()).encode()) < 500_000
    assert len(html(samples.crowded()).encode()) < 100_000


def test_what_is_left_out_is_counted() -> None:
    text = read(samples.many).text

    assert "984 more prompts in the table above" in text
    assert "500 more prompts in the JSON document" in text
    assert "280 more texts in the JSON document" in read(samples.crowded).text


def test_equal_analyses_give_equal_pages() -> None:
    assert html(samples.five_prompts()) == html(samples.five_prompts.__wrapped__())


def test_failures_are_shown_with_their_message() -> None:
    failure = Failure(reason="timed out", message="no byte for 30 s")
    text = Reader(html(samples.analyzed({"A": {samples.ALONE: ["one", "one", failure]}}))).text

    assert "alone: 1 failed" in text
    assert "timed out: no byte for 30 s" in text


@pytest.mark.chromium
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_real_browser_makes_no_element_of_hostile_text(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html(samples.hostile()), encoding="utf-8")

    dom = Reader(browsed(page, tmp_path))

    assert set(dom.elements) <= ALLOWED | {"button"}
    assert dom.elements.count("script") == 1
    assert "</script><script>alert(1)</script>" in dom.text
    assert not [name for _, name, _ in dom.attributes if name.startswith("on")]


def browsed(page: Path, folder: Path) -> str:
    """The document as Chromium holds it after loading."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = [str(CHROMIUM), *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode("utf-8")


def test_prompts_without_a_section_are_folded_below_those_with_one() -> None:
    page = html(samples.many(40))
    first, _, rest = page.partition('<details class="more">')

    assert first.count('href="#p') == 16
    assert "24 more prompts, one line each" in rest
    assert 'href="#p' not in rest


def test_the_shares_of_texts_fill_their_bar_however_many_there_are() -> None:
    bar = re.search(r'<span class="shares" aria-hidden="true">(.*?)</span>', html(samples.crowded()))

    assert bar
    assert sum(float(width) for width in re.findall(r"width:([\d.]+)%", bar[1])) == pytest.approx(100, abs=0.1)


def test_paper_is_never_dark() -> None:
    page = html(samples.agreed())

    assert page.count("prefers-color-scheme: dark") == 1
    assert "@media screen and (prefers-color-scheme: dark)" in page


def test_a_simulated_endpoint_is_called_one() -> None:
    simulated = replace(samples.agreed(), address=replace(samples.agreed().address, url="fake:seed=3"))

    assert "(simulated by temp0)" in html(simulated)
    assert "simulated" not in html(samples.agreed())
