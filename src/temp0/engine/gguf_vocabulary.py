"""The vocabulary that a GGUF header carries: byte-level BPE, or SentencePiece's BPE.

Other kinds of tokenizer are refused, since their ids would be wrong.
"""

from __future__ import annotations

from gguf import TokenType

from temp0.engine.checkpoint import BytePairs, Pieces, Vocabulary
from temp0.engine.ends import end_ids
from temp0.engine.gguf_header import Header
from temp0.errors import ModelError

_END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


def vocabulary_of(header: Header) -> Vocabulary:
    """The vocabulary a header carries; ModelError where it carries another kind."""
    if _flag(header, "add_eos_token"):
        raise ModelError(f"{header.path} wants an end token after every prompt, which is not supported; choose another")
    tokens = header.texts("tokenizer.ggml.tokens")
    kinds = header.wholes("tokenizer.ggml.token_type")
    if len(kinds) != len(tokens):
        raise ModelError(f"{header.path} has {len(tokens)} tokens but {len(kinds)} token types; fetch it again")
    rules = _rules(header, len(tokens))
    control = _ids(kinds, TokenType.CONTROL, TokenType.UNKNOWN)
    return Vocabulary(
        tokens=tuple(tokens),
        rules=rules,
        control=control,
        user_defined=_ids(kinds, TokenType.USER_DEFINED),
        unused=_ids(kinds, TokenType.UNUSED),
        bos_id=_special_id(header, "bos_token_id", len(tokens)),
        eos_ids=end_ids((_special_id(header, name, len(tokens)) for name in _END_KEYS), tokens, control),
        eos_id=_special_id(header, "eos_token_id", len(tokens)),
        spelling="sentencepiece" if isinstance(rules, Pieces) else "byte-level",
    )


def _rules(header: Header, size: int) -> BytePairs | Pieces:
    match header.text("tokenizer.ggml.model"):
        case "gpt2":
            return BytePairs(
                merges=tuple(_merge(header, merge) for merge in header.texts("tokenizer.ggml.merges")),
                pre=header.text("tokenizer.ggml.pre"),
                add_bos=_flag(header, "add_bos_token"),
            )
        case "llama":
            return _pieces(header, size)
        case model:
            raise ModelError(
                f"{header.path} has a tokenizer of kind {model!r}, expected 'gpt2' (byte-level BPE) or 'llama' "
                "(SentencePiece's): other kinds are not supported; choose another model"
            )


def _pieces(header: Header, size: int) -> Pieces:
    """What is not said is as llama.cpp takes it for this kind: a token for the beginning, and a space in front."""
    scores = header.reals("tokenizer.ggml.scores")
    if len(scores) != size:
        raise ModelError(f"{header.path} has {size} tokens but {len(scores)} scores; fetch it again")
    if _flag(header, "remove_extra_whitespaces"):
        raise ModelError(f"{header.path} wants white space removed, which is not supported; choose another model")
    return Pieces(
        scores=tuple(scores),
        add_bos=_flag(header, "add_bos_token") is not False,
        add_space=_flag(header, "add_space_prefix") is not False,
    )


def _ids(kinds: list[int], *wanted: TokenType) -> frozenset[int]:
    return frozenset(token for token, kind in enumerate(kinds) if kind in wanted)


def _merge(header: Header, merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    if not left or not right:
        raise ModelError(f"{header.path}: the merge {merge!r} is not a pair; fetch the file again")
    return left, right


def _special_id(header: Header, name: str, size: int) -> int | None:
    key = f"tokenizer.ggml.{name}"
    if key not in header.values:
        return None
    token = header.whole(key)
    if token >= size:
        raise ModelError(f"{header.path}: {key} is {token}, expected less than {size}; fetch the file again")
    return token


def _flag(header: Header, name: str) -> bool | None:
    """True, false, or None where the file does not say."""
    key = f"tokenizer.ggml.{name}"
    return header.flag(key, default=False) if key in header.values else None
