"""One prompt on a terminal: its conditions, its distinct texts, and the tree of its forks.

Every number stands beside what it counts; strangers' text is plain text made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from temp0.core.analysis import Comparison, ConditionAnalysis, DistinctText, ForkTree, PromptAnalysis, Verdict
from temp0.report import figure
from temp0.report.drawing import drawing, end
from temp0.report.headline import answers, blocks, deeper_level
from temp0.report.outline import fork_of_each
from temp0.report.prose import Prose
from temp0.report.visible import ELLIPSIS, beginning, elided
from temp0.report.word import from_word

STYLES = {Verdict.AGREED: "green", Verdict.DIVERGED: "red", Verdict.UNDECIDED: "yellow"}
BOUND = "unlike\nmode ≤"
_TEXTS = 15
_COLUMNS = 3
_SNIPPET = 240


def panel(prompt: PromptAnalysis, tested: Mapping[tuple[str, str], int]) -> Iterable[RenderableType]:
    """One prompt in full; `tested` says of how many prompts each pair of conditions has a p value."""
    title = Text.assemble((beginning(prompt.id, 40), "bold"), f"  {answers(prompt)}  ")
    title.append(prompt.verdict, style=STYLES[prompt.verdict])
    yield Rule(title, align="left", style="dim", characters="─")
    yield _indented(Text(elided(prompt.text, 300), style="italic"))
    yield _indented(_conditions(prompt.conditions), above=1)
    yield from _problems(prompt.conditions)
    yield from _comparisons(prompt.comparisons, tested)
    if told := deeper_level(prompt):
        yield _indented(Text(told))
    if prompt.tree and prompt.tree.fork:
        yield from _texts(prompt, prompt.tree)
        yield _indented(drawing(prompt.tree), above=1)
    elif prompt.tree:
        only = prompt.texts[0]
        answer = elided(only.text, _SNIPPET) if only.text else "(empty)"
        yield _indented(Text.assemble((f"{only.sha256[:8]}  ", "dim"), answer), above=1)


def plain_table(*headings: str, right: Sequence[str] = (), gap: int = 2) -> Table:
    """A table without lines."""
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    for heading in headings:
        table.add_column(Text(heading), justify="right" if heading in right else "left", vertical="top")
    return table


def _indented(shown: RenderableType, *, above: int = 0) -> Padding:
    return Padding(shown, (above, 0, 0, 2))


def _conditions(conditions: Sequence[ConditionAnalysis]) -> Table:
    headings = ("condition", "company", "counted", "blocks", "texts", "equal pairs", BOUND, "verdict")
    table = plain_table(*headings, right=("blocks", "texts", BOUND), gap=1)
    for column in table.columns[2:]:
        column.no_wrap = True
    for one in conditions:
        table.add_row(
            Text(one.name),
            figure.company(one.company) if one.attempts else figure.UNKNOWN,
            f"{one.completions}/{one.attempts}",
            str(blocks(one)),
            str(one.distinct.text),
            Prose(figure.interval(one.agreement)),
            Prose(figure.percent(one.variant_rate_upper)),
            Text(one.verdict, style=STYLES[one.verdict]),
        )
    return table


def _problems(conditions: Sequence[ConditionAnalysis]) -> Iterable[RenderableType]:
    for one in conditions:
        for what, tallies in (("failed", one.failures), ("excluded", one.excluded)):
            for tally in tallies:
                said = f": {beginning(tally.message, _SNIPPET)}" if tally.message else ""
                yield _indented(Text(f"{one.name}: {tally.count} {what}, {beginning(tally.reason, 60)}{said}"))


def _comparisons(comparisons: Sequence[Comparison], tested: Mapping[tuple[str, str], int]) -> Iterable[RenderableType]:
    for pair in comparisons:
        text = Prose(f"{pair.a} against {pair.b}: ")
        text.append(pair.verdict, style=STYLES[pair.verdict])
        text.append(f", {figure.p_values(pair, tested.get((pair.a, pair.b), 0))}")
        yield _indented(text)


def _texts(prompt: PromptAnalysis, tree: ForkTree) -> Iterable[RenderableType]:
    """The distinct texts by hash prefix and count, each from where it parts from those most like it."""
    names = [one.name for one in prompt.conditions]
    columns = names if 1 < len(names) <= _COLUMNS else []
    table = plain_table("text", "count", *columns, "from char", right=("count", *columns, "from char"))
    table.add_column("begins there", no_wrap=True, overflow="ellipsis", ratio=1)
    table.expand = True
    places = {sha256: fork.char for sha256, fork, _ in fork_of_each(tree.fork)} if tree.fork else {}
    for text in prompt.texts[:_TEXTS]:
        char, counts = places[text.sha256], dict(text.conditions)
        by_condition = [str(counts.get(name, 0)) for name in columns]
        table.add_row(text.sha256[:8], str(text.count), *by_condition, str(char), _excerpt(text, char))
    yield _indented(table, above=1)
    if rest := prompt.texts[_TEXTS:]:
        held = figure.some(sum(text.count for text in rest), "completion")
        yield _indented(Text(f"{ELLIPSIS} and {figure.some(len(rest), 'more text')} ({held})", style="dim"))


def _excerpt(text: DistinctText, char: int) -> Text:
    if char >= len(text.text):
        return end(text.finishes)
    return Text(beginning(from_word(text.text, char), _SNIPPET))
