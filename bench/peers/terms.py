"""Under which terms the figures hold, and who the contenders were, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from peers.contender import Choice
from peers.rounds import Effort, Level
from temp0 import kernels

_SPINNING = 0.05  # of one core


def terms(choice: Choice, effort: Effort, levels: Mapping[int, Level], *, load_before: float) -> str:
    """The terms, a point each; `load_before` is the machine's load average before anything was started."""
    fixed = (
        f"Median (range); rounds: {effort.rounds}, and their order rotates. Ratios are taken within a round.",
        f"Over HTTP, greedy, the five built-in prompts in rotation, {effort.max_tokens} tokens each whatever the model "
        "emits, as the server counts them, in whole waves. No prompt cache anywhere.",
        f"{choice.threads} threads for each server; the client, the same for all, runs on the same cores. Every server "
        "is up while one is asked.",
        "temp0 and OpenVINO admit all that are in flight. llama.cpp has as many slots as requests in flight; at 4, 8 "
        "and 16 the better of two counts in short trials, named where it is another.",
        f"KV cache: temp0 fp32, llama.cpp {choice.llama_kv}, OpenVINO as it says below. BF16 holds the values that "
        "temp0 computes with; F16 is rounded from the same Q4_1 file by itself.",
        f"Load average before the first server: {load_before:.2f}. These figures want 0: threads that wait for each "
        "other are many times slower where others are at work.",
        "The roofs are measured between the rows they bound, with as many threads, each the best of three tries.",
    )
    return "".join(f"* {line}\n" for line in (*fixed, *_seen(levels)))


def _seen(levels: Mapping[int, Level]) -> Iterator[str]:
    yield f"temp0: kernels on their {kernels.instruction_set()} path"
    abouts = {name: about for level in levels.values() for name, about in level.about.items() if about}
    yield from (f"{name}: {about}" for name, about in abouts.items())
    counts = {name: count for level in levels.values() for name, count in level.prompt_tokens.items()}
    for count in dict.fromkeys(counts.values()):
        who = "every server" if len(set(counts.values())) == 1 else ", ".join(n for n in counts if counts[n] == count)
        yield f"Prompts have {', '.join(map(str, count))} tokens with {who}"
    yield _idle(levels)


def _idle(levels: Mapping[int, Level]) -> str:
    shares = dict(chain.from_iterable(level.idle.items() for level in levels.values()))
    spinning = {
        name: share
        for level in levels.values()
        for name, share in level.idle.items()
        if share is not None and share > _SPINNING
    }
    if spinning:
        return "Idle servers took processor time: " + ", ".join(f"{n} {s:.0%} of a core" for n, s in spinning.items())
    if None in shares.values():
        return "Whether idle servers took processor time is not known: this system does not tell"
    return f"No idle server took more than {_SPINNING:.0%} of a core"
