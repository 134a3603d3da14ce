"""What is measured: a name for the table, and how its server is started for so many requests in flight."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from peers.environment import FOLDER, OPENVINO, XLLAMACPP, python_with
from peers.gguf_copy import Format, kept_copy
from temp0 import kernels
from temp0.engine.builtin import builtin_weights

OURS = "temp0 bf16"
OURS_AVX2 = "temp0 bf16, held to AVX2"
LLAMA_BF16 = "llama.cpp BF16"
LLAMA_F16 = "llama.cpp F16"
OPENVINO_F16 = "OpenVINO GenAI F16"
OPENVINO_F32 = "OpenVINO GenAI F16, computing in f32"

# Room for a prompt of 512 tokens and its answer; llama.cpp divides its cache evenly among its slots.
_TOKENS_PER_SLOT = 1024
_LLAMA_SLOTS = {4: (4, 8), 8: (8, 16), 16: (8, 16)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A server to measure. `command` makes it ready, for so many slots, and gives what starts it.

    `command` may install and write files, and raises NotMeasuredError where it cannot. `slots` gives the counts worth
    trying for so many in flight; a server without slots has the one choice of all in flight.
    """

    name: str
    command: Callable[[int], list[str]]
    slots: Callable[[int], tuple[int, ...]] = lambda in_flight: (in_flight,)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the user may set: threads of every server, a llama-server of their own, llama.cpp's type of KV cache.

    `all_ways` adds OpenVINO computing in f32, which tells what it owes to bf16 units of the processor.
    """

    threads: int
    llama_server: Path | None = None
    llama_kv: str = "f16"
    all_ways: bool = False


def contenders(choice: Choice) -> Iterator[Contender]:
    """Ours first, then every peer, whether or not it can be had."""
    yield _ours(OURS, choice)
    if kernels.instruction_set() in ("avx512", "amx"):
        yield _ours(OURS_AVX2, choice, TEMP0_ISA="avx2")
    yield _llama(LLAMA_BF16, "BF16", choice)
    yield _llama(LLAMA_F16, "F16", choice)
    yield Contender(name=OPENVINO_F16, command=lambda _: _openvino(choice))
    if choice.all_ways:
        yield Contender(name=OPENVINO_F32, command=lambda _: [*_openvino(choice), "f32"])


def _ours(name: str, choice: Choice, **environment: str) -> Contender:
    fixed = [sys.executable, "-m", "temp0", "serve", "--arithmetic", "invariant", "--no-prefix-cache"]
    fixed += ["--port", "0", "--exit-with-stdin", "--threads", str(choice.threads)]
    return Contender(
        name=name,
        command=lambda slots: [*fixed, "--max-running", str(slots), "--kv-tokens", str(slots * _TOKENS_PER_SLOT)],
        environment=environment,
    )


def _llama(name: str, stored_as: Format, choice: Choice) -> Contender:
    def command(slots: int) -> list[str]:
        model = str(kept_copy(builtin_weights(), FOLDER, stored_as))
        if choice.llama_server:
            return _llama_server(choice.llama_server, model, slots, choice)
        numbers = [str(number) for number in (slots, _TOKENS_PER_SLOT, choice.threads)]
        return [*_script(XLLAMACPP, "llama_launcher.py"), model, *numbers, choice.llama_kv]

    return Contender(name=name, command=command, slots=lambda in_flight: _LLAMA_SLOTS.get(in_flight, (in_flight,)))


def _llama_server(program: Path, model: str, slots: int, choice: Choice) -> list[str]:
    threads, context = str(choice.threads), str(slots * _TOKENS_PER_SLOT)
    command = [str(program), "-m", model, "--host", "127.0.0.1", "--port", str(_free_port())]
    command += ["-t", threads, "-tb", threads, "-np", str(slots), "-c", context]
    return [*command, "-ctk", choice.llama_kv, "-ctv", choice.llama_kv, "--no-cache-prompt", "--cache-ram", "0"]


def _openvino(choice: Choice) -> list[str]:
    model = str(kept_copy(builtin_weights(), FOLDER, "F16"))
    return [*_script(OPENVINO, "openvino_launcher.py"), model, str(choice.threads)]


def _script(requirement: str, name: str) -> list[str]:
    # -P: the folder of the script must not come before the peers' own packages.
    return [str(python_with(requirement)), "-P", str(Path(__file__).with_name(name))]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
