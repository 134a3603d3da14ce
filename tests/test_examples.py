"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import temp0


def test_every_docstring_example_holds() -> None:
    attempted = 0
    for module in pkgutil.walk_packages(temp0.__path__, "temp0."):
        if module.name.endswith(("__main__", "._native")):
            continue
        result = doctest.testmod(importlib.import_module(module.name))
        assert result.failed == 0, module.name
        attempted += result.attempted
    assert attempted >= 10
