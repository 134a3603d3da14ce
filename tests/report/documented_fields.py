"""docs/format.md as data: the fields of each document, and how a value is held against its documented type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")


def documented(section: str) -> dict[str, str]:
    """The type of each field in the table of a section, by the field's path."""
    table = _PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines() if row.startswith("| `")]
    return {name.strip("`"): kind for name, kind, _ in rows}


def leaves(value: object, fields: dict[str, str], path: str = "") -> Iterator[tuple[str, object]]:
    """Every value that is not a list or object, by its path; an object that may be null also by its own."""
    if isinstance(value, dict):
        if path in fields:
            yield path, value
        for name, inner in value.items():
            yield from leaves(inner, fields, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, fields, f"{path}[]")
    else:
        yield path, value


def is_of(value: object, kind: str) -> bool:
    """Whether a value is of a documented type."""
    if kind.endswith(" or null"):
        return value is None or is_of(value, kind.removesuffix(" or null"))
    types = {"string": str, "integer": int, "boolean": bool, "object": dict}
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is types[kind] if kind in types else value in kind.split(", ")
