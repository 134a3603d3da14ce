"""The vocabulary of a model's directory: tokenizer.json, and what the files beside it say about special tokens.

How text becomes ids is left to the tokenizers library, which reads tokenizer.json whole. The bytes of a token are
known only where its spelling is, so any but byte-level BPE and SentencePiece's BPE with byte fallback is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from temp0.engine.checkpoint import TokenizerFile, Vocabulary
from temp0.engine.ends import end_ids
from temp0.engine.file_fields import Fields
from temp0.engine.huggingface_json import json_fields, read_json_if_any, read_text
from temp0.errors import ModelError

_BYTE_LEVEL = [{"type": "ByteLevel"}]
_SENTENCEPIECE = [
    {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
]
# Takes a space from the very beginning of a text, and from nowhere else.
_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def vocabulary_of(directory: Path, config: Fields) -> Vocabulary:
    """The vocabulary, with a token for each of the vocab_size rows of the embedding; ModelError for other kinds."""
    path = directory / "tokenizer.json"
    definition = read_text(path)
    file = json_fields(path, definition)
    beside = read_json_if_any(directory / "tokenizer_config.json")
    added = {token.whole("id"): token for token in file.objects("added_tokens")}
    tokens, unused = _tokens(file, added, config.whole("vocab_size"))
    _check_added_beside(beside, tokens)
    control = frozenset(token_id for token_id, token in added.items() if token.flag("special", default=False))
    ends = [
        *_stated_ends(config, tokens),
        *_stated_ends(read_json_if_any(directory / "generation_config.json"), tokens),
    ]
    eos_id = _special_id(beside, "eos_token", added, default=ends[0] if ends else None)
    return Vocabulary(
        tokens=tokens,
        rules=TokenizerFile(path=path, definition=definition, add_bos=_adds_bos(beside)),
        control=control,
        user_defined=frozenset(added) - control,
        unused=unused,
        bos_id=_special_id(beside, "bos_token", added, default=None),
        eos_ids=end_ids((eos_id, *ends), tokens, control),
        eos_id=eos_id,
        spelling=_spelling(file),
    )


def _tokens(file: Fields, added: Mapping[int, Fields], size: int) -> tuple[tuple[str, ...], frozenset[int]]:
    """Tokens by id, and the ids of embedding rows that have none, which get a name that nothing else has."""
    known = {token_id: token.text("content") for token_id, token in added.items()}
    for token, token_id in _model(file).within("vocab").values.items():
        if not isinstance(token_id, int) or known.setdefault(token_id, token) != token:
            raise ModelError(f"{file.path}: id {token_id!r} belongs to {token!r} and to another token; fetch it again")
    if not known or not 0 <= min(known) <= max(known) < size:
        raise ModelError(
            f"{file.path} has {len(known)} tokens with ids up to {max(known, default=None)}, expected them within the "
            f"{size} rows of the embedding that config.json states; fetch the model again"
        )
    tokens = tuple(known.get(token_id, f"[PAD{token_id}]") for token_id in range(size))
    return tokens, frozenset(range(size)) - known.keys()


def _model(file: Fields) -> Fields:
    """The part that merges; ModelError where it is not plain BPE, or where it draws lots."""
    model = file.within("model")
    kind = model.values.get("type", "BPE" if "merges" in model.values else None)
    if kind != "BPE":
        raise ModelError(f"{file.path} has a model of type {kind!r}, expected 'BPE'; choose another model")
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.values.get(key):
            raise ModelError(
                f"{file.path} says model.{key} = {model.values[key]!r}, which is not supported; choose another model"
            )
    return model


def _spelling(file: Fields) -> Literal["byte-level", "sentencepiece"]:
    """How tokens are written, by the decoder; ModelError where their bytes could not be told for sure."""
    decoder = file.within("decoder")
    steps = [step.values for step in decoder.objects("decoders")] or [decoder.values]
    byte_level = [{"type": step.get("type")} for step in steps] == _BYTE_LEVEL
    cuts_bytes = "'type': 'ByteLevel'" in str([file.values.get(part) for part in ("normalizer", "pre_tokenizer")])
    if byte_level and cuts_bytes:
        return "byte-level"
    if steps in (_SENTENCEPIECE, [*_SENTENCEPIECE, _STRIP]) and not cuts_bytes:
        return "sentencepiece"
    raise ModelError(
        f"{file.path} has a decoder of {[step.get('type') for step in steps]} and a pre-tokenizer of "
        f"{str(file.values.get('pre_tokenizer'))[:80]}, expected byte-level BPE or SentencePiece's with byte fallback: "
        "the bytes of its tokens would be a guess, so choose another model"
    )


def _check_added_beside(beside: Fields, tokens: tuple[str, ...]) -> None:
    """ModelError where tokenizer_config.json has tokens that tokenizer.json has not: programs would add them."""
    if beside.values.get("added_tokens_decoder") is None:
        return
    listed = beside.within("added_tokens_decoder")
    for key in listed.values:
        content = listed.within(key).text("content")
        if not key.isdecimal() or int(key) >= len(tokens) or tokens[int(key)] != content:
            raise ModelError(
                f"{beside.path} says that token {key} is {content!r}, which tokenizer.json does not; fetch both again"
            )


def _special_id(beside: Fields, key: str, added: Mapping[int, Fields], *, default: int | None) -> int | None:
    """The id of the token named in tokenizer_config.json, as text or as an object with its content."""
    if beside.values.get(key) is None:
        return default
    named = beside.values[key]
    content = beside.within(key).text("content") if isinstance(named, dict) else beside.text(key)
    for token_id, token in added.items():
        if token.text("content") == content:
            return token_id
    raise ModelError(
        f"{beside.path}: {key} is {content!r}, which is no added token of tokenizer.json; fetch both again"
    )


def _stated_ends(fields: Fields, tokens: tuple[str, ...]) -> Iterator[int]:
    """What eos_token_id says: nothing, an id or several."""
    stated = fields.values.get("eos_token_id")
    for token_id in stated if isinstance(stated, list) else [stated]:
        if token_id is None:
            continue
        if not isinstance(token_id, int) or not 0 <= token_id < len(tokens):
            raise fields.unexpected("eos_token_id", f"ids below {len(tokens)}")
        yield token_id


def _adds_bos(beside: Fields) -> bool | None:
    if beside.values.get("add_eos_token"):
        raise ModelError(f"{beside.path} wants an end token after every prompt, which is not supported; choose another")
    return None if beside.values.get("add_bos_token") is None else beside.flag("add_bos_token", default=False)
