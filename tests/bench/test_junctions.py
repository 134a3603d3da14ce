"""The tables and the picture of junctions, from passages that were made up."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from junction import picture, table
from junction.passage import Passage, Passed
from junction.question import QUESTIONS, Question


def passage(*passed: tuple[float, bool], is_closed: bool = True) -> Passage:
    return Passage(
        Question("Why?", is_closed), tuple(Passed(place, margin, fork) for place, (margin, fork) in enumerate(passed))
    )


SEEN = {
    "bf16": [passage((0.005, True)), passage((0.02, False), (3.0, False)), passage((0.4, True), is_closed=False)],
    "fp32": [passage((0.005, False)), passage((0.02, False), (3.0, False)), passage((0.4, False), is_closed=False)],
}


def cells(text: str, begins: str) -> list[str]:
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {begins} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_forks_are_counted_by_the_margin_of_the_token_they_left_at():
    text = table.by_margin(SEEN)
    assert cells(text, "0 to 0.01")[1:3] == ["1", "1"]
    assert cells(text, "0.01 to 0.03")[1:3] == ["1", "0"]
    assert cells(text, "0.25 to 0.5")[1:] == [
        "1",
        "1",
        "100.0 % (2.5 % to 100.0 %)",
        "1",
        "0",
        "0.0 % (0.0 % to 97.5 %)",
    ]


def test_a_prompt_that_forks_without_a_junction_speaks_against_the_claim():
    rows = [line for line in table.by_prompt(SEEN).splitlines() if line.startswith("| bf16 | 0.03 |")]
    (row,) = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]
    assert row[2:4] == ["2", "1"]
    assert row[5:7] == ["1", "1"]


def test_a_short_answer_is_the_beginning_of_a_long_one():
    assert [one.token for one in passage((1.0, False), (0.1, True)).first(1).passed] == [0]
    rows = table.by_kind(SEEN, {"short": 1, "long": 2}).splitlines()
    assert [line.split("|")[4].strip() for line in rows if "bf16 | closed" in line] == ["2", "3"]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 30, 0.0, 0.116), (30, 30, 0.884, 1.0), (5, 10, 0.187, 0.813)]
)
def test_intervals_are_exact_and_never_of_no_width(hits, n, low, high):
    assert table.interval(hits, n) == pytest.approx((low, high), abs=1e-3)


def test_tables_go_between_their_markers_and_nowhere_else():
    document = f"before\n{table.BEGIN}\nold\n{table.END}\nafter"
    assert table.written(document, "new") == f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter"
    with pytest.raises(ValueError, match="each once"):
        table.written("no markers", "new")


def test_the_picture_is_a_document_with_a_point_for_each_bin_that_was_passed():
    text = picture.svg(SEEN)
    svg = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    points = [one.get("style", "") for one in svg.iter(f"{space}use")]
    assert sum("fill: #0b6e99" in one for one in points) == 4 + 1
    assert sum("fill: #b4540a" in one for one in points) == 4 + 1
    assert "fp32 activations" in {one.text for one in svg.iter(f"{space}text")}
    assert svg.find(f"{space}title").text
    assert text == picture.svg(SEEN)


def test_there_are_as_many_closed_prompts_as_open_ones_and_none_twice():
    assert sum(one.is_closed for one in QUESTIONS) == len(QUESTIONS) / 2 == 12
    assert len({one.text for one in QUESTIONS}) == 24
