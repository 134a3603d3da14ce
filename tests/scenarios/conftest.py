"""One scenario server for all scenarios of a session."""

from collections.abc import Iterator

import pytest
from stage import Stage, running_stage


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    with running_stage() as opened:
        yield opened
