"""Reads a model's directory as Hugging Face keeps them into a Checkpoint.

What every file of it says is used, or the directory is refused.
"""

from __future__ import annotations

from pathlib import Path

from temp0.engine.checkpoint import Checkpoint
from temp0.engine.huggingface_json import read_json, read_json_if_any, read_text
from temp0.engine.huggingface_settings import settings_of
from temp0.engine.huggingface_tensors import tensors_of
from temp0.engine.huggingface_vocabulary import vocabulary_of


def read_huggingface(directory: Path) -> Checkpoint:
    """The model in a directory, its weights rounded to bf16.

    config.json, tokenizer.json and F32, F16 or BF16 safetensors, whole or in shards, are needed; tokenizer_config.json,
    generation_config.json and chat_template.jinja are read where they exist. Raises ModelError, which says what was
    seen, what was expected and what to do, for whatever is absent, damaged, truncated or of another kind.
    """
    config = read_json(directory / "config.json")
    settings = settings_of(config)
    # Weights first: they tell whether the vocab_size that the vocabulary is filled up to can be true.
    tensors = tensors_of(directory, settings)
    return Checkpoint(
        name=directory.resolve().name,
        settings=settings,
        tensors=tensors,
        vocabulary=vocabulary_of(directory, config),
        chat_template=_chat_template(directory),
    )


def _chat_template(directory: Path) -> str | None:
    """chat_template.jinja, or what tokenizer_config.json holds: a template, or several of which one is the default."""
    own = directory / "chat_template.jinja"
    if own.exists():
        return read_text(own)
    beside = read_json_if_any(directory / "tokenizer_config.json")
    if beside.values.get("chat_template") is None:
        return None
    if isinstance(beside.values["chat_template"], list):
        named = {template.text("name"): template for template in beside.objects("chat_template")}
        return named["default"].text("template") if "default" in named else None
    return beside.text("chat_template")
