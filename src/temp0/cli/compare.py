"""`temp0 compare`: stored runs, or groups of them, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options

_DEFAULT = ("last~1", "last")


@click.command()
@click.argument("runs", nargs=-1, metavar="[A] [B] [C]...")
@options.store
@options.as_json
def compare(runs: tuple[str, ...], store: Path | None, as_json: bool) -> int:
    """Show stored runs side by side: each is the beginning of an id, `last`, or `last~1` for the one before.

    For each prompt that both asked: how many different texts each got, the verdicts, where the commonest texts part,
    and whether the answers changed by more than each side varies by itself: identity of blocks within against across,
    by permuting blocks, adjusted for all prompts. For each condition, tokens per second. Without arguments, the last
    two runs; with one, that run beside the last.

    Several runs with commas between (RUN,RUN) are one side, their blocks pooled. With three sides or more, a matrix
    says for each pair how many prompts have the same commonest text, and how many pairs of blocks are equal.

    Where A and B are files of scored items that other tools wrote (inspect_ai, lm-evaluation-harness, promptfoo, JSONL
    with `score`), their items are compared: which flipped, and whether a change of the score is more than noise. Files
    with commas between are one side, repeated answers to the same items.

    \b
    temp0 compare last~1 last            yesterday against today
    temp0 compare 01a,01b 02a,02b        two runs of each of two endpoints
    temp0 compare last~2 last~1 last     three endpoints, pair by pair
    temp0 compare before.json after.json scored items of two logs

    Exit codes: 0 answered alike, 1 some prompt got another verdict or another commonest text, 2 usage, 3 nothing in
    common was answered, 4 some prompts were not answered in both or are undecided.
    """
    from temp0.workflow.comparing import (
        compared,
        files_of,
        matrix_json,
        matrix_screen,
        paired,
        pairing_json,
        pairing_screen,
    )

    sides = (*runs, *_DEFAULT[len(runs) :])
    if len(sides) == 2 and all(map(files_of, sides)):
        return _items(sides[0], sides[1], as_json=as_json)
    if len(sides) > 2:
        found = compared(sides, store)
        options.show(matrix_json(found) if as_json else matrix_screen(found))
        return found.exit_code
    pairing = paired(sides[0], sides[1], store)
    options.show(pairing_json(pairing) if as_json else pairing_screen(pairing))
    return pairing.exit_code


def _items(a: str, b: str, *, as_json: bool) -> int:
    from temp0.workflow.comparing import items_json, items_screen, paired_items

    items, notes = paired_items(a, b)
    for note in notes:
        click.echo(options.plain(note), err=True)
    options.show(items_json(items) if as_json else items_screen(items, names=(a, b)))
    return int(items.is_beyond_noise)
