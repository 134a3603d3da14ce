"""An analysis for a terminal: verdict first, then what was seen, why, and what it cannot tell.

It reads at 80 columns and without colour: colour only repeats what words and brackets already say. Strangers' text
goes in as plain text made visible, never as markup.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from temp0.core.analysis import Analysis, PromptAnalysis, Verdict
from temp0.report import figure
from temp0.report.answer import completions
from temp0.report.cause_word import observer_notes
from temp0.report.closing import advice, again, limits
from temp0.report.condition_table import BOUND
from temp0.report.explanation_screen import explanation_screen
from temp0.report.headline import headline, tested_pairs, total_agreement
from temp0.report.legend import legend
from temp0.report.naming import who
from temp0.report.panel import panel
from temp0.report.prose import Command, Prose
from temp0.report.table import STYLES, plain_table
from temp0.report.unanswered import is_answered, unanswered
from temp0.report.visible import ELLIPSIS, beginning, visible
from temp0.report.witness_screen import witness_screen

_DETAILED = 8
_LINES = 40


def terminal(analysis: Analysis, *, detailed: int = _DETAILED, store: str | None = None) -> RenderableType:
    """The analysis as a rich renderable; at most `detailed` prompts in full, the others one line each.

    `store` is the path of the store that keeps the run, where the commands shown must name it.
    """
    answered = [prompt for prompt in analysis.prompts if is_answered(prompt)]
    shown, brief = _split(answered, detailed)
    tested, notes = tested_pairs(answered), observer_notes(analysis)
    parts: list[RenderableType] = [
        _verdict(analysis),
        *explanation_screen(analysis),
        *witness_screen(analysis),
    ]
    for prompt in shown:
        parts += ["", *panel(prompt, tested, note=notes.get(prompt.id))]
    if brief:
        parts += ["", _brief(brief)]
    parts += [*_unanswered(analysis.prompts), *_closing(analysis, store)]
    return Group(*parts)


def terminal_text(
    analysis: Analysis, *, width: int, color: bool = False, detailed: int = _DETAILED, store: str | None = None
) -> str:
    """The same as text; see `rendered`."""
    return rendered(terminal(analysis, detailed=detailed, store=store), width=width, color=color)


def rendered(shown: RenderableType, *, width: int, color: bool = False) -> str:
    """A renderable as text `width` columns wide, whatever the environment says; with `color`, ANSI escapes of ours."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(shown, crop=False)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1])


def _split(
    prompts: Sequence[PromptAnalysis], detailed: int
) -> tuple[Sequence[PromptAnalysis], Sequence[PromptAnalysis]]:
    """What to show in full and what in brief: all in full where they are few, else those that diverged most."""
    if len(prompts) <= detailed:
        return prompts, ()
    parted = [prompt for prompt in prompts if prompt.verdict is Verdict.DIVERGED]
    widest = sorted(parted, key=lambda prompt: -prompt.distinct.text)[:detailed]
    full = {prompt.id for prompt in widest}
    return [one for one in prompts if one.id in full], [one for one in prompts if one.id not in full]


def _verdict(analysis: Analysis) -> RenderableType:
    told, style = headline(analysis), STYLES[analysis.verdict]
    line = Text(f" {analysis.verdict.upper()} ", style=f"bold reverse {style}")
    line.append(f" {told.sentence}", style="bold not reverse default")
    address = analysis.address
    asked = Prose(f"{visible(address.model)} at {visible(address.url)} ({address.api}), ", style="dim")
    asked.append(
        f"{figure.some(analysis.requests, 'request')}, {visible(figure.moment(analysis.created))}, seed {analysis.seed}"
    )
    if total := total_agreement(analysis):
        asked.append(f"; {total}")
    return Group(line, *(Prose(sentence) for sentence in told.reach), asked)


def _brief(prompts: Sequence[PromptAnalysis]) -> RenderableType:
    order = [Verdict.DIVERGED, Verdict.UNDECIDED, Verdict.AGREED]
    ordered = sorted(prompts, key=lambda prompt: order.index(prompt.verdict))
    table = plain_table("prompt", "verdict", "texts", "completions", BOUND, right=("texts", "completions", BOUND))
    for prompt in ordered[:_LINES]:
        table.add_row(
            Text(beginning(prompt.id, 30)),
            Text(prompt.verdict, style=STYLES[prompt.verdict]),
            str(prompt.distinct.text),
            str(completions(prompt)),
            Prose(figure.percent(_weakest_bound(prompt))),
        )
    left_out = ordered[_LINES:]
    if not left_out:
        return table
    kinds = [f"{sum(one.verdict is kind for one in left_out):,} {kind}" for kind in order]
    counted = ", ".join(kind for kind in kinds if not kind.startswith("0 "))
    return Group(table, Text(f"{ELLIPSIS} and {figure.some(len(left_out), 'more prompt')}: {counted}", style="dim"))


def _weakest_bound(prompt: PromptAnalysis) -> float | None:
    """The weakest bound of a prompt's conditions; `None` where any of them has none."""
    bounds = [one.variant_rate_upper for one in prompt.conditions]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None


def _unanswered(prompts: Sequence[PromptAnalysis]) -> Iterable[RenderableType]:
    groups = unanswered(prompts)
    if groups:
        yield Text("\nNo completion counted", style="bold")
    for group in groups:
        text = Text(who(group.ids), style="bold")
        yield _indented(text.append(f": {'; '.join(group.problems)}", style="not bold"))


def _closing(analysis: Analysis, store: str | None) -> Iterable[RenderableType]:
    if any(map(is_answered, analysis.prompts)):
        words = legend(analysis, bound=" ".join(BOUND.split()))
        yield from _section("How to read this", (f"{word}: {meaning}." for word, meaning in words))
    yield from _section("What this cannot tell", limits(analysis))
    yield from _section("See it again", [told] if (told := advice(analysis)) else [], always=True)
    for command, what in again(analysis, store=store):
        yield Command(command, what)


def _section(heading: str, sentences: Iterable[str], *, always: bool = False) -> Iterable[RenderableType]:
    """A heading with its sentences; nothing where there are none, but with `always`."""
    told = list(sentences)
    if told or always:
        yield Text(f"\n{heading}", style="bold")
    for sentence in told:
        yield _indented(Prose(sentence))


def _indented(shown: RenderableType) -> Padding:
    return Padding(shown, (0, 0, 0, 2))
