"""temp0's invariant engine beside llama.cpp and OpenVINO GenAI over HTTP, and against the machine: `make bench-peers`.

Give it the whole machine for a quarter of an hour. The peers go into an environment of their own under build/peers.
`--notebook` appends the page to docs/notebook.md. Reaching a target or not changes no exit code.
"""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from peers import roofline, rounds
from peers.contender import Choice, contenders
from peers.environment import NotMeasuredError
from peers.roof_table import roofs
from peers.roofline import Roofline
from peers.rounds import Effort, Level
from peers.table import first_tokens, rates, ratios
from peers.target import targets
from peers.terms import terms
from run import NOTEBOOK, machine
from temp0.kernels import usable_cores
from temp0.workflow.planning import built_in_prompts

IN_FLIGHT = (1, 4, 8, 16)
IN_FLIGHT_FULL = (1, 2, 4, 8, 16, 32)
IN_FLIGHT_QUICK = (1, 8)
BUSY = 0.5


def wishes() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notebook", action="store_true", help="append the page to docs/notebook.md")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="one short round at few sizes, to try it out")
    size.add_argument("--full", action="store_true", help="also 2 and 32 in flight, and OpenVINO in f32")
    parser.add_argument("--rounds", type=int, help="rounds at each number in flight  [default: 3]")
    parser.add_argument("--threads", type=int, default=usable_cores(), help="of each server  [default: usable cores]")
    parser.add_argument("--llama-server", type=Path, help="a llama-server to measure instead of the xllamacpp wheel")
    parser.add_argument("--llama-kv", choices=("f16", "f32"), default="f16", help="its KV cache  [default: f16]")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only contenders with this text in their name, and ours"
    )
    return parser.parse_args()


def page(wanted: argparse.Namespace) -> str:
    """Measure everything, and write it down."""
    choice = Choice(
        threads=wanted.threads, llama_server=wanted.llama_server, llama_kv=wanted.llama_kv, all_ways=wanted.full
    )
    effort = Effort(
        rounds=wanted.rounds or (1 if wanted.quick else 3),
        max_tokens=32 if wanted.quick else 96,
        prompts=tuple(prompt.messages[0].content for prompt in built_in_prompts()),
        first_token_prompts=(512,) if wanted.quick else (128, 256, 512),
    )
    load_before = os.getloadavg()[0]
    if load_before > BUSY:
        rounds.progress(f"the machine is busy (load average {load_before:.2f}): the figures will mean little")
    levels = measured_levels(wanted, choice, effort)
    machine_roofs = measured_roofs(choice.threads, effort.rounds)
    parts = (
        f"### `make bench-peers`, {datetime.now(UTC):%Y-%m-%d}, {machine()}\n",
        terms(choice, effort, levels, load_before=load_before),
        targets(levels, machine_roofs),
        rates(levels),
        ratios(levels),
        first_tokens(levels.get(1)),
        roofs(machine_roofs),
    )
    return "\n".join(parts)


def measured_levels(wanted: argparse.Namespace, choice: Choice, effort: Effort) -> dict[int, Level]:
    in_flight = IN_FLIGHT_FULL if wanted.full else IN_FLIGHT_QUICK if wanted.quick else IN_FLIGHT
    chosen = [one for one in contenders(choice) if wanted.only in one.name or one.name.startswith("temp0")]
    return {count: rounds.measured(count, chosen, effort) for count in in_flight}


def measured_roofs(threads: int, times: int) -> Roofline | str:
    """The roofline, or why there is none."""
    try:
        return roofline.measured(threads, times)
    except NotMeasuredError as error:
        return str(error)


if __name__ == "__main__":
    asked = wishes()
    text = page(asked)
    print(text)
    if asked.notebook:
        with NOTEBOOK.open("a", encoding="utf-8") as notebook:
            notebook.write("\n" + text)
