"""Starts the scenario server in a process of its own and opens scenarios in it, each on a port of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

SERVER = Path(__file__).parent / "scenario_server.py"


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario that can be asked: its URL, and what it has seen."""

    url: str

    def report(self) -> Mapping[str, Any]:
        """Tell what the server saw: `peak` in flight, `resets` of its cache, and the `requests`."""
        with urlopen(self.url.removesuffix("/v1") + "/_seen") as answer:
            report: dict[str, Any] = json.load(answer)
        return report

    def requests(self) -> list[dict[str, Any]]:
        """List the bodies of the requests in the order in which they came."""
        return [request["body"] for request in self.report()["requests"]]


@dataclass(frozen=True, slots=True)
class Stage:
    """The process in which scenarios are played."""

    process: subprocess.Popen[str]

    def play(self, name: str, **options: Any) -> Played:
        """Open a fresh scenario: `module.Class` of `plays`, with its options."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name} {json.dumps(options)}\n")
        self.process.stdin.flush()
        url = self.process.stdout.readline().strip()
        assert url.startswith("http"), f"the scenario server has no {name} with {options}"
        return Played(url)


@contextmanager
def running_stage() -> Iterator[Stage]:
    """Hold a scenario server for the time of the context; it ends as its standard input is closed."""
    with subprocess.Popen([sys.executable, str(SERVER)], stdin=-1, stdout=-1, text=True) as process:
        yield Stage(process)
