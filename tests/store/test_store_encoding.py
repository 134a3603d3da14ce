"""What is kept as JSON comes back equal, from older versions too, and a newer version is told as such."""

from __future__ import annotations

import json

import pytest
from arbitrary_run import AWKWARD, plans, texts, tuples_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_run import PLAN

from temp0.core.run import Usage
from temp0.errors import StoreError
from temp0.store.encoding import pairs_bytes, pairs_from, plan_bytes, plan_from, usage_from

# Words that JSON itself is made of.
marks = st.one_of(texts, st.text(alphabet='"\\[],: u', max_size=6))


@settings(max_examples=300, deadline=None)
@given(pairs=tuples_of(st.tuples(marks, marks), max_size=5))
@example(pairs=())
@example(pairs=(("", ""),))
@example(pairs=(("a", "],["), ("],[", "b"), (",", ",")))
@example(pairs=(("etag", 'W/"1"'), ("path", "C:\\new")))
@example(pairs=((AWKWARD, AWKWARD),))
def test_pairs_come_back_equal(pairs):
    assert pairs_from(pairs_bytes(pairs)) == pairs


@settings(max_examples=50, deadline=None)
@given(plan=plans)
def test_a_plan_comes_back_equal(plan):
    assert plan_from(plan_bytes(plan)) == plan


def told(**changes):
    return json.dumps({**json.loads(plan_bytes(PLAN)), **changes}).encode()


def test_a_plan_of_before_exclusive_says_nothing_of_strangers():
    fields = json.loads(plan_bytes(PLAN))
    del fields["exclusive"]
    assert plan_from(json.dumps(fields).encode()) == PLAN
    assert not PLAN.exclusive


def test_a_condition_of_before_the_cache_is_as_found():
    assert plan_from(told(conditions=[{"company": 1}, {"company": 8, "logprobs": True, "n": 1}])) == PLAN


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (told(patience=3), "plan"),
        (told(conditions=[{"company": 1, "patience": 3}]), "condition"),
        (told(prompts=[{"id": "A", "messages": [], "n": 1, "max_tokens": 1, "patience": 3}]), "prompt"),
        (
            told(prompts=[{"id": "A", "messages": [{"role": "", "content": "", "patience": 3}]}]),
            "message",
        ),
    ],
)
def test_a_field_that_only_a_newer_version_knows_is_told(data, kind):
    with pytest.raises(StoreError, match=f"a {kind} in the store has a field 'patience', .* upgrade temp0"):
        plan_from(data)


def test_a_count_that_only_a_newer_version_knows_is_told():
    assert usage_from(b'{"prompt":3}') == Usage(prompt=3)
    with pytest.raises(StoreError, match="a usage in the store has a field 'audio'"):
        usage_from(b'{"prompt":3,"audio":1}')
