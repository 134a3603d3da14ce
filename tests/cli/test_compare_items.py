"""`temp0 compare` on files of scored items, as a user has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import document, temp0

FIELDS = Path(__file__).parents[2] / "docs" / "format.md"
FIRST, THEN = [1] * 37 + [0] * 63, [0] * 9 + [1] * 28 + [0] * 63


def written(folder: Path, name: str, scores, *, repeats: int = 1) -> str:
    lines = [
        {"id": f"q{item}", "prompt": f"question {item}", "text": f"answer {score}", "score": score}
        for item, score in enumerate(scores)
        for _ in range(repeats)
    ]
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_a_score_that_fell_in_truth_is_exit_1_and_names_the_items(tmp_path):
    call = temp0("compare", written(tmp_path, "a.jsonl", FIRST), written(tmp_path, "b.jsonl", THEN))
    assert call.returncode == 1
    assert "which is more than another choice of items would give" in " ".join(call.stdout.split())
    assert "0 up, 9 down" in call.stdout


def test_a_score_that_moved_by_noise_is_exit_0(tmp_path):
    after = [0] * 5 + [1] * 32 + [1] * 4 + [0] * 59
    found = document(
        temp0("compare", written(tmp_path, "a.jsonl", FIRST), written(tmp_path, "b.jsonl", after), "--json")
    )
    assert (found["exit_code"], found["is_beyond_noise"]) == (0, False)
    assert (len(found["up"]), len(found["down"])) == (4, 5)


def test_every_field_is_described(tmp_path):
    repeated = [written(tmp_path, name, scores, repeats=3) for name, scores in (("a.jsonl", FIRST), ("b.jsonl", THEN))]
    found = document(temp0("compare", *repeated, "--json"))
    section = FIELDS.read_text().split("## Scored items side by side")[1].split("\n## ")[0]
    assert [name for name in found if f"`{name}" not in section] == []
    assert found["p_repeats"] < 0.05


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ('{"id": "other", "prompt": "p", "text": "a", "score": 1}\n', "are not in the other file"),
        ('{"id": "q0", "prompt": "p", "text": "a"}\n', "has no scored answers"),
        ('{"id": "q0", "prompt": "p", "te', "line 1 cannot be read"),
    ],
)
def test_files_that_cannot_be_compared_are_refused_with_the_reason(tmp_path, second, told):
    path = tmp_path / "b.jsonl"
    path.write_text(second)
    call = temp0("compare", written(tmp_path, "a.jsonl", FIRST), str(path))
    assert call.returncode == 2
    assert told in call.stderr


def lines(path: Path, *told: object) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    return str(path)


def test_files_with_commas_between_are_one_side(tmp_path):
    sides = [",".join(written(tmp_path, f"{side}{turn}.jsonl", [1, 0, 1 - turn]) for turn in range(2)) for side in "ab"]
    found = document(temp0("compare", *sides, "--json"))
    assert (found["a"]["repeats"], found["a"]["same_text"]) == (2, pytest.approx(2 / 3))
    assert found["p_repeats"] == 1.0


def test_items_without_names_meet_by_their_words_and_not_by_their_places(tmp_path):
    one, two = ({"prompt": asked, "text": "x", "score": score} for asked, score in (("One?", 1), ("Two?", 0)))
    found = document(temp0("compare", lines(tmp_path / "a", one, two), lines(tmp_path / "b", two, one), "--json"))
    assert (found["items"], found["up"], found["down"]) == (2, [], [])


def test_an_item_that_failed_on_one_side_is_left_out_and_said(tmp_path):
    scored = [{"id": f"q{item}", "text": "x", "score": 1} for item in range(3)]
    failed = [*scored[:2], {"id": "q2", "error": "timed out"}]
    call = temp0("compare", lines(tmp_path / "a", *scored), lines(tmp_path / "b", *failed))
    assert call.returncode == 0
    assert "Left out without a score in one of the two: q2." in call.stdout


def test_other_wordings_of_an_item_are_said(tmp_path):
    a, b = ({"id": "q", "prompt": asked, "text": "x", "score": 1} for asked in ("Why?", "Why, step by step?"))
    call = temp0("compare", lines(tmp_path / "a", a), lines(tmp_path / "b", b))
    assert "Asked in other words by the two, which may be what changed: q." in " ".join(call.stdout.split())


def test_scores_beyond_0_to_1_are_no_percentages(tmp_path):
    a, b = ({"id": "q", "text": "x", "score": score} for score in (4.5, 7))
    call = temp0("compare", lines(tmp_path / "a", a), lines(tmp_path / "b", b))
    assert "The score changes by +2.50 (" in call.stdout
    assert "4.500" in call.stdout
    assert "%" not in call.stdout


def test_a_score_drawn_at_a_temperature_says_so(tmp_path):
    a, b = ({"id": "q", "text": "x", "score": 1, "temperature": temperature} for temperature in (0, 0.7))
    call = temp0("compare", lines(tmp_path / "a", a), lines(tmp_path / "b", b))
    assert "b: not greedy: by the file, the temperature was 0.7" in call.stderr
