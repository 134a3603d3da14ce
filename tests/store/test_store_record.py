"""Records made by the column are those that their constructor makes."""

from __future__ import annotations

import pytest
from arbitrary_run import alternatives, completions, tokens
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.run import Alternative, Completion, Token
from temp0.store.record import records


@settings(max_examples=50, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(
    ("kind", "values"), [(Alternative, alternatives), (Completion, completions), (Token, tokens)], ids=lambda each: ""
)
def test_values_come_back_from_their_columns(kind, values, data):
    some = data.draw(st.lists(values, max_size=4))
    columns = {name: [getattr(one, name) for one in some] for name in kind.__dataclass_fields__}
    made = records(kind, len(some), **columns)
    assert made == some
    assert list(map(hash, made)) == list(map(hash, some))


def test_a_column_that_is_no_field_and_a_field_without_a_column_are_refused():
    with pytest.raises(TypeError, match="Alternative has no field weight"):
        records(Alternative, 1, bytes=[b"x"], logprob=[0.0], weight=[1])
    with pytest.raises(KeyError, match="logprob"):
        records(Alternative, 1, bytes=[b"x"])
