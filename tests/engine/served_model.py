"""A real `temp0 serve` in a process of its own, on a free port, that ends with the test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

KEY_ENV = "TEMP0_TEST_SERVE_KEY"
KEY = "sk-served-sesame"
LISTENING = re.compile(r"temp0 serve: listening on (http://127\.0\.0\.1:\d+/v1) \(model (\S+), arithmetic stock\)\n")


@dataclass
class ServedModel:
    process: subprocess.Popen[str]
    url: str
    model: str


@contextmanager
def served_model(*options: str) -> Iterator[ServedModel]:
    with serve_process("--port", "0", "--key-env", KEY_ENV, *options) as process:
        line = process.stdout.readline()
        found = LISTENING.fullmatch(line)
        assert found, (line, process.communicate()[1] if process.poll() is not None else "")
        yield ServedModel(process=process, url=found[1], model=found[2])


# One thread: with more, BLAS waits for itself whenever the machine has other work.
@contextmanager
def serve_process(*options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "temp0", "serve", "--exit-with-stdin", "--threads", "1", *options]
    pipe = subprocess.PIPE
    environment = {**os.environ, KEY_ENV: KEY}
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
