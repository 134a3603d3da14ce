"""The rate of the analysis is told for every size, with its growth from one size to the next."""

import re

import pytest

from analysis_rate import SIZES, Cost, Size, figures, of_one, told


def test_every_size_is_built_judged_and_read_and_compared_with_the_one_before() -> None:
    small, larger = Size(prompts=10, completions=200), Size(prompts=20, completions=400)
    rows = dict(figures([small, larger], rounds=1))
    assert list(rows) == [
        "analysis of 200 completions of 10 prompts, seconds",
        "reading 200 completions of 10 prompts alone, seconds",
        "analysis of 400 completions of 20 prompts, seconds",
        "reading 400 completions of 20 prompts alone, seconds",
        "time of one completion, analysis of 400 completions of 20 prompts over 200 completions of 10 prompts",
    ]
    *measured, growth = rows.values()
    assert all(re.fullmatch(r"\d+\.\d\d \(\S+ to \S+\), at most \d+ MiB", value) for value in measured)
    assert re.fullmatch(r"\d+\.\d\d \(\S+ to \S+\)", growth)


def test_seconds_are_told_as_median_and_range_and_memory_at_its_most() -> None:
    costs = [Cost(seconds=seconds, peak_mib=peak) for seconds, peak in ((3.0, 90.0), (1.0, 120.4), (2.0, 80.0))]
    assert told(costs) == "2.00 (1.00 to 3.00), at most 120 MiB"
    assert of_one(costs[0], Size(prompts=1, completions=20)) == pytest.approx(0.15)


def test_the_last_size_is_the_one_to_reach() -> None:
    assert SIZES[-1] == Size(prompts=1_000, completions=1_000_000)
