"""Whether a prompt is safe exactly when its answer passes no junction of near-tied tokens: `python bench/junctions.py`.

The built-in engine answers the same prompts alone and in company, in stock arithmetic, with activations in bf16 and in
fp32. Alone its logprobs are told: so each token of an answer has a margin, and a fork shows where company left it.
`--write` puts the tables into docs/measuring.md and the picture into docs/junctions.svg. Texts and forks are those of
one machine: another one adds in other orders.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from junction import picture, table
from junction.passage import Passage, passages
from junction.question import QUESTIONS
from temp0.lab.machine import trees_machine

DOCS = Path(__file__).parent.parent / "docs"
ACTIVATIONS = ("bf16", "fp32")


def wishes(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put tables and picture into docs/")
    parser.add_argument("--threads", type=int, default=1, help="of the engine  [default: %(default)s]")
    parser.add_argument("--max-tokens", type=int, default=64, help="of a long answer  [default: %(default)s]")
    parser.add_argument("--short", type=int, default=16, help="tokens of a short answer  [default: %(default)s]")
    return parser.parse_args(arguments)


def _machine(threads: int) -> str:
    """What an order of addition depends on here."""
    found = trees_machine(cores=threads)
    blas = next(f"{name} {version}" for name, version in found.libraries if "blas" in name.lower())
    return f"{found.processor}, {blas}, {threads} {'thread' if threads == 1 else 'threads'}"


def main(arguments: Sequence[str] | None = None) -> None:
    wanted = wishes(arguments)
    seen: dict[str, tuple[Passage, ...]] = {
        name: passages(QUESTIONS, activations=name, threads=wanted.threads, max_tokens=wanted.max_tokens)
        for name in ACTIVATIONS
    }
    spent = time.process_time() / 60
    made = f"{_machine(wanted.threads)}, {datetime.now(UTC):%Y-%m-%d}; {spent:.1f} minutes of processor time"
    text = table.page(seen, short=wanted.short, made=made)
    if not wanted.write:
        print(text)
        return
    document = DOCS / "measuring.md"
    document.write_text(table.written(document.read_text(encoding="utf-8"), text), encoding="utf-8")
    (DOCS / "junctions.svg").write_text(picture.svg(seen), encoding="utf-8")


if __name__ == "__main__":
    main()
