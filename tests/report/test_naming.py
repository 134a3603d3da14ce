"""A name that is cut keeps its marks."""

from __future__ import annotations

from temp0.report.naming import listed, quoted


def test_marks_are_closed_however_long_a_name_is() -> None:
    name = "company 128 mixed, logprobs, stream, cache warm"

    assert quoted([name]) == f"“{name}”"
    assert quoted(["x" * 100, "alone"]) == f"“{'x' * 59}…” and “alone”"
    assert quoted([name] * 5).count("“") == quoted([name] * 5).count("”") == 3
    assert quoted([name] * 5).endswith(" and 2 more")


def test_a_long_name_in_a_row_is_cut_between_words() -> None:
    assert (
        listed(["a prompt whose name says far too much of it", "B"]) == "a prompt whose name says far too much… and B"
    )
