"""How long to wait: as the server says, in either form, and ever longer where it says nothing."""

from datetime import UTC, datetime
from email.utils import format_datetime
from random import Random

import pytest

from temp0.probe.endpoint import Again
from temp0.probe.patience import LONGEST_WAIT_S, Patience, told_wait

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def told(*headers: tuple[str, str]) -> float | None:
    return told_wait(headers, NOON.timestamp).after_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), (" 0.5 ", 0.5), ("0", 0.0), ("-1", None), ("nan", None), ("inf", None), ("soon", None), ("", None)],
)
def test_seconds_are_read_and_nonsense_is_no_hint(text: str, seconds: float | None) -> None:
    assert told(("retry-after", text)) == seconds


def test_a_date_is_so_far_away_and_one_gone_by_is_now() -> None:
    later = format_datetime(NOON.replace(minute=1, second=30), usegmt=True)
    assert told(("retry-after", later)) == 90.0
    assert told(("retry-after", format_datetime(NOON.replace(hour=11), usegmt=True))) == 0.0


@pytest.mark.parametrize(
    "date",
    [
        "Fri, 31 Dec 99999999999999999999 00:00:00 GMT",
        "Fri, 31 Dec 2026 99999999999999999999:00:00 GMT",
        "Fri, 31 Dec 2026 00:00:00 +99999999999999999999",
    ],
)
def test_a_date_with_a_number_too_large_for_any_clock_is_no_hint(date: str) -> None:
    assert told(("retry-after", date)) is None


def test_milliseconds_go_before_seconds() -> None:
    assert told(("retry-after", "7"), ("retry-after-ms", "250")) == 0.25


def test_nothing_said_is_no_hint() -> None:
    assert told() is None


def test_a_wait_that_was_named_is_kept_to_and_one_longer_than_the_patience_is_not_begun() -> None:
    patience = Patience(left_s=10.0, draw=Random(0))
    assert patience.pause_s(Again(after_s=7.0)) == 7.0
    assert patience.pause_s(Again(after_s=3.0)) == 3.0
    assert patience.pause_s(Again(after_s=0.1)) is None
    assert Patience(left_s=10.0, draw=Random(0)).pause_s(Again(after_s=11.0)) is None


def test_waits_without_a_hint_double_with_a_seeded_jitter_up_to_a_limit() -> None:
    patience = Patience(left_s=1e9, draw=Random(7))
    waits = [patience.pause_s(Again()) or 0.0 for _ in range(12)]
    again = Patience(left_s=1e9, draw=Random(7))
    assert waits == [again.pause_s(Again()) for _ in range(12)]
    for place, wait_s in enumerate(waits):
        most = min(LONGEST_WAIT_S, 0.5 * 2**place)
        assert most / 2 <= wait_s <= most


def test_at_once_again_and_again_comes_to_an_end() -> None:
    patience = Patience(left_s=60.0, draw=Random(0))
    assert patience.pause_s(Again(after_s=0.0)) == 0.0
    waits = 0
    while patience.pause_s(Again(after_s=0.0)) is not None:
        waits += 1
    assert 5 < waits < 100
