"""Builds the example reports of this folder from its stored runs: the same runs give the same pages, byte for byte.

    python docs/gallery/make.py          the pages, from runs.db and descents.json
    python docs/gallery/make.py --ask    asks everything anew first; needs the built-in model, and takes minutes

Run it from the root of the repository: `make gallery`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from temp0.core.descent import Descent
from temp0.report import html
from temp0.workflow.explaining import descents, explained
from temp0.workflow.keeping import judged, open_store

HERE = Path(__file__).parent
RUNS, NAMES, DESCENTS = "runs.db", "runs.json", "descents.json"
SHOWN_STORE = "docs/gallery/runs.db"
"""What the commands on the pages say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One example: the run it shows, as arguments of `temp0 probe`, and what a reader sees there."""

    name: str
    title: str
    sees: str
    probe: tuple[str, ...]


HAIKU = ("--prompt", "Write a haiku about a stale cache line.")
PRIMES = ("--prompt", "List three prime numbers between 100 and 200.")
PAGES = (
    Page(
        name="agreed",
        title="An endpoint that repeats itself",
        sees="One text alone and in company: agreed, with the bound that says how little 20 attempts prove.",
        probe=("fake:seed=3,delay_ms=5", "-n", "20", *HAIKU, *PRIMES),
    ),
    Page(
        name="company",
        title="Other requests change the answer",
        sees="One text alone, several in company. The curves part where the tree forks, the answer's one near tie is "
        "the fork, and in time the other texts come only while others are in flight.",
        probe=(
            "fake:variants=3,rate=0,company_rate=0.35,length=48,fork=14,seed=5,delay_ms=20,jitter_ms=10",
            *("--company", "1,2,4,8", "--logprobs", "both", "-n", "16", *HAIKU),
        ),
    ),
    Page(
        name="alone",
        title="It differs with nothing of ours beside it",
        sees="Several texts one request at a time: the public experiment's own case, and what can be said of it.",
        probe=("fake:rate=0.2,variants=5,tells=0,seed=7,delay_ms=5", "--company", "1", "-n", "30", *HAIKU, *PRIMES),
    ),
    Page(
        name="cache",
        title="The prefix cache changes the answer",
        sees="Cold equals cold and warm equals warm, but cold differs from warm: cause cache-state.",
        probe=("fake:cold_text=1,delay_ms=5", "--cache", "both", "--company", "1", "-n", "12", *HAIKU),
    ),
    Page(
        name="failures",
        title="Some requests fail",
        sees="Failed attempts are counted, named and never judged; the verdict rests on what came back.",
        probe=("fake:fail_rate=0.3,fault=http-503,seed=2,delay_ms=5", "--company", "1,4", "-n", "16", *HAIKU),
    ),
    Page(
        name="engine",
        title="A real fork, followed to the two orders of addition",
        sees="The built-in model in stock arithmetic, with `temp0 explain`: the layer and the product where the first "
        "bit differs, the two reduction trees, and how the difference grows until two tokens swap.",
        probe=(
            *("--company", "1,8", "--alone", "4", "-n", "16", "--max-tokens", "24", "--threads", "1"),
            *("--prompt", "Give me one 12-word proverb about caching."),
        ),
    ),
)
ENGINE = "engine"


def main() -> None:
    """The pages and their index, into this folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ask", action="store_true", help="ask everything anew first")
    if parser.parse_args().ask:
        ask(HERE)
    for name, text in pages(HERE).items():
        (HERE / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{HERE.name}/{name}: {len(text.encode()) / 1000:.0f} kB\n")


def pages(folder: Path) -> dict[str, str]:
    """Each file's text by its name, from the runs stored in a folder, which stay as they are."""
    ids = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    followed = msgspec.json.decode((folder / DESCENTS).read_bytes(), type=tuple[Descent, ...])
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copy(folder / RUNS, scratch))
        made = {
            f"{page.name}.html": html(judged(ids[page.name], copy), store=SHOWN_STORE)
            for page in PAGES
            if page.name != ENGINE
        }
        with open_store(copy) as store:
            told = explained(store.load(ids[ENGINE]), store.load(ids["second"]), followed)
    made[f"{ENGINE}.html"] = html(told.first, store=SHOWN_STORE, second=told.second, descents=told.descents)
    return {**made, "index.md": index()}


def index() -> str:
    """What each page shows."""
    lines = ["# Example reports", "", "Made by `make gallery` from the runs stored beside them.", ""]
    for page in PAGES:
        command = " ".join(f"'{one}'" if " " in one else one for one in page.probe)
        lines += [f"## [{page.title}]({page.name}.html)", "", page.sees, "", f"    temp0 probe {command}", ""]
    return "\n".join(lines)


def ask(folder: Path) -> None:
    """Every run anew, into a new store."""
    (folder / RUNS).unlink(missing_ok=True)
    ids = {page.name: _run("probe", *page.probe, store=folder / RUNS)["run"]["id"] for page in PAGES}
    ids["second"] = _run("explain", ids[ENGINE], "-n", "2", "--threads", "1", store=folder / RUNS)["second"]
    (folder / NAMES).write_text(json.dumps(ids, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    with open_store(folder / RUNS) as store:
        followed = descents(store.load(ids[ENGINE]), threads=1)
    (folder / DESCENTS).write_bytes(msgspec.json.encode(followed) + b"\n")


def _run(*arguments: str, store: Path) -> dict[str, object]:
    """The document of a verb; a verdict in its exit code is none of our business."""
    command = [sys.executable, "-m", "temp0", *arguments, "--store", str(store), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in {0, 1, 4}:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
