"""`temp0 compare`: two stored runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from temp0.cli import options


@click.command()
@click.argument("a", default="last~1")
@click.argument("b", default="last")
@options.store
@options.as_json
def compare(a: str, b: str, store: Path | None, as_json: bool) -> int:
    """Show two stored runs side by side: A and B are beginnings of their ids, `last`, or `last~1` for the one before.

    For each prompt that both runs asked: how many different texts each got, the verdicts, and whether the commonest
    texts are the same; for each condition, tokens per second. Without arguments, the last two runs;
    with one, that run beside the last.

    Where A and B are files of scored items that other tools wrote (inspect_ai, lm-evaluation-harness, promptfoo, JSONL
    with `score`), their items are compared: which flipped, and whether a change of the score is more than noise.

    \b
    Exit codes: 0 answered alike, 1 some prompt got another verdict or another commonest text, 2 usage, 3 nothing in
    common was answered, 4 some prompts were not answered in both or are undecided.
    """
    from temp0.workflow.comparing import items_json, items_screen, paired, paired_items, pairing_json, pairing_screen

    if Path(a).is_file() and Path(b).is_file():
        items = paired_items(Path(a), Path(b))
        options.show(items_json(items) if as_json else items_screen(items, names=(a, b)))
        return int(items.is_beyond_noise)
    pairing = paired(a, b, store)
    options.show(pairing_json(pairing) if as_json else pairing_screen(pairing))
    return pairing.exit_code
