"""The settings of the fake endpoint, read from its URL; what cannot be read is refused with what is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from temp0.errors import EndpointError

FAULTS = ("timeout", "cut", "not-json", "null-content", "empty")
_HTTP_FAULT = re.compile(r"http-[45]\d\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeSettings:
    """What `fake:` can be told; module `fake` says what each means."""

    variants: int = 3
    rate: float = 0.0
    company_rate: float = 0.0
    company_text: bool = False
    cold_text: bool = False
    observer_text: bool = False
    stream_text: bool = False
    can_cold: bool = True
    length: int = 24
    fork: int = 8
    margin: float = 0.02
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    serial: bool = False
    tells: bool = True
    fail_rate: float = 0.0
    fault: str = "http-500"
    seed: str = "0"


def fake_settings(url: str) -> FakeSettings:
    """The settings in `fake:name=value,name=value`.

    Raises:
        EndpointError: A name that is not known or is given twice, or a value that it cannot have.

    """
    given: dict[str, object] = {}
    for pair in url.removeprefix("fake:").split(","):
        name, _, value = (part.strip() for part in pair.partition("="))
        if not name and not value:
            continue
        if name not in _READERS:
            raise EndpointError(f"fake: has no setting {name!r}; it knows {', '.join(_READERS)}")
        if name in given:
            raise EndpointError(f"fake: {name} is given twice")
        given[name] = _READERS[name](name, value)
    given.setdefault("company_rate", given.get("rate", 0.0))
    given.setdefault("fork", min(8, int(str(given.get("length", 24))) // 3))
    return _consistent(FakeSettings(**given))  # type: ignore[arg-type]  # each reader gives its field's type


def _consistent(settings: FakeSettings) -> FakeSettings:
    if settings.fork >= settings.length:
        raise EndpointError(f"fake: fork is {settings.fork}, expected a word before length={settings.length}")
    if not settings.variants and (settings.rate or settings.company_rate):
        raise EndpointError("fake: variants is 0, so the rate of variants must be 0 too")
    return settings


def _whole(least: int) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        if value.isascii() and value.isdigit() and int(value) >= least:
            return int(value)
        raise EndpointError(f"fake: {name} is {value!r}, expected a whole number from {least}")

    return read


def _real(most: float) -> Callable[[str, str], float]:
    def read(name: str, value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if 0 <= number <= most:
            return number
        raise EndpointError(f"fake: {name} is {value!r}, expected a number from 0 to {most:g}")

    return read


def _flag(name: str, value: str) -> bool:
    if value in {"0", "1"}:
        return value == "1"
    raise EndpointError(f"fake: {name} is {value!r}, expected 0 or 1")


def _fault(name: str, value: str) -> str:
    if value in FAULTS or _HTTP_FAULT.fullmatch(value):
        return value
    raise EndpointError(f"fake: {name} is {value!r}, expected http-STATUS (400 to 599), {', '.join(FAULTS)}")


def _text(name: str, value: str) -> str:
    if value:
        return value
    raise EndpointError(f"fake: {name} is empty")


_READERS: dict[str, Callable[[str, str], object]] = {
    "variants": _whole(0),
    "rate": _real(1),
    "company_rate": _real(1),
    "company_text": _flag,
    "cold_text": _flag,
    "observer_text": _flag,
    "stream_text": _flag,
    "can_cold": _flag,
    "length": _whole(1),
    "fork": _whole(0),
    "margin": _real(100),
    "delay_ms": _real(3_600_000),
    "jitter_ms": _real(3_600_000),
    "serial": _flag,
    "tells": _flag,
    "fail_rate": _real(1),
    "fault": _fault,
    "seed": _text,
}
