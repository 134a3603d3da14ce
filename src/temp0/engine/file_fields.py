"""Named values out of a model's file, taken as the kind they must have.

Whoever asks for a field gets a value of that kind or a ModelError that quotes the field.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from temp0.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of one file: the metadata of a GGUF file, or the object in a JSON file."""

    path: Path
    values: Mapping[str, object]

    def text(self, key: str) -> str:
        """The string under a key; ModelError if there is none."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.unexpected(key, "a string")
        return value

    def whole(self, key: str, *, default: int | None = None) -> int:
        """The whole number under a key, at least 0; ModelError if there is none and no default."""
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.unexpected(key, "a whole number")
        return value

    def real(self, key: str, *, default: float | None = None) -> float:
        """The finite number under a key; ModelError if there is none and no default."""
        value = self.values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self.unexpected(key, "a number")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false under a key; ModelError for anything else."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.unexpected(key, "true or false")
        return value

    def texts(self, key: str) -> list[str]:
        """The array of strings under a key; ModelError if there is none."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.unexpected(key, "an array of strings")
        return list(value)

    def wholes(self, key: str) -> list[int]:
        """The array of whole numbers under a key; ModelError if there is none."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
            raise self.unexpected(key, "an array of whole numbers")
        return list(value)

    def reals(self, key: str) -> list[float]:
        """The array of finite numbers under a key; ModelError if there is none."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, float) and math.isfinite(item) for item in value):
            raise self.unexpected(key, "an array of numbers")
        return list(value)

    def within(self, key: str) -> Fields:
        """The object under a key as fields of the same file; ModelError if there is none."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.unexpected(key, "an object")
        return Fields(path=self.path, values=value)

    def objects(self, key: str) -> list[Fields]:
        """The array of objects under a key, none if it is absent or null; ModelError for anything else."""
        value = self.values.get(key) or []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.unexpected(key, "an array of objects")
        return [Fields(path=self.path, values=item) for item in value]

    def unexpected(self, key: str, expected: str) -> ModelError:
        """The error to raise for a field that is absent or not what it must be."""
        seen = "is absent" if key not in self.values else f"is {str(self.values[key])[:80]!r}"
        return ModelError(
            f"{self.path}: {key} {seen}, expected {expected}; fetch the model again or choose another one"
        )
