"""What the gate and the pytest fixture are told by a file: temp0.toml, or [tool.temp0] of pyproject.toml.

A key that is unknown, of another type or contradicts another one is refused by name: a setting that nobody reads would
make a gate that checks something else than its owner thinks.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from temp0.core.gate import Tolerance
from temp0.errors import UsageError
from temp0.probe.header import may_be_secret
from temp0.workflow.preset import Ask
from temp0.workflow.varying import CacheChoice, FillerChoice, Switch

FILES = ("temp0.toml", "pyproject.toml")
DEFAULT_BASELINE = "temp0-baseline.json"

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0, le=1e9)]  # TOML has inf and nan
Patience = Annotated[float, Meta(ge=0, le=1e9)]
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
    company: Count | Counts | None = None
    alone: Count | None = None
    ask: Ask | None = None
    seed: Annotated[int, Meta(ge=0)] | None = None
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
    check: _Check | None = None
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
    """The nearest settings file with a gate, in a folder or one above it in the same repository. Raises UsageError.

    In each folder temp0.toml with [check] goes before a pyproject.toml with [tool.temp0.check].
    """
    for path in _files(folder):
        if _file(path).check is not None:
            return path
    raise UsageError(
        f"no settings in {folder}, nor above it: write a temp0.toml with [check] and [[check.endpoints]], or "
        "[tool.temp0.check] in pyproject.toml; docs/gate.md shows one"
    )


def _files(folder: Path) -> Iterator[Path]:
    """Files that may hold settings, the nearest first, up to the folder that holds the repository."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        yield from (path for path in (place / name for name in FILES) if path.is_file())
        if (place / ".git").exists():
            return


def place_in_repository(path: Path) -> str:
    """A file's path from the folder that holds its repository, else from the working directory, with slashes."""
    whole = path.absolute()
    for root in (*(folder for folder in whole.parents if (folder / ".git").exists()), Path.cwd()):
        if whole.is_relative_to(root):
            return whole.relative_to(root).as_posix()
    return path.name


def check_settings(path: Path) -> CheckSettings:
    """The gate that a settings file describes. Raises UsageError naming the key that cannot be right."""
    told = _file(path).check
    if told is None:
        table = "[check]" if path.name != FILES[1] else "[tool.temp0.check]"
        raise UsageError(f"{path} describes no gate: it has no {table}; docs/gate.md shows one")
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
    """How the pytest fixture asks: the nearest [pytest] of temp0.toml or [tool.temp0.pytest], looked for upwards.

    Empty where no file says anything. Raises UsageError naming the key that cannot be right.
    """
    for path in _files(folder):
        told: Mapping[str, Any] = msgspec.to_builtins(_file(path).pytest)
        if told:
            _check_headers(told.get("headers", {}), f"{path}: pytest")
            return told
    return {}


def marker_settings(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a marker has the fixture ask. Raises UsageError naming the setting that cannot be right."""
    found: Mapping[str, Any] = msgspec.to_builtins(_as(PytestSettings, told, "@pytest.mark.temp0", ""))
    return found


def header_values(headers: Mapping[str, str], whose: str) -> dict[str, str]:
    """Headers as they are sent: a value that begins with $ is that of the variable which it names.

    Raises UsageError where the variable is not set.
    """
    return {name: _header(whose, name, value) for name, value in headers.items()}


def _header(whose: str, name: str, value: str) -> str:
    if not value.startswith("$"):
        return value
    if (held := os.environ.get(value[1:])) is None:
        raise UsageError(f"{whose}: the header {name} wants the variable {value[1:]}, which is not set")
    return held


def _check_headers(headers: Mapping[str, str], whose: str) -> None:
    for name, value in headers.items():
        if may_be_secret(name.lower()) and not value.startswith("$"):
            raise UsageError(
                f"{whose}: the header {name} may hold a secret, which no file should; put it into a variable, and "
                f'write the name of that: {name} = "$VARIABLE"'
            )


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
        _check_headers(one.headers, f"{path}: endpoint {one.name}")
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
    told: object = _read(path)
    for name in ("tool", "temp0") if path.name == FILES[1] else ():
        told = told.get(name, {}) if isinstance(told, Mapping) else told
    return _as(_File, told, path, "")


def _as(kind: type[_Told], told: object, source: object, where: str) -> _Told:
    """The settings as a value of that kind; what does not fit is told with its place in the file."""
    try:
        return msgspec.convert(told, kind)
    except msgspec.ValidationError as error:
        place = f"{where}." if where else ""
        words = str(error).replace("`$.", f"`{place}").replace("`$`", f"`{where or 'the file'}`")
        raise UsageError(f"{source}: {words}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
