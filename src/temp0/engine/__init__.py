"""Continuous batching over a real model, as a library and as a server."""

from temp0.engine.engine import Engine
from temp0.engine.request import Emission, Request

__all__ = ["Emission", "Engine", "Request"]
