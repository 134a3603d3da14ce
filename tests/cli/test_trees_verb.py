"""`temp0 trees` as a user meets it: real processes, this machine's own kernels.

Which batch sizes of a stock kernel differ is a fact of the machine: nothing here writes it down.
"""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import command, document, temp0

QUICK = ("-k", "64", "-n", "32", "--batch-sizes", "1,2,5")


def test_our_kernel_has_one_tree_at_every_batch_size_and_it_is_replayed() -> None:
    found = document(temp0("trees", "--op", "kernels.linear", *QUICK, "--dtype", "float32,bfloat16", "--json"))
    assert [(kernel["name"], kernel["dtype"]) for kernel in found["kernels"]] == [
        ("kernels.linear", "float32"),
        ("kernels.linear", "bfloat16"),
    ]
    for kernel in found["kernels"]:
        assert kernel["invariant"] is True
        (one,) = kernel["classes"]
        assert one["batch_sizes"] == [1, 2, 5]
        assert one["words"] == "2 blocks of 32 (each 2 lanes of 16 (every 2nd summand), added), added"
        assert one["replayed"] in {"fused", "either"}
    assert (found["exit_code"], found["finished"]) == (0, True)


def test_the_default_shows_the_sentence_beside_our_kernel() -> None:
    call = temp0("trees")
    told = " ".join(call.stdout.split())
    assert call.returncode == 0
    assert "kernels.linear, float32, K = 576: one order of addition at batch sizes" in told
    if "The same kernel adds in a different order" not in told:
        assert "No kernel changed its order with the batch size here" in told
        pytest.skip("numpy's product has one order at every batch size on this machine")
    assert "numpy.matmul, float32, K = 576" in told


def test_sums_of_every_kind_are_seen_into_or_say_why_not() -> None:
    ops = ("numpy.sum", "numpy.dot", "python.sum", "python.fsum", "engine.stock")
    call = temp0("trees", *(part for op in ops for part in ("--op", op)), "-k", "40", "-n", "8", "--json")
    for kernel in document(call)["kernels"]:
        for one in kernel["classes"]:
            assert (one["tree"] is None) == (one["absence"] is not None)
            assert (one["replayed"] is None) == (one["why"] is not None)
            if one["tree"]:
                assert one["tree"]["summands"] == 40
    fsum = next(kernel for kernel in document(call)["kernels"] if kernel["name"] == "python.fsum")
    assert [one["absence"] for one in fsum["classes"]] == ["exact"]


def test_trees_are_drawn_into_a_folder_and_on_a_sheet(tmp_path: Path) -> None:
    sheet, folder = tmp_path / "sheet.svg", tmp_path / "new" / "trees"
    call = temp0("trees", *QUICK, "--svg", str(sheet), "-o", str(folder))
    assert call.returncode == 0, call.stderr
    written = sorted(path.name for path in folder.iterdir())
    assert {"trees.json", "trees.svg", "kernels.linear-float32-64-A.svg"} <= set(written)
    for path in (sheet, *folder.glob("*.svg")):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    kept = json.loads((folder / "trees.json").read_text("utf-8"))
    assert kept["schema"] == "temp0/trees"
    assert str(sheet) in call.stderr
    assert str(sheet) not in call.stdout


def test_all_skips_what_cannot_be_with_the_reason() -> None:
    found = document(
        temp0("trees", "--op", "all", "--dtype", "bfloat16", "-k", "32", "-n", "4", "--batch-sizes", "1", "--json")
    )
    assert [kernel["name"] for kernel in found["kernels"] if not kernel["name"].startswith("torch")] == [
        "kernels.linear"
    ]
    assert {"numpy.matmul", "python.fsum"} <= {one["name"] for one in found["skipped"]}
    assert all(one["why"] for one in found["skipped"])


def test_ctrl_c_shows_what_was_found_by_then() -> None:
    arguments = ("trees", "--op", "python.sum", "-k", "32,60000", "--json")
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "python.sum, float64, K = 60,000" not in process.stderr.readline():
            pass  # that sum takes minutes; what comes before it takes a moment
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=100)
    found = json.loads(stdout)
    assert process.returncode == found["exit_code"] == 4
    assert found["finished"] is False
    assert found["kernels"][0]["classes"]
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--op", "numpy.mean"), "op is 'numpy.mean', expected one of: numpy.matmul"),
        (("--op", "numpy.matmul", "--dtype", "bfloat16"), "numpy.matmul has no bfloat16"),
        (("--dtype", "fp8"), "'fp8' is not one of float32"),
        (("-k", "0"), "is not a list of whole numbers of at least 1"),
        (("-k", "1000000", "-n", "1000000"), "lower -k or -n"),
        (("--svg", "/nowhere/at/all.svg"), "cannot write /nowhere/at/all.svg"),
        (("-o", "/dev/null/trees"), "cannot make the folder /dev/null/trees"),
        (("--op", "torch.linear", "--device", "nowhere"), "torch"),
    ],
)
def test_what_cannot_be_right_is_a_usage_error_that_says_so(arguments: tuple[str, ...], said: str) -> None:
    call = temp0("trees", *arguments, "--json")
    assert said in document(call)["message"]
    assert call.returncode == 2
    assert "Traceback" not in call.stderr


def test_help_teaches_the_method_and_the_exit_codes() -> None:
    told = " ".join(temp0("trees", "--help").stdout.split())
    for words in (
        "FPRev", "reduction tree", "Exit codes: 0 done", "temp0 trees --op numpy.sum -k 8,100,1000",
        "numpy.matmul rows @ weights, weights kept as [K, N]",
    ):  # fmt: skip
        assert words in told


@pytest.mark.torch
def test_torch_is_seen_into_where_it_is_installed() -> None:
    pytest.importorskip("torch")
    found = document(
        temp0("trees", "--op", "torch.linear", "--op", "torch.sum", *QUICK, "--dtype", "float32,bfloat16", "--json")
    )
    assert {(kernel["name"], kernel["dtype"]) for kernel in found["kernels"]} == {
        (name, dtype) for name in ("torch.linear", "torch.sum") for dtype in ("float32", "bfloat16")
    }
    assert all(one["tree"] for kernel in found["kernels"] for one in kernel["classes"])
