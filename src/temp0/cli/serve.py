"""`temp0 serve`: the engine as an OpenAI- and Anthropic-style server.

Standard output gets one line, when the server listens; whoever started it can wait for that line. Everything else
goes to standard error. The key that clients must send is read from the environment, never from an argument.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from temp0.errors import UsageError

if TYPE_CHECKING:
    from temp0.engine.engine import Engine

_AT_LEAST_ONE = click.IntRange(min=1)
_EXAMPLES = """\b
Examples:
  temp0 serve
  OPENAI_BASE_URL=http://127.0.0.1:8020/v1 OPENAI_API_KEY=none python your_program.py
  export TEMP0_KEY=...; temp0 serve --host 0.0.0.0 --key-env TEMP0_KEY
"""


@click.command(epilog=_EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8020,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    help="A GGUF file or a Hugging Face directory.  [default: the built-in model]",
)
@click.option(
    "--arithmetic",
    type=click.Choice(["stock", "invariant"]),
    default="stock",
    show_default=True,
    help="How sums are added: stock, as BLAS likes it, depends on the batch; invariant does not.",
)
@click.option(
    "--activations",
    type=click.Choice(["bf16", "fp32"]),
    default="bf16",
    show_default=True,
    help="Rounding between operations.",
)
@click.option(
    "--weight-dtype",
    type=click.Choice(["bf16", "fp32"]),
    help="How weights are kept: changes no bit; fp32 takes twice the memory and is slower.  "
    "[default: bf16 with invariant; stock has fp32 only]",
)
@click.option("--threads", type=_AT_LEAST_ONE, help="Threads that calculate.  [default: every usable core]")
@click.option("--kv-tokens", type=_AT_LEAST_ONE, default=16384, show_default=True, help="Tokens the KV cache holds.")
@click.option("--max-running", type=_AT_LEAST_ONE, default=32, show_default=True, help="Requests worked on at once.")
@click.option("--chunk-tokens", type=_AT_LEAST_ONE, default=256, show_default=True, help="Prompt tokens read per step.")
@click.option(
    "--queue", type=_AT_LEAST_ONE, default=64, show_default=True, help="Requests that may wait; more get a 429."
)
@click.option(
    "--prefix-cache/--no-prefix-cache",
    default=None,
    help="Keep what was computed for later texts that begin alike.  [default: on with invariant, off with stock]",
)
@click.option(
    "--key-env",
    metavar="NAME",
    help="Environment variable with the key that clients must send.  [default: no key]",
)
@click.option("--exit-with-stdin", is_flag=True, hidden=True, help="End when standard input ends.")
def serve(host: str, port: int, key_env: str | None, exit_with_stdin: bool, **model: Any) -> None:
    """Serve the built-in model, or another, over HTTP.

    Speaks POST /v1/chat/completions (OpenAI) and POST /v1/messages (Anthropic), streamed or not, and answers GET
    /v1/models, /health and /metrics (Prometheus). Point a client at the URL it prints. POST /reset_prefix_cache
    empties the prefix cache; a request with "cache_prompt": false takes no part in it.

    Decoding is greedy unless a request sends a temperature above 0; a seed makes that repeatable. A request
    that asks for what the server cannot do (tools, JSON mode, more than one choice) is refused, never answered
    as if it had not asked. Clients that send no max_tokens get up to 1024.

    Ctrl-C or SIGTERM ends it, with exit code 0. With --key-env, everything under /v1 asks for that key, and so
    does every POST.
    """
    import asyncio

    api_key = _key(key_env)
    if api_key is None and not _is_loopback(host):
        click.echo(f"temp0 serve: warning: {host} may be open to others; --key-env asks them for a key", err=True)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="temp0 serve: %(levelname)s: %(message)s")

    from temp0.workflow.serving import Served, serve_model

    serving = serve_model(
        Served(**model),
        host=host,
        port=port,
        api_key=api_key,
        exit_with_stdin=exit_with_stdin,
        announce=lambda engine, actual_port: _announce(engine, host, actual_port),
    )
    asyncio.run(serving)


def _announce(engine: Engine, host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    click.echo(
        f"temp0 serve: listening on http://{shown}:{port}/v1 (model {engine.name}, arithmetic {engine.arithmetic})"
    )


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name, "")
    if not key:
        raise UsageError(f"--key-env names {name}, but that environment variable is not set or empty; set it first")
    return key


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
