"""temp0 as a library: ask an endpoint, then analyse what came back.

Both give values of `core`. `ask` also works where an event loop already runs, as in a notebook.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from temp0.core.analysis import Analysis
from temp0.core.judgement import analysis
from temp0.core.plan import Prompt
from temp0.core.run import Attempt, Run
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.builtin import Builtin
from temp0.workflow.extra import extra_fields, is_greedy
from temp0.workflow.planning import Wish
from temp0.workflow.preset import Ask, proposal
from temp0.workflow.probing import Where, probe
from temp0.workflow.varying import CacheChoice, FillerChoice, Said, Switch, check_count

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def ask_async(
    url: str | None = None,
    *,
    model: str | None = None,
    prompts: str | Sequence[str | Prompt] | None = None,
    n: int | None = None,
    max_tokens: int | None = None,
    ask: Ask | None = None,
    company: int | Sequence[int] | None = None,
    alone: int | None = None,
    filler: FillerChoice | None = None,
    cache: CacheChoice | None = None,
    logprobs: Switch | None = None,
    stream: Switch | None = None,
    exclusive: bool = False,
    seed: int = 0,
    api: str | None = None,
    key_env: str | None = None,
    headers: Mapping[str, str] | None = None,
    extra_json: Mapping[str, object] | str | None = None,
    greedy: bool = True,
    timeout_s: float = 300.0,
    connect_timeout_s: float = 30.0,
    first_byte_timeout_s: float | None = None,
    patience_s: float = 60.0,
    keep_raw: bool = False,
    weights: Path | None = None,
    arithmetic: str = "stock",
    threads: int | None = None,
    store: Path | str | None = None,
    max_requests: int | None = None,
    resume: Run | None = None,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> Run:
    """Ask every prompt `n` times under each condition and give the run; the coroutine behind `ask`.

    Arguments are those of `temp0 probe`. `prompts` are texts or `Prompt` values (without them, our own five), `n`
    counts attempts under each condition, `company` lists requests in flight (1 is alone; by default 1 and 8),
    `timeout_s` is in seconds. `ask` names a preset, of which is left out what the endpoint cannot do: `run.plan`
    tells. Not `greedy` sends no temperature. `extra_json` is merged into every body, and recorded. The run is kept only
    in memory unless `store` names a file; `keep_raw` stores answers as they came. `resume` is a run of the same
    endpoint, of which what it lacks is asked, by its own plan. A failed attempt is part of the run,
    and an interruption gives the run so far; raises `Temp0Error` where nothing could be asked.
    """
    if max_requests is not None:
        check_count("max_requests", max_requests)
    said = Said(company=company, filler=filler, cache=cache, logprobs=logprobs, stream=stream, alone=alone)
    proposed = proposal(ask, said, n=n)
    wish = Wish(n=proposed.n, max_tokens=max_tokens)
    plan = planning.plan(_prompts(prompts, wish), proposed.conditions, seed=seed, exclusive=exclusive)
    extra = extra_fields(extra_json)
    plan = replace(plan, greedy=greedy and is_greedy(extra))
    where = Where(
        url=url,
        model=model,
        api=api,
        key_env=key_env,
        headers=tuple((headers or {}).items()),
        extra=extra,
        timeout_s=timeout_s,
        connect_timeout_s=connect_timeout_s,
        first_byte_timeout_s=first_byte_timeout_s,
        keep_raw=keep_raw,
        engine=Builtin(weights=weights, arithmetic=arithmetic, threads=threads),
    )
    carry_out = partial(
        probe,
        plan,
        where,
        optional=proposed.optional,
        max_requests=max_requests,
        resume=resume,
        patience_s=patience_s,
        on_attempt=on_attempt,
    )
    if store is None:
        return (await carry_out()).run
    with Store.open(Path(store)) as kept:
        return (await carry_out(store=kept)).run


def analyze(run: Run) -> Analysis:
    """What a run proves: verdict, causes, and for each prompt its texts, conditions, comparisons and fork tree."""
    return analysis(run)


def _prompts(prompts: str | Sequence[str | Prompt] | None, wish: Wish) -> tuple[Prompt, ...]:
    if prompts is None:
        return planning.built_in_prompts(wish)
    if isinstance(prompts, str):
        return planning.text_prompts([prompts], wish)
    given = list(prompts)
    texts = planning.text_prompts([one if isinstance(one, str) else "" for one in given], wish)
    return tuple(one if isinstance(one, Prompt) else text for one, text in zip(given, texts, strict=True))


def _blocking(asked: Callable[Arguments, Coroutine[Any, Any, Result]]) -> Callable[Arguments, Result]:
    """The same function for callers that do not await, with the same typed arguments."""

    @wraps(asked)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        run = _in_own_thread if _is_loop_running() else asyncio.run
        return run(asked(*arguments, **named))

    return call


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_own_thread(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine beside the loop that runs here; Ctrl-C ends it, and what it then gives is the result."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(coroutine)
    with ThreadPoolExecutor(max_workers=1) as thread:
        done = thread.submit(loop.run_until_complete, task)
        try:
            return done.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            return done.result()
        finally:
            loop.close()


ask = _blocking(ask_async)
ask.__name__ = ask.__qualname__ = "ask"
ask.__doc__ = (ask_async.__doc__ or "").replace("; the coroutine behind `ask`", "; works where an event loop runs, too")
