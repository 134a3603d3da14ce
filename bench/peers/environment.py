"""The peers' own virtual environment: made once under build/, filled by pip, used again.

temp0's environment never gets a peer's packages, and a peer that cannot be installed stops nothing but itself.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "peers"
# The newest versions that were seen to work; the first carries llama.cpp's whole server.
XLLAMACPP = "xllamacpp==2026.10.11549"
OPENVINO = "openvino-genai==2026.4.1.0"

_MOST_CHARACTERS = 300


class NotMeasuredError(Exception):
    """A contender has no figure, and this says why."""


def python_with(requirement: str, *, folder: Path = FOLDER) -> Path:
    """The interpreter of the peers' environment, with `requirement` installed; NotMeasuredError with pip's reason."""
    environment = folder / "venv"
    python = environment / "bin" / "python"
    if not python.exists():
        _called([sys.executable, "-m", "venv", str(environment)])
    done = environment / f"{requirement}.done"
    if not done.exists():
        _called([str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", requirement])
        done.touch()
    return python


def _called(command: list[str]) -> None:
    call = subprocess.run(command, capture_output=True, text=True, check=False)
    if call.returncode:
        raise NotMeasuredError(f"{' '.join(command[1:])} failed: {_reason(call.stderr or call.stdout)}")


def _reason(said: str) -> str:
    """The last line that names an error; pip's warnings name folders of this machine and explain nothing."""
    lines = said.strip().splitlines() or ["it said nothing"]
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1])[:_MOST_CHARACTERS]
