"""Keeps what happens while it happens: in memory for the analysis, in the store for good.

A thread of its own writes whatever has gathered as one transaction, so that asking never waits for the disk and a
kill at any moment loses only what was in flight or in the last few milliseconds.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import replace

from temp0.core.run import Attempt, Run, Sample
from temp0.store import Store


class Recorder:
    """Collects the attempts and samples of one run. Use as a context manager; leaving it writes what is left.

    `error` is what went wrong in writing, if anything did; nothing is written after it, and all is still in `run`.
    """

    def __init__(self, run: Run, store: Store | None) -> None:
        self._run = run
        self._store = store
        self._attempts: list[Attempt] = []
        self._samples: list[Sample] = []
        self._waiting: queue.SimpleQueue[Attempt | Sample | bytes | None] = queue.SimpleQueue()
        self.error: Exception | None = None
        self._writer = threading.Thread(target=self._write, name="temp0-recorder", daemon=True)

    def __enter__(self) -> Recorder:
        self._writer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._waiting.put(None)
        self._writer.join()

    @property
    def run(self) -> Run:
        """The run as far as it has come."""
        return replace(
            self._run,
            attempts=(*self._run.attempts, *self._attempts),
            samples=(*self._run.samples, *self._samples),
        )

    def attempt(self, attempt: Attempt) -> None:
        """Keep an attempt. Raises what went wrong if an earlier one could not be written."""
        self._attempts.append(attempt)
        self._put(attempt)

    def sample(self, sample: Sample) -> None:
        """Keep a sample of the server's running count."""
        self._samples.append(sample)
        self._put(sample)

    def body(self, body: bytes) -> None:
        """Keep the raw body of the attempt that comes next, in the store only."""
        self._put(body)

    def _put(self, item: Attempt | Sample | bytes) -> None:
        if self.error:
            raise self.error
        if self._store is not None:
            self._waiting.put(item)

    def _write(self) -> None:
        open_ended = True
        while open_ended:
            group = [self._waiting.get()]
            while not self._waiting.empty():
                group.append(self._waiting.get())
            open_ended = None not in group
            self._append([item for item in group if item is not None])

    def _append(self, group: list[Attempt | Sample | bytes]) -> None:
        if self._store is None or self.error or not group:
            return
        attempts = [item for item in group if isinstance(item, Attempt)]
        samples = [item for item in group if isinstance(item, Sample)]
        bodies = [item for item in group if isinstance(item, bytes)]
        try:
            if bodies:
                self._store.keep(self._run.id, bodies)
            self._store.append(self._run.id, attempts, samples)
        except Exception as error:  # noqa: BLE001 - the thread's own door: handed on to whoever asks
            self.error = error
