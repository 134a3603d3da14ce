"""What changed between two sides beyond their own variation, and where their commonest answers part, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from temp0.core.pairing import ModalFork, PairedPrompt, Pairing
from temp0.report import figure
from temp0.report.naming import who
from temp0.report.table import plain_table
from temp0.report.visible import beginning, ending

_DRAWN = 5
_BEFORE, _AFTER = 24, 44


def changes(prompts: Sequence[PairedPrompt]) -> RenderableType | None:
    """Equal pairs of blocks within each side and across, with p; `None` where every block is alike."""
    unlike = [one for one in prompts if one.change.across is not None and _varies(one)]
    if not unlike:
        return None
    right = ("equal in A", "in B", "across", "p", "adjusted")
    table = plain_table("prompt", *right, right=right)
    for one in unlike:
        found = one.change
        shares = map(figure.percent, (found.within_a, found.within_b, found.across))
        table.add_row(Text(beginning(one.a.id, 30)), *shares, *map(_p, (found.p, found.p_adjusted)))
    return table


def modal_forks(prompts: Sequence[PairedPrompt]) -> RenderableType | None:
    """Where commonest answers part and how each goes on, the surest changes first."""
    parted = [(one, one.fork) for one in prompts if one.fork is not None]
    if not parted:
        return None
    surest = sorted(parted, key=lambda pair: (pair[0].change.p_adjusted is None, pair[0].change.p_adjusted or 0.0))
    lines = [line for one, fork in surest[:_DRAWN] for line in _drawn(one, fork)]
    left_out = len(parted) - _DRAWN
    return Group(*lines, *([Text(f"… and {figure.some(left_out, 'more fork')}", style="dim")] if left_out > 0 else []))


def changed(pairing: Pairing) -> Iterable[str]:
    """Whether the answers changed by more than each side varies by itself, in sentences."""
    if pairing.p is None:
        yield "They share no condition under which both answered, so that a change is not tested."
        return
    tested = [one for one in pairing.prompts if one.change.p is not None]
    if not any(map(_varies, tested)):
        return
    over = f"{figure.probability(pairing.p)} over {figure.every(len(tested), 'prompt')}, from permuting blocks"
    if beyond := [one.a.id for one in tested if one.change.is_beyond_chance]:
        yield f"Beyond what each side varies by itself, the answers changed for {who(beyond)} ({over})."
    elif pairing.is_beyond_chance:
        yield f"Taken together, the answers changed by more than each side varies by itself ({over})."
    else:
        yield f"What differs is no more than each side may vary by itself ({over})."


def _varies(one: PairedPrompt) -> bool:
    return any(
        share is not None and share < 1 for share in (one.change.within_a, one.change.within_b, one.change.across)
    )


def _p(value: float | None) -> str:
    told = figure.probability(value).removeprefix(f"p{figure.UNBROKEN}").removeprefix(f"={figure.UNBROKEN}")
    return told if value else figure.UNKNOWN


def _drawn(one: PairedPrompt, fork: ModalFork) -> Iterable[Text]:
    shared = one.a.texts[0].text[: fork.char]
    yield Text(f"{beginning(one.a.id, 30)}: commonest answers part at char {fork.char}, byte {fork.byte}")
    for letter, rest in (("A", fork.a), ("B", fork.b)):
        line = Text(f"  {letter}  {ending(shared, _BEFORE)}", style="dim")
        line.append(beginning(rest, _AFTER) if rest else "(ends here)", style="not dim bold")
        yield line
