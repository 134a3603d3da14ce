"""What the gate and the pytest fixture are told by a file: temp0.toml, or [tool.temp0] of pyproject.toml.

A key that is unknown, of another type or contradicts another one is refused by name: a setting that nobody reads would
make a gate that checks something else than its owner thinks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from temp0.core.gate import Tolerance
from temp0.errors import UsageError
from temp0.workflow.varying import CacheChoice, FillerChoice, Switch

FILES = ("temp0.toml", "pyproject.toml")
DEFAULT_BASELINE = "temp0-baseline.json"

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
Patience = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Text = Annotated[str, Meta(pattern=r"\S")]
Counts = Annotated[tuple[Count, ...], Meta(min_length=1)]

_OF_THE_ENGINE = ("arithmetic", "threads")
_OF_A_URL = ("model", "api", "key_env", "headers", "extra")

_Told = TypeVar("_Told", bound=Struct)


class EndpointSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One endpoint of the gate; without `url` it is the built-in engine. Nameless ones are known by their place.

    A header's value that begins with $ names the variable that holds it.
    """

    name: Text = ""
    url: Text | None = None
    model: Text | None = None
    api: Text | None = None
    key_env: Text | None = None
    headers: dict[str, Text] = {}
    extra: dict[str, Any] = {}
    timeout_s: Seconds = 300.0
    connect_timeout_s: Seconds = 30.0
    first_byte_timeout_s: Seconds | None = None
    patience_s: Patience = 60.0
    greedy: bool = True
    exclusive: bool = False
    arithmetic: Literal["stock", "invariant"] | None = None
    threads: Count | None = None


class _Tolerance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rate: Share | None = None
    confidence: Share = 0.95
    folded: bool = False


class _Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    endpoints: tuple[EndpointSettings, ...] = ()
    prompts: Text | Annotated[tuple[Text, ...], Meta(min_length=1)] | None = None
    n: Count | None = None
    company: Counts = (1, 8)
    filler: FillerChoice | None = None
    cache: CacheChoice | None = None
    logprobs: Switch | None = None
    stream: Switch | None = None
    max_tokens: Count | None = None
    seed: Annotated[int, Meta(ge=0)] = 0
    max_requests: Count | None = None
    tolerate: Any = "none"
    undecided: Literal["fail", "pass"] = "fail"
    baseline: Text = DEFAULT_BASELINE
    texts: bool = False


class PytestSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the pytest fixture asks; what is left out is at `assert_agrees`' own default."""

    endpoint: Text | None = None
    model: Text | None = None
    api: Text | None = None
    key_env: Text | None = None
    arithmetic: Literal["stock", "invariant"] | None = None
    store: Text | None = None
    n: Count | None = None
    company: Counts | None = None
    max_tokens: Count | None = None
    max_requests: Count | None = None
    filler: FillerChoice | None = None
    cache: CacheChoice | None = None
    logprobs: Switch | None = None
    stream: Switch | None = None
    headers: dict[str, Text] | None = None
    extra_json: dict[str, Any] | None = None
    greedy: bool | None = None
    threads: Count | None = None
    timeout_s: Seconds | None = None
    connect_timeout_s: Seconds | None = None
    first_byte_timeout_s: Seconds | None = None
    patience_s: Patience | None = None
    rate: Share | None = None
    confidence: Share | None = None
    folded: bool | None = None
    exclusive: bool | None = None
    undecided: Literal["fail", "pass", "skip"] | None = None


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    check: _Check = msgspec.field(default_factory=_Check)
    pytest: PytestSettings = msgspec.field(default_factory=PytestSettings)


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
    filler: FillerChoice | None = None
    cache: CacheChoice | None = None
    logprobs: Switch | None = None
    stream: Switch | None = None
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
    told = _file(path).check
    folder = path.parent
    return CheckSettings(
        source=path,
        endpoints=_named(told.endpoints or (EndpointSettings(name="builtin"),), path),
        prompts=folder / told.prompts if isinstance(told.prompts, str) else told.prompts,
        n=told.n,
        company=tuple(dict.fromkeys(told.company)),
        filler=told.filler,
        cache=told.cache,
        logprobs=told.logprobs,
        stream=told.stream,
        max_tokens=told.max_tokens,
        seed=told.seed,
        max_requests=told.max_requests,
        tolerance=_tolerance(told.tolerate, path),
        undecided=told.undecided,
        baseline=folder / told.baseline,
        texts=told.texts,
    )


def pytest_settings(folder: Path) -> Mapping[str, Any]:
    """How the pytest fixture asks: temp0.toml's [pytest], else [tool.temp0.pytest]; empty where neither says anything.

    Raises UsageError naming the key that cannot be right.
    """
    for path in (folder / name for name in FILES):
        told: Mapping[str, Any] = msgspec.to_builtins(_file(path).pytest) if path.is_file() else {}
        if told:
            return told
    return {}


def _named(endpoints: tuple[EndpointSettings, ...], path: Path) -> tuple[EndpointSettings, ...]:
    named = tuple(
        msgspec.structs.replace(one, name=one.name or f"endpoint-{place}")
        for place, one in enumerate(endpoints, start=1)
    )
    for one in named:
        foreign = _OF_THE_ENGINE if one.url else _OF_A_URL
        if contradicting := [field for field in foreign if getattr(one, field)]:
            what = "has a url" if one.url else "has no url, which makes it the built-in engine"
            raise UsageError(f"{path}: endpoint {one.name} {what}, and {contradicting[0]}; leave one of them out")
    names = [one.name for one in named]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: two endpoints are called {repeated!r}; the baseline knows them by name")
    return named


def _tolerance(told: object, path: Path) -> Tolerance:
    if told in ("none", "folded"):
        return Tolerance(folded=told == "folded")
    if not isinstance(told, Mapping):
        raise UsageError(
            f'{path}: check.tolerate is {told!r}, expected "none", "folded" or {{ rate = 0.05, confidence = 0.95 }}'
        )
    found = _as(_Tolerance, told, path, "check.tolerate")
    return Tolerance(rate=found.rate or 0.0, confidence=found.confidence, folded=found.folded)


def _file(path: Path) -> _File:
    told = _read(path)
    ours = told if path.name != FILES[1] else told.get("tool", {}).get("temp0", {})
    return _as(_File, ours, path, "")


def _as(kind: type[_Told], told: object, path: Path, where: str) -> _Told:
    """The settings as a value of that kind; what does not fit is told with its place in the file."""
    try:
        return msgspec.convert(told, kind)
    except msgspec.ValidationError as error:
        place = f"{where}." if where else ""
        words = str(error).replace("`$.", f"`{place}").replace("`$`", f"`{where or 'the file'}`")
        raise UsageError(f"{path}: {words}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
