"""The byte-level BPE vocabulary that a GGUF header carries.

Other kinds of tokenizer are refused, since their ids would be wrong.
"""

from __future__ import annotations

from gguf import TokenType

from temp0.engine.checkpoint import Vocabulary
from temp0.engine.gguf_header import Header
from temp0.errors import ModelError

_END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")
_END_TEXTS = frozenset(
    {"<|endoftext|>", "<|im_end|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "</s>"}
)


def vocabulary_of(header: Header) -> Vocabulary:
    """The byte-level BPE vocabulary a header carries; ModelError where it carries another kind."""
    model = header.text("tokenizer.ggml.model")
    if model != "gpt2":
        raise ModelError(
            f"{header.path} has a tokenizer of kind {model!r}, expected 'gpt2' (byte-level BPE): other kinds are "
            "not supported; choose another model"
        )
    if _flag(header, "add_eos_token"):
        raise ModelError(f"{header.path} wants an end token after every prompt, which is not supported; choose another")
    tokens = header.texts("tokenizer.ggml.tokens")
    kinds = header.wholes("tokenizer.ggml.token_type")
    if len(kinds) != len(tokens):
        raise ModelError(f"{header.path} has {len(tokens)} tokens but {len(kinds)} token types; fetch it again")
    control = _ids(kinds, TokenType.CONTROL, TokenType.UNKNOWN)
    return Vocabulary(
        tokens=tuple(tokens),
        merges=tuple(_merge(header, merge) for merge in header.texts("tokenizer.ggml.merges")),
        pre=header.text("tokenizer.ggml.pre"),
        control=control,
        user_defined=_ids(kinds, TokenType.USER_DEFINED),
        bos_id=_special_id(header, "bos_token_id", len(tokens)),
        eos_ids=_eos_ids(header, tokens, control),
        add_bos=_flag(header, "add_bos_token"),
        eos_id=_special_id(header, "eos_token_id", len(tokens)),
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
    if key not in header.metadata:
        return None
    token = header.whole(key)
    if token >= size:
        raise ModelError(f"{header.path}: {key} is {token}, expected less than {size}; fetch the file again")
    return token


def _eos_ids(header: Header, tokens: list[str], control: frozenset[int]) -> frozenset[int]:
    """The declared ends, and control tokens known to end a text: chat models may emit either."""
    declared = [_special_id(header, name, len(tokens)) for name in _END_KEYS]
    known = [token for token in control if tokens[token] in _END_TEXTS]
    return frozenset(token for token in [*declared, *known] if token is not None)


def _flag(header: Header, name: str) -> bool | None:
    value = header.metadata.get(f"tokenizer.ggml.{name}")
    return value if isinstance(value, bool) else None
