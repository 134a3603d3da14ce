"""The JSON document of a price: its fields are exactly those of docs/format.md."""

from collections.abc import Callable, Iterator

import pytest
import tax_samples as samples
from documented_fields import documented, is_of, leaves

from temp0.core.tax import Tax
from temp0.report.tax_schema import tax_document

DOCUMENTED = documented("A price")


def price_leaves(make: Callable[[], Tax]) -> Iterator[tuple[str, object]]:
    """What a price holds; the spread of a single round is null as a whole."""
    for path, value in leaves(tax_document(make()), DOCUMENTED):
        if not (value is None and path.endswith("_spread")):
            yield path, value


@pytest.mark.parametrize("make", samples.ALL)
def test_every_field_of_a_price_is_documented_with_its_type(make: Callable[[], Tax]) -> None:
    for path, value in price_leaves(make):
        assert path in DOCUMENTED, path
        assert is_of(value, DOCUMENTED[path]), (path, value, DOCUMENTED[path])


def test_every_documented_field_of_a_price_occurs() -> None:
    seen = {path for make in samples.ALL for path, _ in price_leaves(make)}
    assert set(DOCUMENTED) - seen == set()
