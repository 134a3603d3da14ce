"""A fork tree drawn with lines and bars for a terminal.

The word in which branches part stands in square brackets, so that the mark needs no colour.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from temp0.core.analysis import Finish, Fork, ForkTree
from temp0.report import figure
from temp0.report.outline import Limb, Outline, outline
from temp0.report.prose import FORK, Cut
from temp0.report.visible import ELLIPSIS, beginning, visible

_BAR = 8
_SNIPPET = 240
_SHARED = 140


def drawing(tree: ForkTree) -> Tree:
    """The tree of a prompt that forks: what all share, then each branch with its count."""
    if tree.fork is None:
        raise ValueError("a tree without a fork has nothing to draw")
    label = Text(f"all {tree.count} begin: ", style="dim")
    label.append(_shared(tree.text), style="not dim")
    label.append(f"\n{_place(tree.fork)}")
    root = Tree(label, guide_style="dim")
    _grow(root, outline(tree.fork, tree.text), tree.count)
    return root


def end(finishes: Sequence[Finish]) -> Text:
    """Says that a text ends here, and for which reasons."""
    reasons = ", ".join(visible(finish.reason) for finish in finishes if finish.reason)
    return Cut(f"(ends here: {reasons})" if reasons else "(ends here)", style="dim")


def _shared(text: str) -> str:
    if not text:
        return "(nothing in common)"
    if len(text) <= _SHARED:
        return visible(text)
    return f"{visible(text[: _SHARED // 2])} {ELLIPSIS} {visible(text[-_SHARED // 2 :])}"


def _place(fork: Fork) -> str:
    token = "" if fork.token is None else f", token {fork.token}"
    margin = "" if fork.margin.kind == "unknown" else f", margin {figure.margin(fork.margin)}"
    same = f"\n{figure.SAW_THE_SAME}" if fork.margin.shift == 0 else ""
    return f"fork at char {fork.char}, byte {fork.byte}{token}{margin}{same}"


def _grow(node: Tree, shown: Outline, total: int) -> None:
    for limb in shown.limbs:
        branch = node.add(_limb(limb, total))
        if limb.fork:
            _grow(branch, limb.fork, total)
    if shown.others:
        more = figure.some(shown.others, "more branch", "more branches")
        node.add(Text.assemble(_bar(shown.others_count, total), (f"in {more}", "dim")))


def _bar(count: int, total: int) -> Text:
    cells = max(1, round(_BAR * count / total))
    text = Cut(f"{count:>{len(str(total))}} ")
    return text.append("━" * cells, style="cyan").append(" " * (_BAR - cells + 1))


def _limb(limb: Limb, total: int) -> Text:
    text = _bar(limb.count, total)
    text.append_text(_marked(limb))
    if limb.is_end:
        text.append_text(end(limb.finishes))
    if limb.folded:
        text.append(f" {ELLIPSIS} {len(limb.sha256)} texts", style="dim")
    if limb.fork:
        text.append(f"\n{_place(limb.fork.fork)}", style="dim")
    return text


def _marked(limb: Limb) -> Text:
    text, room = Text(), _SNIPPET
    for span in limb.spans:
        if span.mark == "fork" and span.text:
            word = beginning(span.text, _SNIPPET).replace(" ", "␣")
            text.append(f"[{word}]", style=FORK)
        else:
            text.append(beginning(span.text, max(room, 1)), style="underline" if span.mark == "differs" else "")
        room -= len(span.text)
        if room <= 0:
            break
    return text
