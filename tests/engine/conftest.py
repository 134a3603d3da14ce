from __future__ import annotations

from collections.abc import Iterator

import pytest
from served_model import ServedModel, served_model


@pytest.fixture(scope="session")
def served() -> Iterator[ServedModel]:
    """One `temp0 serve` for all tests that only talk to it."""
    with served_model() as served:
        yield served
