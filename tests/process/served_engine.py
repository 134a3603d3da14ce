"""`temp0 serve` in a process of its own, on a free port."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def served_engine(*options: str) -> Iterator[str]:
    """The base URL of our engine on the built-in model, which ends with the context.

    One thread: with more, BLAS waits for itself whenever the machine has other work.
    """
    command = [sys.executable, "-m", "temp0", "serve", "--port", "0", "--threads", "1", "--exit-with-stdin", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+/v1", line)))
        finally:
            process.kill()
