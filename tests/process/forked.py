"""Runs a program in a process of its own, forked from one that has already imported what temp0 imports.

The process has arguments, environment, folder and streams of its own and ends with an exit code of its own; only the
second or two of importing is saved. Tests of how a program starts, or of signals, start it from nothing instead.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

PATIENCE_S = 280
SOURCE = Path(__file__).parents[2] / "src"
IMPORTED = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for room in ("cli", "workflow")
    for path in sorted((SOURCE / "temp0" / room).rglob("[!_]*.py"))
]
_FORKS = multiprocessing.get_context("forkserver")


def forked(
    program: Callable[[], object],
    *arguments: str,
    stdin: str = "",
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """One finished call of a program, named after its package. Raises `TimeoutExpired` where it does not end."""
    _FORKS.set_forkserver_preload(["pytest", *IMPORTED])
    with TemporaryDirectory() as kept:
        streams = [Path(kept) / name for name in ("stdin", "stdout", "stderr")]
        for path, text in zip(streams, (stdin, "", ""), strict=True):
            path.write_text(text, encoding="utf-8")
        own = (arguments, streams, folder or Path.cwd(), dict(os.environ if environ is None else environ))
        process = _FORKS.Process(target=_become, args=(program, *own))
        process.start()
        process.join(PATIENCE_S)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, PATIENCE_S)
        output, errors = (path.read_text(encoding="utf-8") for path in streams[1:])
    return subprocess.CompletedProcess(arguments, process.exitcode, output, errors)


def _become(
    program: Callable[[], object],
    arguments: tuple[str, ...],
    streams: list[Path],
    folder: Path,
    environ: dict[str, str],
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    for place, path in enumerate(streams):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND if place else os.O_RDONLY), place)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.argv = [program.__module__.partition(".")[0].strip("_"), *arguments]
    sys.exit(program())
