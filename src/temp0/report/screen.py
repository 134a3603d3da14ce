"""An analysis for a terminal: verdict first, then what was seen, why, and what it cannot tell.

It reads at 80 columns and without colour: colour repeats what words and brackets already say. Strangers' text goes
in as plain text made visible, never as markup.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from temp0.core.analysis import (
    Analysis,
    Comparison,
    ConditionAnalysis,
    DistinctText,
    Finish,
    Fork,
    ForkTree,
    PromptAnalysis,
    Verdict,
)
from temp0.report import figure
from temp0.report.headline import again, answers, completions, headline, limits, listed
from temp0.report.outline import Limb, Outline, fork_of_each, outline
from temp0.report.visible import ELLIPSIS, beginning, elided, ending, visible

STYLES = {Verdict.AGREED: "green", Verdict.DIVERGED: "red", Verdict.UNDECIDED: "yellow"}
_FORK_STYLE = Style(bold=True, color="red")
_DETAILED = 8
_LINES = 40
_TEXTS = 15
_COLUMNS = 3
_SNIPPET = 240


def terminal(analysis: Analysis, *, detailed: int = _DETAILED) -> RenderableType:
    """The analysis as a rich renderable; at most `detailed` prompts in full, the others one line each."""
    shown, brief = _split(analysis.prompts, detailed)
    parts: list[RenderableType] = [_verdict(analysis), *_causes(analysis)]
    for prompt in shown:
        parts += ["", *_prompt(prompt)]
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
        markup=False,
        emoji=False,
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
    asked = Text(
        f"{visible(address.model)} at {visible(address.url)} ({address.api}), {figure.some(analysis.requests, 'request')}, "
        f"{analysis.created}, seed {analysis.seed}",
        style="dim",
    )
    return Group(line, *(Text(sentence) for sentence in told.reach), asked)


def _causes(analysis: Analysis) -> Iterable[RenderableType]:
    if not analysis.causes:
        if analysis.verdict is Verdict.DIVERGED:
            yield Text("\nWhy: no cause was found in this run.")
        return
    yield Text("\nWhy", style="bold")
    for cause in analysis.causes:
        text = Text(f"{cause.cause} ({cause.certainty})", style="bold")
        text.append(f"  {listed(cause.prompts)}\n" if cause.prompts else "\n", style="not bold dim")
        text.append(f"{visible(cause.evidence)}\n", style="not bold")
        text.append(f"To do: {visible(cause.remedy)}", style="not bold")
        yield Padding(text, (0, 0, 0, 2))


def _prompt(prompt: PromptAnalysis) -> Iterable[RenderableType]:
    title = Text.assemble((beginning(prompt.id, 40), "bold"), f"  {answers(prompt)}  ")
    title.append(prompt.verdict, style=STYLES[prompt.verdict])
    yield Rule(title, align="left", style="dim", characters="─")
    yield Padding(Text(elided(prompt.text, 300), style="italic"), (0, 0, 0, 2))
    yield _conditions(prompt.conditions)
    yield from _problems(prompt.conditions)
    yield from _comparisons(prompt.comparisons)
    yield from _levels(prompt)
    if prompt.tree:
        yield from _texts(prompt, prompt.tree)
        yield _tree(prompt.tree)


def _table(*headings: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", vertical="top")
    return table


def _conditions(conditions: Sequence[ConditionAnalysis]) -> RenderableType:
    table = _table(
        "condition", "company", "counted", "texts", "equal pairs (95 %)", "unlike the mode", "verdict", right=("texts",)
    )
    for one in conditions:
        table.add_row(
            Text(one.name),
            figure.company(one.company),
            f"{one.completions} of {one.attempts}",
            str(one.distinct.text),
            figure.interval(one.agreement),
            figure.at_most(one.variant_rate_upper),
            Text(one.verdict, style=STYLES[one.verdict]),
        )
    return Padding(table, (1, 0, 0, 2))


def _problems(conditions: Sequence[ConditionAnalysis]) -> Iterable[RenderableType]:
    for one in conditions:
        for what, tallies in (("failed", one.failures), ("excluded", one.excluded)):
            for tally in tallies:
                said = f": {beginning(tally.message, _SNIPPET)}" if tally.message else ""
                text = f"{one.name}: {tally.count} {what}, {beginning(tally.reason, 60)}{said}"
                yield Padding(Text(text), (0, 0, 0, 2))


def _comparisons(comparisons: Sequence[Comparison]) -> Iterable[RenderableType]:
    for pair in comparisons:
        text = Text(f"{pair.a} against {pair.b}: ")
        text.append(pair.verdict, style=STYLES[pair.verdict])
        text.append(f", {figure.probability(pair.p)}")
        if pair.p_adjusted is not None and pair.p_adjusted != pair.p:
            text.append(f" ({figure.probability(pair.p_adjusted)} over all prompts)")
        yield Padding(text, (0, 0, 0, 2))


def _levels(prompt: PromptAnalysis) -> Iterable[RenderableType]:
    """The first stricter level that breaks where the text does not."""
    for level, count in (("token sequences", prompt.distinct.tokens), ("logprobs", prompt.distinct.logprobs)):
        if prompt.distinct.text == 1 and count is not None and count > 1:
            text = f"The text is one, but its {level} came in {count} versions: equal text is not equal computation."
            yield Padding(Text(text), (0, 0, 0, 2))
            return


def _texts(prompt: PromptAnalysis, tree: ForkTree) -> Iterable[RenderableType]:
    """The distinct texts by hash prefix and count, each from where it parts from those most like it."""
    names = [one.name for one in prompt.conditions]
    columns = names if 1 < len(names) <= _COLUMNS else []
    table = _table("text", "count", *columns, "from", right=("count", *columns, "from"))
    table.add_column("begins there" if tree.fork else "begins", no_wrap=True, overflow="ellipsis", ratio=1)
    table.expand = True
    places = {sha256: fork.char for sha256, fork, _ in fork_of_each(tree.fork)} if tree.fork else {}
    for text in prompt.texts[:_TEXTS]:
        char, counts = places.get(text.sha256, 0), dict(text.conditions)
        by_condition = [str(counts.get(name, 0)) for name in columns]
        table.add_row(text.sha256[:8], str(text.count), *by_condition, str(char), _excerpt(text, char))
    yield Padding(table, (1, 0, 0, 2))
    if len(prompt.texts) > _TEXTS:
        rest = prompt.texts[_TEXTS:]
        held = figure.some(sum(text.count for text in rest), "completion")
        yield Padding(Text(f"{ELLIPSIS} and {figure.some(len(rest), 'more text')} ({held})", style="dim"), (0, 0, 0, 2))


def _excerpt(text: DistinctText, char: int) -> Text:
    if char >= len(text.text):
        return Text("(empty)" if not text.text else f"(ends here{_finish(text.finishes)})", style="dim")
    return Text(beginning(text.text[char : char + _SNIPPET], _SNIPPET))


def _tree(tree: ForkTree) -> RenderableType:
    shared = _words(tree.count) if tree.fork else f"all {_words(tree.count)}"
    if not tree.fork:
        return Padding(Text.assemble((f"{shared}: ", "dim"), elided(tree.text, 160)), (1, 0, 0, 2))
    label = Text.assemble((f"{shared} share ", "dim"), _shared(tree.text))
    root = Tree(label, guide_style="dim")
    _grow(root, outline(tree.fork, tree.text), tree.count)
    return Padding(root, (1, 0, 0, 2))


def _shared(text: str) -> Text:
    if not text:
        return Text("nothing: they differ from the first character", style="dim")
    return Text(visible(text) if len(text) <= 120 else f"{beginning(text, 60)} {ending(text, 60)}")


def _words(count: int) -> str:
    return figure.some(count, "completion")


def _grow(node: Tree, shown: Outline, total: int) -> None:
    at = node.add(_fork(shown.fork))
    for limb in shown.limbs:
        leaf = at.add(_limb(limb, total))
        if limb.fork:
            _grow(leaf, limb.fork, total)
    if shown.others:
        at.add(Text(f"{shown.others_count} in {figure.some(shown.others, 'more branch', 'more branches')}", style="dim"))


def _fork(fork: Fork) -> Text:
    place = f"fork at char {fork.char}, byte {fork.byte}" + ("" if fork.token is None else f", token {fork.token}")
    margin = "" if fork.margin.kind == "unknown" else f", margin {figure.margin(fork.margin)}"
    return Text(place + margin, style="dim")


def _limb(limb: Limb, total: int) -> Text:
    text = Text(f"{limb.count} of {total}  ", no_wrap=True, overflow="ellipsis")
    room = _SNIPPET
    for span in limb.spans:
        shown = beginning(span.text, max(room, 1))
        room -= len(span.text)
        if span.mark == "fork":
            text.append(f"[{visible(span.text, spaces=not span.text.strip())}]" if span.text else "", style=_FORK_STYLE)
        else:
            text.append(shown, style="underline" if span.mark == "differs" else "")
        if room <= 0:
            break
    if limb.is_end:
        text.append(f"(ends here{_finish(limb.finishes)})", style="dim")
    if limb.folded:
        text.append(f" {ELLIPSIS} forks again into {len(limb.sha256)} texts", style="dim")
    return text


def _finish(finishes: Sequence[Finish]) -> str:
    reasons = ", ".join(visible(finish.reason) for finish in finishes if finish.reason)
    return f": {reasons}" if reasons else ""


def _brief(prompts: Sequence[PromptAnalysis]) -> RenderableType:
    order = [Verdict.DIVERGED, Verdict.UNDECIDED, Verdict.AGREED]
    ordered = sorted(prompts, key=lambda prompt: order.index(prompt.verdict))
    table = _table("prompt", "verdict", "texts", "completions", "unlike the mode", right=("texts", "completions"))
    for prompt in ordered[:_LINES]:
        bounds = [one.variant_rate_upper for one in prompt.conditions if one.variant_rate_upper is not None]
        table.add_row(
            Text(beginning(prompt.id, 30)),
            Text(prompt.verdict, style=STYLES[prompt.verdict]),
            str(prompt.distinct.text),
            str(completions(prompt)),
            figure.at_most(max(bounds, default=None)),
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
