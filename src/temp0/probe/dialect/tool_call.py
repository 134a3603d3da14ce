"""Tool calls of a chat message, whole or gathered from deltas: names, and arguments as the text that was told.

Ids are read only to tell calls apart, never kept: they are new in every answer. Arguments that come as an object
are its compact JSON, keys in the order told.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from temp0.core.run import ToolCall
from temp0.probe.dialect.field import list_at, object_at, text_at, told_count, told_object
from temp0.probe.dialect.partial import joined


def tool_calls(message: Mapping[str, object]) -> tuple[ToolCall, ...]:
    """The calls in `tool_calls`, else the one in `function_call`, its older form.

    Raises:
        FieldError: A call, its name or its arguments are of a wrong type.

    """
    calls, only = message.get("tool_calls"), message.get("function_call")
    if calls:
        return tuple(_call(_function(object_at(call, "tool_calls[]"))) for call in list_at(calls, "tool_calls"))
    return (_call(object_at(only, "function_call")),) if only else ()


def arguments_text(value: object) -> str:
    """The arguments of a call as text, `""` where there are none."""
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text_at(value, "the arguments of a tool call")


def _function(call: Mapping[str, object]) -> Mapping[str, object]:
    """What is called: a function with arguments, or a custom tool with one input."""
    custom = told_object(call.get("custom"))
    return told_object(call.get("function")) or {"name": custom.get("name"), "arguments": custom.get("input")}


def _call(function: Mapping[str, object]) -> ToolCall:
    return ToolCall(name=_name(function), arguments=arguments_text(function.get("arguments")))


def _name(function: Mapping[str, object]) -> str:
    name = function.get("name")
    return "" if name is None else text_at(name, "the name of a tool call")


@dataclass(slots=True, kw_only=True)
class _Growing:
    index: int
    id: object
    name: str = ""
    arguments: io.StringIO = field(default_factory=io.StringIO)


class PartialCalls:
    """The calls that the deltas so far have told.

    A delta goes to the call of its index, or to the last one where it has no index. One that brings both a name and
    another id begins a new call all the same: some servers count every call as the first. A name that is told again
    is not joined to itself.
    """

    def __init__(self) -> None:
        self._calls: list[_Growing] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: Mapping[str, object]) -> None:
        """Take one more entry of a delta's `tool_calls`; raises `FieldError` for one that is none."""
        function = _function(delta)
        name, told = _name(function), arguments_text(function.get("arguments"))
        call = self._of(told_count(delta.get("index")), delta.get("id"), is_named=bool(name))
        if name != call.name:
            call.name += name
        call.arguments.write(told)

    def payload(self) -> list[dict[str, dict[str, str]]]:
        """The calls as they would have come unstreamed."""
        ordered = sorted(self._calls, key=lambda call: call.index)
        return [
            {"function": {"name": joined([c.name]), "arguments": joined([c.arguments.getvalue()])}} for c in ordered
        ]

    def _of(self, index: int | None, name: object, *, is_named: bool) -> _Growing:
        """The call that a delta with this index and this id goes to."""
        found = next((call for call in reversed(self._calls) if index is None or call.index == index), None)
        if found is None or (is_named and found.name and name and name != found.id):
            found = _Growing(index=len(self._calls) if index is None else index, id=name)
            self._calls.append(found)
        return found
