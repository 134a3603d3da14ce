"""Whether the conditions were met: the company that was really reached, the prefix cache, and logprobs asked for.

A condition that was met as asked needs no sentence; one that was not, or of which nobody can tell, gets one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from temp0.core.analysis import Analysis, CachedTokens, Company, ConditionAnalysis
from temp0.core.company import is_shown
from temp0.core.plan import Cache
from temp0.report.doubt import UNTOLD, is_untold
from temp0.report.figure import number, some, spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What is to be known of some conditions, by name."""

    conditions: tuple[str, ...]
    sentence: str


def witnesses(analysis: Analysis) -> tuple[Witness, ...]:
    """What became of the conditions over all prompts, those of which the same is to be said together."""
    by_name: dict[str, list[ConditionAnalysis]] = {}
    for prompt in analysis.prompts:
        for one in prompt.conditions:
            if one.attempts:
                by_name.setdefault(one.name, []).append(one)
    alike: dict[str, list[str]] = {}
    for name, seen in by_name.items():
        told_of = (*_company([one.company for one in seen]), *_cache(seen, analysis.cold_by), *_logprobs(seen))
        for sentence in told_of:
            alike.setdefault(sentence, []).append(name)
    told = [Witness(conditions=tuple(names), sentence=sentence) for sentence, names in alike.items()]
    return (*told, *_as_found(by_name))


def _company(seen: Sequence[Company]) -> Iterable[str]:
    if seen[0].asked == 0:  # what was in flight beside an imported answer nobody can tell
        return
    if seen[0].asked == 1:
        counts = [one.reached for one in seen if one.measured_by == "server" and one.reached is not None]
        if counts and max(counts) > 1:
            yield f"strangers were there: the server counted up to {number(max(counts))} running"
        return
    short = [one for one in seen if one.shortfall is not None or not is_shown(one)]
    if short:
        where = "" if len(short) == len(seen) else f" (so for {len(short)} of {some(len(seen), 'prompt')})"
        yield f"{_reached(short)}{_shortfall(short)}{where}"


def _reached(short: Sequence[Company]) -> str:
    asked = short[0].asked
    counts = [one.reached for one in short if one.measured_by == "server" and one.reached is not None]
    if counts:
        low, high = number(min(counts)), number(max(counts))
        return f"{low if low == high else f'{low} to {high}'} of {asked} reached, by the server's own count: "
    bounds = [one.reached for one in short if is_shown(one) and one.reached is not None]
    return f"at least {number(min(bounds))} of {asked} reached: " if len(bounds) == len(short) else "not shown: "


def _shortfall(short: Sequence[Company]) -> str:
    peaks = [one.peak for one in short if one.peak is not None]
    flights = [one.in_flight for one in short if one.in_flight is not None]
    match short[0].shortfall:
        case "serial":
            ours = f", with {number(min(flights))} of ours in flight" if flights else ""
            return f"the server answered one at a time{ours}"
        case "pool":
            return f"at most {max(peaks)} of ours were in flight" if peaks else "fewer of ours were in flight"
        case "late":
            ours = f"{max(peaks)} of ours were in flight, but" if peaks else "ours were in flight, but"
            return f"the load came too late ({ours} not while the judged ones ran)"
    return "the server gives no count of its own, and the time saved does not show that requests ran together"


def _cache(seen: Sequence[ConditionAnalysis], cold_by: str | None) -> Iterable[str]:
    cache = seen[0].condition.cache
    told = _told(seen)
    if cache == "cold":
        made = f"made cold by {cold_by}" if cold_by else "how it was made cold is not recorded"
        yield f"{made}{', and yet ' if any(one.max for one in told) else '; '}{_cached(cache, told)}"
    elif cache == "warm":
        yield _cached(cache, told)


def _as_found(by_name: Mapping[str, Sequence[ConditionAnalysis]]) -> Iterable[Witness]:
    """What was found in the cache where nothing was asked of it, over all such conditions; nothing if it was empty."""
    found = {
        name: told for name, seen in by_name.items() if seen[0].condition.cache == "as-found" and (told := _told(seen))
    }
    told = [one for each in found.values() for one in each]
    if any(one.max for one in told):
        yield Witness(conditions=tuple(found), sentence=_cached("as-found", told))


def _logprobs(seen: Sequence[ConditionAnalysis]) -> Iterable[str]:
    untold = [one for one in seen if is_untold(one)]
    if untold:
        where = "" if len(untold) == len(seen) else f" (so for {len(untold)} of {some(len(seen), 'prompt')})"
        yield f"{UNTOLD}{where}"


def _told(seen: Sequence[ConditionAnalysis]) -> list[CachedTokens]:
    return [one.cached_tokens for one in seen if one.cached_tokens is not None]


def _cached(cache: Cache, told: Sequence[CachedTokens]) -> str:
    if not told:
        return "the server does not tell how many prompt tokens came from its cache"
    low, high, n = min(one.min for one in told), max(one.max for one in told), sum(one.n for one in told)
    counted = f"the server counted {spread(low, high)} prompt tokens from its cache ({some(n, 'completion')})"
    if not high:
        counted = f"by the server's count no prompt token came from its cache ({some(n, 'completion')})"
        return f"not warm: {counted}" if cache == "warm" else counted
    return {
        "cold": f"not cold: {counted}",
        "warm": counted,
        "as-found": f"the prefix cache was used as found: {counted}",
    }[cache]
