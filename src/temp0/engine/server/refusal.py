"""A request turned away: under which status, for which field, and why.

The message says what was seen and what was expected; it never repeats a key or a whole body.
"""

from __future__ import annotations

from temp0.errors import RequestError

BAD_REQUEST = 400
UNAUTHORIZED = 401
NOT_FOUND = 404


class RefusedError(RequestError):
    """A request that the server turns away before the engine sees it.

    `field` is the path of the field at fault (`messages[0].content`), `code` the machine-readable reason that the
    OpenAI dialect has for some refusals; both may be unknown.
    """

    def __init__(
        self, message: str, *, status: int = BAD_REQUEST, field: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.field = field
        self.code = code
