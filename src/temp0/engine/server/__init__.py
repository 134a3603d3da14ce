"""The engine over HTTP, in the OpenAI and Anthropic dialects.

A request's way: a dialect module reads its body into an `Inquiry`, `generation` carries that through the engine,
`text_stream` turns tokens into text, and the dialect module writes it out, whole or as events.
"""

from temp0.engine.server.app import make_app
from temp0.engine.server.listener import serve

__all__ = ["make_app", "serve"]
