"""`temp0 explain --html`: the run's page with the explanation in it, and a file that cannot be written."""

from __future__ import annotations

from pathlib import Path

from command import in_store, serving, temp0
from test_explain_verb import DELAY_S, batched, probed


def test_the_page_of_the_run_has_the_explanation(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with serving(batched, delay_s=DELAY_S) as server:
        run = probed(server.url, tmp_path)
        done = temp0("explain", run, "-n", "2", "--html", str(page), *in_store(tmp_path))

    assert done.returncode == 0
    told = page.read_text(encoding="utf-8")
    assert "Looked at again" in told
    assert "A near tie: under “alone, logprobs”" in told
    assert f"temp0: wrote {page}" in done.stderr


def test_a_page_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    done = temp0("explain", "last", "--html", str(tmp_path / "none" / "page.html"), *in_store(tmp_path))

    assert done.returncode == 2
    assert "cannot write" in done.stderr
