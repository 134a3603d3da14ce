"""`temp0 runs` can be read at any width, and cuts nothing."""

from pathlib import Path

import pytest
from command import document, in_store, temp0

URL = "fake:variants=3,company_text=1,delay_ms=1,fail_rate=0.4,seed=7"


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, ...]:
    for url in (URL, "fake:"):
        temp0("probe", url, "--prompt", "Say hi.", "-n", "10", "--company", "1", *in_store(tmp_path))
    return tuple(in_store(tmp_path))


@pytest.mark.parametrize("width", [50, 80, 160])
def test_all_that_matters_is_there_at_every_width(store: tuple[str, ...], width: int) -> None:
    listed = temp0("runs", *store, environ={"COLUMNS": str(width)}).stdout
    for run in document(temp0("runs", "--json", *store))["runs"]:
        (line,) = [line for line in listed.splitlines() if run["id"] in line]
        assert f"{run['completions']} of {run['planned']}" in line
        assert run["created"][:16].replace("T", " ") in line
        assert not run["failures"] or f" {run['failures']}" in line
        assert f"{run['model']}at{run['url']}" in "".join(listed.split())
    assert max(map(len, listed.splitlines())) <= width


def test_each_run_is_one_line_where_all_fit_and_two_where_not(store: tuple[str, ...]) -> None:
    wide, narrow = (temp0("runs", *store, environ={"COLUMNS": width}).stdout.splitlines() for width in ("160", "80"))
    assert [len([line for line in lines if line]) for lines in (wide, narrow)] == [3, 6]
    assert wide[0].split("  ")[-1].strip() == "model and endpoint"
