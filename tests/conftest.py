"""What holds for every test, whoever starts them."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Hear Ctrl-C, and so let every process that a test starts hear it: a shell's background job is born deaf to it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
