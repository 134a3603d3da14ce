"""Starts a server in a process of its own, waits until it listens, and ends it.

All that a server says goes to a log, whose end is the reason given when it cannot be started.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from peers.environment import NotMeasuredError

_LISTENING = re.compile(r"listening on (http://[\w.\[\]:-]+:\d+)(?=[\s/])")
_ABOUT = re.compile(r"^about: (.+)$", re.MULTILINE)
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # this machine is reached without a proxy
_START_LIMIT_S = 120
_END_LIMIT_S = 10
_LOOK_EVERY_S = 0.05
_LOOK_LIMIT_S = 5
_LAST_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that listens at `url`; `about` is what it says of itself, if anything."""

    url: str
    about: str
    pid: int

    def processor_seconds(self) -> float | None:
        """Processor time that the process has used so far; None where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: Sequence[str], log: Path, *, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The server that `command` starts; NotMeasuredError, with the end of its log, where it does not listen."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # what watches its standard input ends with us, however we end
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        ) as process,
    ):
        try:
            yield _listening(process, log)
        finally:
            _end(process)


def _listening(process: subprocess.Popen[bytes], log: Path) -> Server:
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        said = log.read_text(encoding="utf-8", errors="replace")
        if (found := _LISTENING.search(said)) and _is_ready(found.group(1)):
            about = _ABOUT.search(said)
            return Server(url=found.group(1), about=about.group(1) if about else "", pid=process.pid)
        if ended:
            last = " ".join(said[-_LAST_CHARACTERS:].split())
            raise NotMeasuredError(f"its server ended with code {process.returncode} before it listened: {last}")
        time.sleep(_LOOK_EVERY_S)
    raise NotMeasuredError(f"its server did not listen within {_START_LIMIT_S} s")


def _is_ready(url: str) -> bool:
    """Whether the server takes requests: llama-server listens before its model is loaded, and answers 503 till then."""
    try:
        with _DIRECT.open(f"{url}/health", timeout=_LOOK_LIMIT_S):
            return True
    except urllib.error.HTTPError as error:
        return error.code != HTTPStatus.SERVICE_UNAVAILABLE
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
