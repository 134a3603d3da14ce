"""Promises about how the kernels are compiled, which no result on one machine can show."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "src" / "temp0" / "kernels" / "native"
X86_HEADER = re.compile(r"#include <\w*mmintrin\.h>")
PER_PATH = [
    "lanes_*.hpp",
    "attention*.hpp",
    "elementwise.hpp",
    "key_walk.hpp",
    "linear*.hpp",
    "qkv.hpp",
    "row_reduction.hpp",
    "value_chain.hpp",
    "path_*.cpp",
]


def test_x86_headers_stand_only_where_other_processors_never_look() -> None:
    unguarded = ("lanes_avx2.hpp", "lanes_avx512.hpp", "linear_tiles.hpp")
    for source in sorted(NATIVE.iterdir()):
        for match in X86_HEADER.finditer(source.read_text()):
            guard = source.read_text()[: match.start()].rpartition("#if ")[2]
            assert source.name in unguarded or guard.startswith("defined(__x86_64__)"), source.name


def test_nothing_that_the_linker_could_share_between_paths_is_included() -> None:
    allowed = {"<math.h>", "<cstdint>", "<cstring>", "<immintrin.h>"}
    for pattern in PER_PATH:
        for source in sorted(NATIVE.glob(pattern)):
            included = set(re.findall(r"#include (<[^>]+>)", source.read_text()))
            assert included <= allowed, source.name


def test_the_compiler_may_neither_contract_nor_reassociate() -> None:
    rules = (ROOT / "CMakeLists.txt").read_text()
    assert "-ffp-contract=off -fno-fast-math" in rules
    assert not re.search(r"-march=|-Ofast|-ffast-math|avx512bf16|-fassociative-math", rules)
