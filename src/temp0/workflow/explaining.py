"""The second pass at the forks of a stored run: what is asked again, and our own engine followed down.

The second pass is a run of its own, recorded like any other; the first run's verdict stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from temp0.core.analysis import Analysis, PromptAnalysis
from temp0.core.continuation import beginning, continuation, first_prompts
from temp0.core.descent import Descent, Origin
from temp0.core.judgement import analysis
from temp0.core.junction import walk
from temp0.core.plan import Condition, Plan, Prompt
from temp0.core.run import Run
from temp0.core.second_pass import SecondPass, second_pass
from temp0.core.tree_record import TreeClass
from temp0.engine.arithmetic import arithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.chat import chat_template_of
from temp0.engine.descent import Diver
from temp0.engine.watched_model import PRODUCTS
from temp0.engine.weights import read_checkpoint
from temp0.errors import UsageError
from temp0.lab.kernel import Kernel, prepared_kernel
from temp0.lab.place import place_classes, places_are_independent
from temp0.lab.probe import Shape
from temp0.lab.sweep import tree_class
from temp0.probe.continuing import continues
from temp0.probe.dialect import DIALECTS
from temp0.workflow.builtin import Builtin
from temp0.workflow.own_engine import OwnEngine, own_engine
from temp0.workflow.varying import check_count

FORKS_OF_A_PROMPT = 4
"""At how many forks of one prompt an answer is continued, the earliest first."""
TOKENS_AFTER = 16
"""How far a continued answer is followed: from the last word boundary before a fork over the fork itself."""
OTHER_COMPANIES = (8, 4, 2, 16)
"""Companies in which our own engine is tried after the run's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A run, what a second pass at its forks showed, and how deep its forks were followed in our own engine."""

    first: Analysis
    second: SecondPass
    descents: tuple[Descent, ...] = ()


def explained(first: Run, second: Run, descents: Sequence[Descent] = ()) -> Explanation:
    """Both runs read together."""
    judged = analysis(first)
    return Explanation(first=judged, second=second_pass(judged, second), descents=tuple(descents))


def second_plan(run: Run, *, n: int = 8, company: int | None = None, logprobs: bool = True, seed: int = 0) -> Plan:
    """What to ask again: every prompt alone and in company, and its answers continued from before their forks.

    `logprobs` are asked for where the dialect has them, and answers are continued where it can. `company` is the run's
    own largest unless given. Of a run that is a second pass itself, only the first prompts are asked. Raises UsageError
    where `n` or `company` is no count, and for an imported run.
    """
    check_count("n", n)
    if run.address.url.startswith("import:"):
        raise UsageError(f"{run.address.url} was imported: nobody can be asked there; name a second pass with --with")
    told = analysis(run)
    logprobs = logprobs and (run.address.api not in DIALECTS or DIALECTS[run.address.api].can_logprobs)
    k = company or max(condition.company for condition in run.plan.conditions)
    check_count("company", k)
    conditions = [Condition(company=company, logprobs=logprobs) for company in dict.fromkeys((1, k))]
    own = {prompt.id: prompt for prompt in first_prompts(run.plan)}
    prompts = [_again(prompt, n) for prompt in own.values()]
    if continues(run.address):
        prompts += [one for prompt in told.prompts if prompt.id in own for one in _continued(own[prompt.id], prompt, n)]
    return Plan(prompts=tuple(prompts), conditions=tuple(conditions), seed=seed, exclusive=run.plan.exclusive)


def _again(prompt: Prompt, n: int) -> Prompt:
    return Prompt(id=prompt.id, messages=prompt.messages, n=n, max_tokens=prompt.max_tokens)


