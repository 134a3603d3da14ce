"""Text to token ids and token ids to bytes, exactly as the model's own byte-level BPE does.

An unknown pre-tokenizer is refused: cut into other words, the same text gives other ids and so other answers. Bytes
become text only through TextDecoder, because a character may be spread over several tokens.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

import tokenizers
from tokenizers import AddedToken, Regex, models
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split

from temp0.engine.checkpoint import Vocabulary
from temp0.errors import ModelError, RequestError

# As published with Llama 3 and Qwen 2 (tokenizer.json of each); they differ in how many digits make a word.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Custom:
    """How a family of models cuts text into words, and what it does where the file does not say."""

    words: PreTokenizer
    ignore_merges: bool = False
    add_bos: bool = False


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
            return _Custom(words=_split(_WORDS.format(digits="")))
    raise ModelError(
        f"the model's pre-tokenizer is {pre!r}, expected one of smollm, gpt-2, llama-bpe, qwen2: with another one "
        "the tokens would be wrong, so choose another model"
    )


class Tokenizer:
    """A model's vocabulary at work. Its methods may be called from any thread."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """ModelError for an unknown pre-tokenizer or for merges that do not fit the tokens."""
        custom = _custom(vocabulary.pre)
        self._vocabulary = vocabulary
        self._encoder = _encoder(vocabulary, custom)
        self._bytes = tuple(_token_bytes(vocabulary))
        add_bos = custom.add_bos if vocabulary.add_bos is None else vocabulary.add_bos
        self._bos = vocabulary.bos_id if add_bos else None

    @property
    def vocab_size(self) -> int:
        """How many tokens there are; ids run from 0 to one less."""
        return len(self._bytes)

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end an answer."""
        return self._vocabulary.eos_ids

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Special tokens written out in it, such as `<|im_end|>`, become their one id.

        The token for the beginning is put in front where the model asks for it, unless the text begins with it.
        Raises RequestError for a lone surrogate, which has no bytes.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RequestError(
                f"the text holds a lone surrogate at character {error.start}, which has no bytes; remove it"
            ) from error
        ids = self._encoder.encode(text, add_special_tokens=False).ids
        known = [token for token in ids if token < self.vocab_size]
        return known if self._bos is None or known[:1] == [self._bos] else [self._bos, *known]

    def bytes_of(self, token_id: int) -> bytes:
        """What a token writes; empty for control tokens. Raises RequestError for an id outside the vocabulary."""
        if not 0 <= token_id < self.vocab_size:
            raise RequestError(f"token id {token_id} is outside the vocabulary of {self.vocab_size} tokens")
        return self._bytes[token_id]


class TextDecoder:
    """Bytes in pieces to text in pieces: an unfinished character is held back until its last byte comes.

    However the bytes are cut, the pieces add up to the text of all bytes decoded at once, in which whatever is not
    UTF-8 is U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, data: bytes) -> str:
        """The characters that these bytes complete."""
        return self._decoder.decode(data)

    def finish(self) -> str:
        """What was held back: U+FFFD for an unfinished character, else nothing. The decoder can start anew."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest


def _encoder(vocabulary: Vocabulary, custom: _Custom) -> tokenizers.Tokenizer:
    ids = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    # A byte without a token of its own (SmolLM2 has 21 of them) is dropped, but only after merging: were its letter
    # unknown to the model, its neighbours would count as adjacent and merge across it.
    missing = sorted(set(ByteLevel.alphabet()) - ids.keys())
    letters = {letter: len(vocabulary.tokens) + index for index, letter in enumerate(missing)}
    _check(vocabulary, ids)
    model = models.BPE(ids | letters, list(vocabulary.merges), ignore_merges=custom.ignore_merges)
    encoder = tokenizers.Tokenizer(model)
    encoder.pre_tokenizer = custom.words
    special = sorted(vocabulary.control | vocabulary.user_defined)
    encoder.add_special_tokens([AddedToken(vocabulary.tokens[token], normalized=False) for token in special])
    return encoder


def _check(vocabulary: Vocabulary, ids: dict[str, int]) -> None:
    """Refuse what the tokenizers library answers with a panic or by taking one of two tokens."""
    if len(ids) < len(vocabulary.tokens):
        raise ModelError(
            f"{len(vocabulary.tokens) - len(ids)} of the model's tokens are written like another one, expected all to "
            "differ; fetch the file again"
        )
    for left, right in vocabulary.merges:
        if left not in ids or right not in ids or left + right not in ids:
            raise ModelError(f"the model merges {left!r} and {right!r}, which are not all tokens; fetch the file again")


def _token_bytes(vocabulary: Vocabulary) -> Iterator[bytes]:
    byte_of = {letter: byte for byte, letter in _letters()}
    for token_id, token in enumerate(vocabulary.tokens):
        if token_id in vocabulary.control:
            yield b""
        elif token_id in vocabulary.user_defined or any(letter not in byte_of for letter in token):
            yield token.encode()
        else:
            yield bytes(byte_of[letter] for letter in token)


def _letters() -> Iterator[tuple[int, str]]:
    """Each byte with the letter that stands for it in byte-level tokens: itself if printable, else 256 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    yield from ((byte, chr(byte)) for byte in printable)
    others = [byte for byte in range(256) if byte not in printable]
    yield from ((byte, chr(256 + index)) for index, byte in enumerate(others))
