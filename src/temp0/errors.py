"""Every error temp0 raises on purpose, in one family.

A finding is not an error, and neither is a failed attempt: those are recorded in the run. Each error says what
was seen, what was expected and what to do, and carries the exit code that the command line ends with.

    Temp0Error
    ├── UsageError           a flag, argument or file that cannot be right
    │   ├── PlanError        a plan that cannot be carried out
    │   ├── PromptFileError  a prompt file that cannot be read
    │   └── LogFileError     another tool's file that cannot be read
    ├── EndpointError        an endpoint that cannot be addressed at all
    │   └── UnreachableError one that may be right, and does not answer
    ├── StoreError           a store that cannot be opened, read or written
    │   └── UnknownRunError  no run, or more than one, with that id
    ├── ModelError           weights that are absent, damaged or of another kind
    └── RequestError         a request that the engine refuses
        ├── QueueFullError   the engine's queue has no room; try again later
        └── EngineError      the engine could not answer a request that was right
"""

from __future__ import annotations


class Temp0Error(Exception):
    """The root of the family."""

    exit_code = 2


class UsageError(Temp0Error):
    """A flag, argument or file that cannot be right."""


class PlanError(UsageError):
    """A plan that cannot be carried out."""


class PromptFileError(UsageError):
    """A prompt file that cannot be read; the message names the line."""


class LogFileError(UsageError):
    """Another tool's file of answers that cannot be read; the message names the line where there is one."""


class EndpointError(Temp0Error):
    """An endpoint that cannot be addressed at all: no such scheme, no such dialect, no model."""


class UnreachableError(EndpointError):
    """An endpoint that may be right and does not answer now: an outage, of which nothing was measured."""


class StoreError(Temp0Error):
    """A store that cannot be opened, read or written."""


class UnknownRunError(StoreError):
    """No run, or more than one, begins with that id."""


class ModelError(Temp0Error):
    """Weights that are absent, damaged or of another kind."""


class RequestError(Temp0Error):
    """A request that the engine refuses, such as a prompt longer than the context."""


class QueueFullError(RequestError):
    """The engine's queue has no room; the same request may succeed later."""


class EngineError(RequestError):
    """The engine could not answer a request that was right: a step failed, or it is closed."""