def _continued(prompt: Prompt, seen: PromptAnalysis, n: int) -> list[Prompt]:
    """The prompt with its answer begun, once for each beginning that a fork of it has."""
    prefixes = [prefix for prefix, _ in walk(seen.tree)][:FORKS_OF_A_PROMPT] if seen.tree else []
    begun = dict.fromkeys(text for prefix in prefixes if (text := beginning(prefix)))
    most = min(TOKENS_AFTER, prompt.max_tokens)
    return [continuation(prompt, text, n=n, max_tokens=most) for text in begun]


def _unheard(*_: object) -> None:
    """Nobody is told how far it is."""


def descents(
    run: Run,
    *,
    weights: Path | None = None,
    threads: int | None = None,
    most: int = 3,
    on_company: Callable[[str, int], None] = _unheard,
    on_descent: Callable[[Descent], None] = _unheard,
) -> tuple[Descent, ...]:
    """The forks of a run of our own engine followed down, of at most `most` prompts.

    Where no prompt diverged, the first that was answered is looked at. `on_company` hears which prompt is tried in
    which company, and of 0 when its two orders of addition are being revealed; `on_descent` gets each as it is done.
    Raises ModelError for weights that cannot be read, UsageError for another engine's run or other weights.
    """
    engine = own_engine(run, weights)
    if not isinstance(engine, OwnEngine):
        why = engine or f"run {run.id} was made with {run.address.url}, and only our own engine can be looked into"
        raise UsageError(why)
    checkpoint = read_checkpoint(weights or builtin_weights())
    Builtin(arithmetic=engine.arithmetic, model=engine.model).check_model(checkpoint.name)
    own = {prompt.id: prompt for prompt in first_prompts(run.plan)}
    known = own.keys() & engine.bodies.keys()
    answered = [prompt for prompt in analysis(run).prompts if prompt.tree and prompt.id in known]
    forked = [prompt.id for prompt in answered if prompt.distinct.text > 1] or [prompt.id for prompt in answered[:1]]
    companies, template = _companies(run), chat_template_of(checkpoint)
    diver = Diver(
        checkpoint,
        arithmetic(engine.arithmetic, activations=engine.activations, threads=threads),
        most=max(companies),
    )
    found = []
    for prompt in [own[one] for one in forked][:most]:
        tell = partial(on_company, prompt.id)
        descent = diver.descend(
            engine.text_read(prompt.id, template),
            prompt=prompt.text,
            companies=companies,
            max_tokens=prompt.max_tokens,
            on_company=tell,
        )
        tell(0)
        found.append(replace(descent, trees=_trees(descent, engine.arithmetic, threads)))
        on_descent(found[-1])
    return tuple(found)


def _trees(descent: Descent, name: str, threads: int | None) -> tuple[TreeClass, TreeClass] | None:
    """The two orders of addition at a descent's origin, revealed in the engine's own product at its real size.

    `None` where the origin is no product.
    """
    origin = descent.origin
    if origin is None or origin.operation not in PRODUCTS:
        return None
    multiplied = arithmetic(name, activations="fp32", threads=threads)
    kernel = prepared_kernel(f"engine.{name}", "float32", multiplied.linear)
    with multiplied.limited():
        return (
            _tree_at(kernel, origin, rows=origin.rows_alone, row=origin.row_alone),
            _tree_at(kernel, origin, rows=origin.rows_in_company, row=origin.row_in_company),
        )


def _tree_at(kernel: Kernel, origin: Origin, *, rows: int, row: int) -> TreeClass:
    """The tree of the origin's sum in a product of so many rows: that of all places which add as it does."""
    shape = Shape(rows=rows, columns=origin.outputs, summands=origin.inputs)
    alike = next(
        one
        for one in place_classes(kernel, shape)
        if any(row in each.rows and origin.column in each.columns for each in one.rectangles)
    )
    return tree_class(kernel, shape, alike, is_independent=places_are_independent(kernel, shape))


def _companies(run: Run) -> tuple[int, ...]:
    own = sorted({condition.company for condition in run.plan.conditions} - {1}, reverse=True)
    return tuple(dict.fromkeys((*own, *OTHER_COMPANIES)))
