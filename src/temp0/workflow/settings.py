"""What `temp0 check` is told by a file: temp0.toml, or [tool.temp0] of pyproject.toml.

A key that is unknown, of another type or contradicts another one is refused by name: a setting that nobody reads would
make a gate that checks something else than its owner thinks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from temp0.core.gate import Tolerance
from temp0.errors import UsageError

FILES = ("temp0.toml", "pyproject.toml")
DEFAULT_BASELINE = "temp0-baseline.json"

_COUNT, _SHARE, _TEXT, _SWITCH, _SECONDS = (
    "a whole number of at least 1",
    "a number between 0 and 1",
    "a text",
    "true or false",
    "a number of seconds above 0",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """One endpoint of the gate; without `url` it is the built-in engine."""

    name: str
    url: str | None = None
    model: str | None = None
    api: str | None = None
    key_env: str | None = None
    timeout_s: float = 300.0
    exclusive: bool = False
    arithmetic: str = "stock"
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """A gate: what is asked of whom, what is tolerated, and where its baseline lies.

    `prompts` is a file, or texts; without any, our own five are asked. Paths are relative to the settings' folder.
    """

    source: Path
    endpoints: tuple[EndpointSettings, ...]
    prompts: Path | tuple[str, ...] | None = None
    n: int | None = None
    company: tuple[int, ...] = (1, 8)
    max_tokens: int | None = None
    seed: int = 0
    max_requests: int | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    undecided: Literal["fail", "pass"] = "fail"
    baseline: Path = Path(DEFAULT_BASELINE)
    texts: bool = False


def find_settings(folder: Path) -> Path:
    """The settings file of a folder: temp0.toml, or a pyproject.toml that has [tool.temp0]. Raises UsageError."""
    for name in FILES:
        path = folder / name
        if path.is_file() and (name == FILES[0] or "temp0" in _read(path).get("tool", {})):
            return path
    raise UsageError(
        f"no settings in {folder}: write a temp0.toml with [check] and [[check.endpoints]], or [tool.temp0.check] in "
        "pyproject.toml; docs/gate.md shows one"
    )


def check_settings(path: Path) -> CheckSettings:
    """The gate that a settings file describes. Raises UsageError naming the key that cannot be right."""
    check = _Keys(_tables(path).get("check"), "check")
    folder = path.parent
    endpoints = tuple(_endpoint(one, place) for place, one in enumerate(check.tables("endpoints"), start=1))
    names = [endpoint.name for endpoint in endpoints]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: two endpoints are called {repeated!r}; the baseline knows them by name")
    settings = CheckSettings(
        source=path,
        endpoints=endpoints or (EndpointSettings(name="builtin"),),
        prompts=_prompts(check, folder),
        n=check.count("n"),
        company=check.counts("company") or (1, 8),
        max_tokens=check.count("max_tokens"),
        seed=check.number("seed", least=0) or 0,
        max_requests=check.count("max_requests"),
        tolerance=_tolerance(check),
        undecided=_undecided(check),
        baseline=folder / (check.text("baseline") or DEFAULT_BASELINE),
        texts=check.switch("texts"),
    )
    check.done()
    return settings


def pytest_settings(folder: Path) -> Mapping[str, Any]:
    """How the pytest fixture asks, from [tool.temp0.pytest] or temp0.toml's [pytest]; empty where nothing is said.

    Raises UsageError naming the key that cannot be right.
    """
    path = next((folder / name for name in FILES if (folder / name).is_file()), None)
    keys = _Keys(_tables(path).get("pytest") if path else None, "pytest")
    undecided = keys.text("undecided")
    if undecided not in (None, "fail", "pass", "skip"):
        raise UsageError(f'pytest.undecided is {undecided!r}, expected "fail", "pass" or "skip"')
    told = {
        **{name: keys.text(name) for name in ("endpoint", "model", "api", "key_env", "arithmetic", "store")},
        **{name: keys.count(name) for name in ("n", "max_tokens", "max_requests", "threads")},
        "company": keys.counts("company"),
        "rate": keys.share("rate", 0.0) or None,
        "confidence": keys.share("confidence", 0.95),
        "folded": keys.switch("folded") or None,
        "exclusive": keys.switch("exclusive") or None,
        "timeout_s": keys.seconds("timeout_s", 300.0),
        "undecided": undecided,
    }
    keys.done()
    return {name: value for name, value in told.items() if value is not None}


class _Keys:
    """A table of settings from which keys are taken one by one; what is left at the end is unknown."""

    def __init__(self, table: object, where: str) -> None:
        if table is None:
            table = {}
        if not isinstance(table, Mapping):
            raise UsageError(f"{where} is {table!r}, expected a table")
        self._left = dict(table)
        self._asked: list[str] = []
        self._where = where

    def take(self, key: str) -> Any:
        self._asked.append(key)
        return self._left.pop(key, None)

    def text(self, key: str) -> str | None:
        value = self.take(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self._wrong(key, value, _TEXT)
        return value

    def switch(self, key: str) -> bool:
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, value, _SWITCH)
        return bool(value)

    def number(self, key: str, *, least: int) -> int | None:
        value = self.take(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise self._wrong(key, value, f"a whole number of at least {least}")
        return value

    def count(self, key: str) -> int | None:
        return self.number(key, least=1)

    def counts(self, key: str) -> tuple[int, ...] | None:
        value = self.take(key)
        if value is None:
            return None
        listed = value if isinstance(value, list) else [value]
        if not listed or any(not isinstance(one, int) or isinstance(one, bool) or one < 1 for one in listed):
            raise self._wrong(key, value, "whole numbers of at least 1, such as [1, 8]")
        return tuple(dict.fromkeys(listed))

    def share(self, key: str, default: float) -> float:
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1:
            raise self._wrong(key, value, _SHARE)
        return float(value)

    def seconds(self, key: str, default: float) -> float:
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
            raise self._wrong(key, value, _SECONDS)
        return float(value)

    def tables(self, key: str) -> list[object]:
        value = self.take(key)
        if value is not None and not isinstance(value, list):
            raise self._wrong(key, value, f"tables, each begun by [[{self._where}.{key}]]")
        return value or []

    def done(self) -> None:
        """Refuse the first key that nobody asked for."""
        for key in self._left:
            close = get_close_matches(key, self._asked, n=1)
            meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(self._asked))}"
            raise UsageError(f"{self._where}.{key} is not a setting; {meant}")

    def _wrong(self, key: str, value: object, expected: str) -> UsageError:
        return UsageError(f"{self._where}.{key} is {value!r}, expected {expected}")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error


def _tables(path: Path) -> Mapping[str, object]:
    """The tables of a settings file that are ours, by name; any other name of ours is refused."""
    told = _read(path)
    ours = told if path.name == FILES[0] else told.get("tool", {}).get("temp0", {})
    keys = _Keys(ours, "the file" if path.name == FILES[0] else "tool.temp0")
    found = {name: keys.take(name) for name in ("check", "pytest")}
    keys.done()
    return found


def _endpoint(table: object, place: int) -> EndpointSettings:
    keys = _Keys(table, f"check.endpoints[{place}]")
    settings = EndpointSettings(
        name=keys.text("name") or f"endpoint-{place}",
        url=keys.text("url"),
        model=keys.text("model"),
        api=keys.text("api"),
        key_env=keys.text("key_env"),
        timeout_s=keys.seconds("timeout_s", 300.0),
        exclusive=keys.switch("exclusive"),
        arithmetic=keys.text("arithmetic") or "stock",
        threads=keys.count("threads"),
    )
    keys.done()
    return settings


def _prompts(check: _Keys, folder: Path) -> Path | tuple[str, ...] | None:
    value = check.take("prompts")
    if value is None:
        return None
    if isinstance(value, str):
        return folder / value
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text.strip() for text in value):
        raise UsageError(f"check.prompts is {value!r}, expected the name of a file, or a list of texts")
    return tuple(value)


def _tolerance(check: _Keys) -> Tolerance:
    value = check.take("tolerate")
    if value in (None, "none"):
        return Tolerance()
    if value == "folded":
        return Tolerance(folded=True)
    if not isinstance(value, Mapping):
        raise UsageError(
            f'check.tolerate is {value!r}, expected "none", "folded" or {{rate = 0.05, confidence = 0.95}}'
        )
    keys = _Keys(value, "check.tolerate")
    tolerance = Tolerance(
        rate=keys.share("rate", 0.0), confidence=keys.share("confidence", 0.95), folded=keys.switch("folded")
    )
    keys.done()
    return tolerance


def _undecided(check: _Keys) -> Literal["fail", "pass"]:
    value = check.text("undecided")
    if value in (None, "fail"):
        return "fail"
    if value == "pass":
        return "pass"
    raise UsageError(f'check.undecided is {value!r}, expected "fail" or "pass"')
