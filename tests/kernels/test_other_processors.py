"""The portable path gives the same bits on another processor: Arm, compiled here and run in an emulator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "src" / "temp0" / "kernels" / "native"
SOURCES = [
    Path(__file__).with_name("portable_digest.cpp"),
    *(NATIVE / name for name in ("path.cpp", "path_portable.cpp", "packed.cpp", "scalar.cpp")),
]
ARM_COMPILER, ARM_EMULATOR = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")


def compile_digests(compiler: str, program: Path, *options: str) -> None:
    exact = ["-ffp-contract=off", "-fno-fast-math", "-fno-math-errno"]
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}"]
    subprocess.run([compiler, *strict, *exact, *options, *map(str, SOURCES), "-o", str(program)], check=True)


def digests(*command: str) -> list[str]:
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == 15
    return lines


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What this processor computes, compiled for its baseline."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    program = tmp_path_factory.mktemp("here") / "digests"
    compile_digests("c++", program, "-O2")
    return digests(str(program))


@pytest.mark.skipif(not (ARM_COMPILER and ARM_EMULATOR), reason="no aarch64-linux-gnu-g++ and qemu-aarch64 here")
def test_arm_gives_the_same_bits(here: list[str], tmp_path: Path) -> None:
    assert ARM_COMPILER is not None
    assert ARM_EMULATOR is not None
    compile_digests(ARM_COMPILER, tmp_path / "arm", "-O2", "-static")
    assert digests(ARM_EMULATOR, str(tmp_path / "arm")) == here


@pytest.mark.parametrize(("option", "changes"), [("-ffp-contract=fast", False), ("-ffast-math", True)])
def test_contraction_changes_nothing_and_reassociation_would(
    option: str, changes: bool, here: list[str], tmp_path: Path
) -> None:
    """No a * b + c is left to the compiler; the control is a licence that we do not give it."""
    machine = ["-mfma"] if "avx2" in cpu_flags() else []
    compile_digests("c++", tmp_path / "loose", "-O2", *machine, option)
    assert (digests(str(tmp_path / "loose")) != here) == changes


def cpu_flags() -> set[str]:
    try:
        return set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()
