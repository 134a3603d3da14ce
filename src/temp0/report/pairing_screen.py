"""Two runs side by side for a terminal: what each gave, how fast, and the sentence that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from temp0.core.analysis import Analysis, PromptAnalysis, Verdict
from temp0.core.pairing import PairedPrompt, PairedRate, Pairing
from temp0.core.run import Run
from temp0.report import figure
from temp0.report.naming import listed, who
from temp0.report.pairing_change import changed, changes, modal_forks
from temp0.report.prose import Prose
from temp0.report.table import STYLES, plain_table
from temp0.report.visible import beginning, visible

_PROMPTS = 40


def pairing_screen(pairing: Pairing) -> RenderableType:
    """Both sides as a rich renderable: verdicts, prompts, what changed, rates, conclusion."""
    parts: list[RenderableType] = [side("A", pairing.a, pairing.runs_a), side("B", pairing.b, pairing.runs_b)]
    if pairing.prompts:
        parts += ["", _prompts(pairing.prompts)]
    for more in (changes(pairing.prompts[:_PROMPTS]), modal_forks(pairing.prompts)):
        parts += ["", more] if more else []
    if pairing.rates:
        parts += ["", _rates(pairing.rates)]
    parts += ["", *(Prose(sentence) for sentence in conclusion(pairing))]
    return Group(*parts)


def conclusion(pairing: Pairing) -> Iterable[str]:
    """What follows, in sentences: who varied, whether the answers are the same, which was faster, what did not meet."""
    answered = [one for one in pairing.prompts if one.is_answered]
    if not answered:
        yield "No prompt was answered in both runs, so there is nothing to compare."
    else:
        yield _who_varied(answered)
        if unlike := [one.a.id for one in answered if one.part_at is not None]:
            yield f"Their commonest answers differ for {who(unlike)}."
        else:
            yield f"Their commonest answers are the same for {figure.every(len(answered), 'prompt')}."
        yield from changed(pairing)
    yield from _faster(pairing.rates)
    if imported := [letter for letter, one in (("A", pairing.a), ("B", pairing.b)) if "parameters" in one.untold]:
        yield (
            f"How many tokens an answer could have is not known of {' and '.join(imported)}, imported: prompts meet by "
            "their words alone."
        )
    for letter, ids in (("A", pairing.only_a), ("B", pairing.only_b)):
        if ids:
            yield f"Only in side {letter}, and compared with nothing: {listed(ids)}."


def side(letter: str, analysis: Analysis, runs: Sequence[Run]) -> RenderableType:
    """A side by its letter: verdict, endpoint and each of its runs."""
    line = Text(f"{letter}  ", style="bold")
    line.append(f"{analysis.verdict.upper():9}", style=f"bold {STYLES[analysis.verdict]}")
    line.append(f"  {visible(analysis.address.model)} at {visible(analysis.address.url)}", style="not bold")
    told = [f"{figure.some(analysis.requests, 'request')}, seed {analysis.seed}"]
    told = [f"run {run.id}, {visible(figure.moment(run.created))}{_elsewhere(run, analysis)}" for run in runs] + told
    lines = [", ".join(told)] if len(runs) == 1 else told
    return Group(line, *(Padding(Text(one, style="dim"), (0, 0, 0, 3)) for one in lines))


def _elsewhere(run: Run, analysis: Analysis) -> str:
    """Which endpoint a run of a group asked, where it was not the first one's."""
    address = run.address
    is_other = (address.url, address.model) != (analysis.address.url, analysis.address.model)
    return f", {visible(address.model)} at {visible(address.url)}" if is_other else ""


def _prompts(prompts: Sequence[PairedPrompt]) -> RenderableType:
    table = plain_table("prompt", "texts A", "", "texts B", "", "commonest answer", right=("texts A", "texts B"))
    for one in prompts[:_PROMPTS]:
        table.add_row(Text(beginning(one.a.id, 30)), *_side(one.a), *_side(one.b), _answer(one))
    left_out = len(prompts) - _PROMPTS
    more = [Text(f"… and {figure.some(left_out, 'more prompt')}", style="dim")] if left_out > 0 else []
    return Group(table, *more)


def _side(prompt: PromptAnalysis) -> tuple[str, Text]:
    return str(prompt.distinct.text), Text(prompt.verdict, style=STYLES[prompt.verdict])


def _answer(one: PairedPrompt) -> str:
    if not one.is_answered:
        return figure.UNKNOWN
    return "the same" if one.part_at is None else f"parts at char {one.part_at}"


def _rates(rates: Sequence[PairedRate]) -> RenderableType:
    right = ("tokens/s A", "tokens/s B", "B over A")
    table = plain_table("condition", *right, right=right)
    for one in rates:
        ratio = figure.UNKNOWN if one.ratio is None else f"{one.ratio:.2f} times"
        table.add_row(Text(one.condition), figure.number(one.a), figure.number(one.b), ratio)
    return table


def _who_varied(answered: Sequence[PairedPrompt]) -> str:
    varied = [sum(side.verdict is Verdict.DIVERGED for side in sides) for sides in _sides(answered)]
    told = [
        f"side {letter} gave more than one answer to {_of(count, len(answered))}"
        if count
        else f"side {letter} gave one answer to {figure.every(len(answered), 'prompt')}"
        for letter, count in zip("AB", varied, strict=True)
    ]
    return f"S{', '.join(told)[1:]}."


def _of(count: int, prompts: int) -> str:
    return f"{count:,} of {prompts:,} prompts" if count < prompts else figure.every(prompts, "prompt")


def _sides(answered: Sequence[PairedPrompt]) -> tuple[list[PromptAnalysis], list[PromptAnalysis]]:
    return [one.a for one in answered], [one.b for one in answered]


def _faster(rates: Sequence[PairedRate]) -> Iterable[str]:
    known = [one for one in rates if one.ratio is not None]
    if known:
        told = ", ".join(f"{one.ratio:.2f} times as fast as side A {_under(one.condition)}" for one in known)
        yield f"Side B was {told}; they were not asked at the same time, so that load counts, too."


def _under(condition: str) -> str:
    return condition if condition == "alone" else f"in {condition}" if "," not in condition else f"under “{condition}”"
