"""The JSON document of a price: the fields of the contract, both raw figures beside each ratio, null for nothing."""

import json
from collections.abc import Callable

import pytest
import tax_samples as samples

from temp0.core.tax import Tax
from temp0.report.tax_schema import tax_document, tax_json

CONTRACT = {
    "in_flight",
    "throughput_stock",
    "throughput_invariant",
    "throughput_tax",
    "ttft_stock_ms",
    "ttft_invariant_ms",
    "ttft_tax",
    "token_stock_ms",
    "token_invariant_ms",
    "token_tax",
    "distinct_stock",
    "distinct_invariant",
}


def test_a_row_has_the_fields_of_the_contract() -> None:
    for row in tax_document(samples.made())["rows"]:
        assert row.keys() >= CONTRACT


def test_figures_are_in_their_units_and_taxes_are_fractions() -> None:
    row = tax_document(samples.made())["rows"][0]
    assert (row["throughput_stock"], row["throughput_invariant"]) == (40.0, 80.0)
    assert row["throughput_tax"] == -0.5
    assert (row["token_stock_ms"], row["token_invariant_ms"]) == pytest.approx((100, 50))
    assert (row["ttft_stock_ms"], row["ttft_invariant_ms"]) == pytest.approx((1000, 500))
    assert row["ttft_tax"] == -0.5


def test_every_figure_has_its_rounds_beside_it() -> None:
    row = tax_document(samples.made())["rows"][0]
    assert row["token_tax_spread"] == pytest.approx([-0.52, -0.48])
    assert row["token_stock_ms_spread"] == pytest.approx([100, 100])
    assert row["throughput_invariant_spread"] == pytest.approx([40 / 0.52, 40 / 0.48])


def test_one_round_has_no_spread() -> None:
    row = tax_document(samples.interrupted())["rows"][0]
    assert row["token_tax"] == -0.5
    assert row["token_tax_spread"] is None


def test_the_equal_bytes_row_says_so_by_its_weights() -> None:
    rows = tax_document(samples.made())["rows"]
    kinds = [(row["in_flight"], row["weight_dtype_stock"], row["weight_dtype_invariant"]) for row in rows]
    assert kinds == [(1, "fp32", "bf16"), (8, "fp32", "bf16"), (8, "fp32", "fp32")]


def test_what_nobody_could_measure_is_null() -> None:
    row = tax_document(samples.in_one_piece())["rows"][0]
    assert (row["token_tax"], row["token_stock_ms"], row["token_tax_spread"]) == (None, None, None)
    unread = tax_document(samples.made(readings=False))
    assert unread["rows"][0]["ttft_tax"] is None
    assert unread["ttft_prompt_tokens"] == {"asked": 512, "min": None, "max": None}


def test_the_terms_and_what_went_wrong_are_in_it() -> None:
    found = tax_document(samples.failed_at_eight())
    assert (found["schema"], found["version"], found["exit_code"], found["finished"]) == ("temp0/tax", 1, 4, False)
    assert found["failures"] == [
        {
            "side": "invariant",
            "in_flight": 8,
            "reason": "http-429",
            "message": "HTTP 429: slow \x1b down",
            "stops": False,
        }
    ]
    assert (found["completion_tokens"], found["cache"], found["threads"]) == (8, "off", 2)
    assert any("8 in flight" in remark for remark in found["remarks"])


@pytest.mark.parametrize("make", samples.ALL)
def test_the_document_is_one_line_of_ascii_that_reads_back_equal(make: Callable[[], Tax]) -> None:
    text = tax_json(make())
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == tax_document(make())
