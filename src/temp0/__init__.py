"""temp0: does a temperature-0 endpoint always give the same answer, and if not, where and why does it fork?

Names are loaded when they are first used, so that `import temp0` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from temp0.core.analysis import Analysis
    from temp0.core.plan import Condition, Message, Plan, Prompt
    from temp0.core.run import Run
    from temp0.workflow.agreeing import assert_agrees
    from temp0.workflow.batch_invariance import assert_batch_invariant
    from temp0.workflow.library import analyze, ask, ask_async

__all__ = [
    "Analysis",
    "Condition",
    "Message",
    "Plan",
    "Prompt",
    "Run",
    "analyze",
    "ask",
    "ask_async",
    "assert_agrees",
    "assert_batch_invariant",
]

_HOMES = {
    "Analysis": "temp0.core.analysis",
    "Condition": "temp0.core.plan",
    "Message": "temp0.core.plan",
    "Plan": "temp0.core.plan",
    "Prompt": "temp0.core.plan",
    "Run": "temp0.core.run",
    "analyze": "temp0.workflow.library",
    "ask": "temp0.workflow.library",
    "ask_async": "temp0.workflow.library",
    "assert_agrees": "temp0.workflow.agreeing",
    "assert_batch_invariant": "temp0.workflow.batch_invariance",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'temp0' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
