"""One prompt on a terminal: its conditions, its distinct texts, and the tree of its forks.

Every number stands beside what it counts; strangers' text is plain text made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from temp0.core.analysis import Comparison, ConditionAnalysis, DistinctText, ForkTree, PromptAnalysis
from temp0.report import figure
from temp0.report.answer import answers, one_text_under_all
from temp0.report.condition_table import ConditionTable
from temp0.report.contrast import contrasts, counts
from temp0.report.drawing import drawing, end
from temp0.report.letter import letters, with_letters
from temp0.report.level import between, levels
from temp0.report.outline import fork_of_each
from temp0.report.prose import Cut, Prose
from temp0.report.table import STYLES, plain_table
from temp0.report.visible import ELLIPSIS, beginning, elided, glimpse
from temp0.report.word import from_word

_TEXTS = 15
_COLUMNS = 3
_WIDEST = 30
_SNIPPET = 240


def panel(
    prompt: PromptAnalysis, tested: Mapping[tuple[str, str], int], *, note: str | None = None
) -> Iterable[RenderableType]:
    """One prompt in full; `tested` says of how many prompts each pair of conditions has a p value.

    `note` says what its logprobs are worth, where that is in doubt.
    """
    title = Text.assemble((beginning(prompt.id, 40), "bold"), f"  {answers(prompt)}  ")
    title.append(prompt.verdict, style=STYLES[prompt.verdict])
    columns = _columns(prompt)
    named = {} if columns else letters(prompt)
    yield Rule(title, align="left", style="dim", characters="─")
    yield _indented(Text(elided(prompt.text, 300), style="italic"))
    if folded := one_text_under_all(prompt):
        yield _indented(Prose(folded), above=1)
    else:
        yield _indented(ConditionTable(prompt.conditions, with_letters(prompt, named)), above=1)
        yield from _problems(prompt.conditions)
        yield from _comparisons(prompt, tested)
    yield from (_indented(Prose(sentence)) for sentence in levels(prompt))
    if prompt.tree and prompt.tree.fork:
        yield from _texts(prompt, prompt.tree, columns, named)
        yield _indented(drawing(prompt.tree), above=1)
    elif prompt.tree:
        only = prompt.texts[0]
        answer = elided(only.text, _SNIPPET) if only.text else "(empty)"
        yield _indented(Text.assemble((f"{only.sha256[:8]}  ", "dim"), answer), above=1)
    if note:
        yield _indented(Prose(note), above=1)


def _indented(shown: RenderableType, *, above: int = 0) -> Padding:
    return Padding(shown, (above, 0, 0, 2))


def _columns(prompt: PromptAnalysis) -> Sequence[str]:
    """The conditions that have a column of their own in the table of texts; none where they are many or long."""
    names = [one.name for one in prompt.conditions]
    return names if 1 < len(names) <= _COLUMNS and sum(map(len, names)) <= _WIDEST else []


def _problems(conditions: Sequence[ConditionAnalysis]) -> Iterable[RenderableType]:
    for one in conditions:
        for what, tallies in (("failed", one.failures), ("excluded", one.excluded)):
            for tally in tallies:
                said = f": {beginning(tally.message, _SNIPPET)}" if tally.message else ""
                yield _indented(Text(f"{one.name}: {tally.count} {what}, {beginning(tally.reason, 60)}{said}"))


def _comparisons(prompt: PromptAnalysis, tested: Mapping[tuple[str, str], int]) -> Iterable[RenderableType]:
    told = contrasts(prompt)
    for pair in told.shown:
        yield _indented(_comparison(prompt, pair, tested))
    if told.others:
        yield _indented(Text(told.others))


def _comparison(prompt: PromptAnalysis, pair: Comparison, tested: Mapping[tuple[str, str], int]) -> Text:
    text = Prose(f"{pair.a} against {pair.b}: ")
    text.append(pair.verdict, style=STYLES[pair.verdict])
    text.append(f", {between(pair) or figure.p_values(pair, tested.get((pair.a, pair.b), 0))}")
    return text if counts(prompt, pair) else text.append(" (does not count)")


def _texts(
    prompt: PromptAnalysis, tree: ForkTree, columns: Sequence[str], named: Mapping[str, str]
) -> Iterable[RenderableType]:
    """The distinct texts by hash prefix and count, each from where it parts from those most like it."""
    letter = [""] if named else []
    table = plain_table(*letter, "text", "count", *columns, "from char", right=("count", *columns, "from char"))
    table.add_column("begins there", no_wrap=True, overflow="ellipsis", ratio=1)
    table.expand = True
    places = {sha256: fork.char for sha256, fork, _ in fork_of_each(tree.fork)} if tree.fork else {}
    for text in prompt.texts[:_TEXTS]:
        char, counts = places[text.sha256], dict(text.conditions)
        first = [Text(named.get(text.sha256, ""), style="bold")] if named else []
        by_condition = [str(counts.get(name, 0)) for name in columns]
        table.add_row(*first, text.sha256[:8], str(text.count), *by_condition, str(char), _excerpt(text, char))
    yield _indented(table, above=1)
    if rest := prompt.texts[_TEXTS:]:
        held = figure.some(sum(text.count for text in rest), "completion")
        yield _indented(Text(f"{ELLIPSIS} and {figure.some(len(rest), 'more text')} ({held})", style="dim"))


def _excerpt(text: DistinctText, char: int) -> Text:
    if char >= len(text.text):
        return end(text.finishes)
    return Cut(glimpse(from_word(text.text, char), _SNIPPET))
