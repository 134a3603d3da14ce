"""Reads the messages of a chat body into core messages.

Text parts of one content are joined with nothing between them: the server adds no character that the client did
not send.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from temp0.core.plan import Message
from temp0.engine.server.fields import Fields
from temp0.engine.server.refusal import RefusedError

_TEXT = ("text",)


def conversation(
    fields: Fields, roles: Mapping[str, str], *, name: str = "messages", kinds: Collection[str] = _TEXT
) -> tuple[Message, ...]:
    """The messages of a body; `roles` maps the dialect's roles to those of the chat template.

    `name` is the field they come in, and `kinds` are the types of their text parts.
    """
    messages = tuple(_message(message, roles, kinds) for message in fields.objects(name))
    if not messages:
        raise RefusedError(f"{name} is empty, expected at least one message", field=name)
    return messages


def content_text(fields: Fields, name: str, *, kinds: Collection[str] = _TEXT) -> str:
    """A content that is a string or a list of text parts."""
    value = fields.raw(name)
    if value is None:
        raise fields.missing(name, "a string or a list of text parts")
    if not isinstance(value, list):
        return fields.required_text(name)
    return "".join(_part_text(part, kinds) for part in fields.objects(name))


def _message(fields: Fields, roles: Mapping[str, str], kinds: Collection[str]) -> Message:
    role = fields.required_text("role")
    if role not in roles:
        expected = ", ".join(roles)
        raise RefusedError(
            f"{fields.path('role')} is {role[:60]!r}, expected one of {expected}", field=fields.path("role")
        )
    return Message(role=roles[role], content=content_text(fields, "content", kinds=kinds))


def _part_text(fields: Fields, kinds: Collection[str]) -> str:
    kind = fields.required_text("type")
    if kind not in kinds:
        raise RefusedError(
            f"{fields.path('type')} is {kind[:60]!r}; this server reads text only", field=fields.path("type")
        )
    return fields.required_text("text")
