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
