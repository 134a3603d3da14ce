"""Byte-level BPE from a list of merges, as GGUF files tell it.

An unknown pre-tokenizer is refused: cut into other words, the same text gives other ids and so other answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import tokenizers
from tokenizers import AddedToken, Regex, models, normalizers
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split

from temp0.engine.checkpoint import BytePairs, Vocabulary
from temp0.errors import ModelError

# As published with Llama 3 and Qwen 2 (tokenizer.json of each); they differ in how many digits make a word.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# As published with Mistral Nemo: words break where small letters turn into capitals.
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Custom:
    """How a family of models cuts text into words, and what it does where the file does not say.

    `composed` text (NFC) is what Qwen's own tokenizer.json makes of any text; llama.cpp leaves it as it is.
    """

    words: PreTokenizer
    ignore_merges: bool = False
    add_bos: bool = False
    composed: bool = False


def byte_pair_encoder(vocabulary: Vocabulary, rules: BytePairs) -> tuple[tokenizers.Tokenizer, tuple[int, ...]]:
    """The encoder, and the ids that belong in front of a text.

    A byte without a token of its own becomes an id past the vocabulary, to be left out. ModelError for an unknown
    pre-tokenizer or for merges that do not fit the tokens.
    """
    custom = _custom(rules.pre)
    add_bos = custom.add_bos if rules.add_bos is None else rules.add_bos
    bos = (vocabulary.bos_id,) if add_bos and vocabulary.bos_id is not None else ()
    return _encoder(vocabulary, rules, custom), bos


def _split(pattern: str) -> PreTokenizer:
    words = Split(Regex(pattern), behavior="isolated")
    return Sequence([words, ByteLevel(add_prefix_space=False, use_regex=False)])


def _custom(pre: str) -> _Custom:
    gpt2 = ByteLevel(add_prefix_space=False, use_regex=True)
    match pre:
        case "smollm":
            return _Custom(words=Sequence([Digits(individual_digits=True), gpt2]))
        case "gpt-2":
            return _Custom(words=gpt2)
        case "llama-bpe":
            return _Custom(words=_split(_WORDS.format(digits="{1,3}")), ignore_merges=True, add_bos=True)
        case "qwen2":
            return _Custom(words=_split(_WORDS.format(digits="")), composed=True)
        case "tekken":
            return _Custom(words=_split(_TEKKEN), ignore_merges=True, add_bos=True)
    raise ModelError(
        f"the model's pre-tokenizer is {pre!r}, expected one of smollm, gpt-2, llama-bpe, qwen2, tekken: with "
        "another one the tokens would be wrong, so choose another model"
    )


def _encoder(vocabulary: Vocabulary, rules: BytePairs, custom: _Custom) -> tokenizers.Tokenizer:
    ids = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    # A byte without a token of its own (SmolLM2 has 21 of them) is dropped, but only after merging: were its letter
    # unknown to the model, its neighbours would count as adjacent and merge across it.
    missing = sorted(set(ByteLevel.alphabet()) - ids.keys())
    letters = {letter: len(vocabulary.tokens) + index for index, letter in enumerate(missing)}
    _check(vocabulary, rules, ids)
    model = models.BPE(ids | letters, list(rules.merges), ignore_merges=custom.ignore_merges)
    encoder = tokenizers.Tokenizer(model)
    encoder.pre_tokenizer = custom.words
    if custom.composed:
        encoder.normalizer = normalizers.NFC()
    special = sorted(vocabulary.control | vocabulary.user_defined)
    encoder.add_special_tokens([AddedToken(vocabulary.tokens[token], normalized=False) for token in special])
    return encoder


def _check(vocabulary: Vocabulary, rules: BytePairs, ids: dict[str, int]) -> None:
    """Refuse what the tokenizers library answers with a panic or by taking one of two tokens."""
    if len(ids) < len(vocabulary.tokens):
        raise ModelError(
            f"{len(vocabulary.tokens) - len(ids)} of the model's tokens are written like another one, expected all to "
            "differ; fetch the file again"
        )
    for left, right in rules.merges:
        if left not in ids or right not in ids or left + right not in ids:
            raise ModelError(f"the model merges {left!r} and {right!r}, which are not all tokens; fetch the file again")
