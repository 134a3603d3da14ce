"""The built-in engine's address, and the command that serves what it says."""

from pathlib import Path

import pytest

from temp0.errors import Temp0Error, UsageError
from temp0.workflow.builtin import Builtin, resumed


@pytest.mark.parametrize("prefix_cache", [False, True])
@pytest.mark.parametrize("arithmetic", ["stock", "invariant"])
def test_an_address_names_the_arithmetic_and_a_prefix_cache_that_was_asked_for(
    arithmetic: str, prefix_cache: bool
) -> None:
    engine = Builtin(arithmetic=arithmetic, threads=1, prefix_cache=prefix_cache)
    address = engine.address("some model?x")
    assert ("prefix_cache" in address) is prefix_cache
    assert resumed(address, Builtin(threads=1)) == engine


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(Temp0Error, match="not a built-in address"):
        resumed("builtin:m?arithmetic=stock&prefix_cache=off", Builtin())


def test_another_model_than_the_address_names_is_refused() -> None:
    named = resumed("builtin:ours?arithmetic=stock", Builtin())
    named.check_model("ours")
    Builtin().check_model("whatever")
    with pytest.raises(UsageError, match=r"has loaded other, and builtin:ours\?arithmetic=stock names another model"):
        named.check_model("other")


def test_a_prefix_cache_is_asked_of_the_engine_only_where_it_is_wanted() -> None:
    assert "--prefix-cache" not in Builtin(weights=Path("w.gguf")).command()
    assert Builtin(prefix_cache=True).command()[-1] == "--prefix-cache"
