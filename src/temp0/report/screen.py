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
from temp0.report.headline import again, completions, headline, limits, listed, total_agreement, why
from temp0.report.panel import STYLES, panel, plain_table
from temp0.report.visible import ELLIPSIS, beginning, visible

_DETAILED = 8
_LINES = 40


def terminal(analysis: Analysis, *, detailed: int = _DETAILED) -> RenderableType:
    """The analysis as a rich renderable; at most `detailed` prompts in full, the others one line each."""
    shown, brief = _split(analysis.prompts, detailed)
    parts: list[RenderableType] = [_verdict(analysis), *_causes(analysis)]
    for prompt in shown:
        parts += ["", *panel(prompt)]
    if brief:
        parts += ["", _brief(brief)]
    parts += ["", *_closing(analysis)]
    return Group(*parts)


def terminal_text(analysis: Analysis, *, width: int, color: bool = False, detailed: int = _DETAILED) -> str:
    """The same as text `width` columns wide, whatever the environment says; with `color`, ANSI escapes of ours."""
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
        console.print(terminal(analysis, detailed=detailed))
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
    asked = Text(f"{visible(address.model)} at {visible(address.url)} ({address.api}), ", style="dim")
    asked.append(
        f"{figure.some(analysis.requests, 'request')}, {visible(figure.moment(analysis.created))}, seed {analysis.seed}"
    )
    if total := total_agreement(analysis):
        asked.append(f"; {total}")
    return Group(line, *(Text(sentence) for sentence in told.reach), asked)


def _causes(analysis: Analysis) -> Iterable[RenderableType]:
    heading, nothing = why(analysis)
    if not analysis.causes and analysis.verdict is not Verdict.DIVERGED:
        return
    yield Text(f"\n{heading}", style="bold")
    if nothing:
        yield Padding(Text(nothing), (0, 0, 0, 2))
    for cause in analysis.causes:
        text = Text(f"{cause.cause} ({cause.certainty})", style="bold")
        text.append(f"  {listed(cause.prompts)}\n" if cause.prompts else "\n", style="not bold dim")
        text.append(f"{visible(cause.evidence)}\n", style="not bold")
        text.append(f"To do: {visible(cause.remedy)}", style="not bold")
        yield Padding(text, (0, 0, 0, 2))


def _brief(prompts: Sequence[PromptAnalysis]) -> RenderableType:
    order = [Verdict.DIVERGED, Verdict.UNDECIDED, Verdict.AGREED]
    ordered = sorted(prompts, key=lambda prompt: order.index(prompt.verdict))
    table = plain_table(
        "prompt", "verdict", "texts", "completions", "unlike the mode at most", right=("texts", "completions")
    )
    for prompt in ordered[:_LINES]:
        bounds = [one.variant_rate_upper for one in prompt.conditions if one.variant_rate_upper is not None]
        table.add_row(
            Text(beginning(prompt.id, 30)),
            Text(prompt.verdict, style=STYLES[prompt.verdict]),
            str(prompt.distinct.text),
            str(completions(prompt)),
            figure.percent(max(bounds, default=None)),
        )
    left_out = ordered[_LINES:]
    if not left_out:
        return table
    kinds = [f"{sum(one.verdict is kind for one in left_out):,} {kind}" for kind in order]
    counted = ", ".join(kind for kind in kinds if not kind.startswith("0 "))
    return Group(table, Text(f"{ELLIPSIS} and {figure.some(len(left_out), 'more prompt')}: {counted}", style="dim"))


def _closing(analysis: Analysis) -> Iterable[RenderableType]:
    told = limits(analysis)
    if told:
        yield Text("What this cannot tell", style="bold")
        for sentence in told:
            yield Padding(Text(sentence), (0, 0, 0, 2))
        yield ""
    yield Text("See it again", style="bold")
    for command, what in again(analysis):
        yield Padding(Text.assemble(command, (f"   {what}", "dim")), (0, 0, 0, 2))
