"""Text to token ids and token ids to bytes, exactly as the model's own tokenizer does.

What could not be right is refused: other ids mean other answers. Bytes become text only through TextDecoder, because a
character may be spread over several tokens.
"""

from __future__ import annotations

import codecs

import tokenizers

from temp0.engine.byte_pairs import byte_pair_encoder
from temp0.engine.checkpoint import BytePairs, Pieces, TokenizerFile, Vocabulary
from temp0.engine.pieces import piece_encoder
from temp0.engine.token_bytes import token_bytes
from temp0.errors import ModelError, RequestError


class Tokenizer:
    """A model's vocabulary at work. Its methods may be called from any thread."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """ModelError for rules that are unknown or do not fit the tokens."""
        self._vocabulary = vocabulary
        self._encoder, self._beginning = _encoder(vocabulary)
        self._bytes = token_bytes(vocabulary)

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
        return [token for token, _ in self.placed(text)]

    def placed(self, text: str) -> list[tuple[int, int]]:
        """The ids that `encode` gives, each with the character of the text at which its token begins.

        Tokens that are parts of one character all begin there; the token for the beginning, put in front, at 0.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RequestError(
                f"the text holds a lone surrogate at character {error.start}, which has no bytes; remove it"
            ) from error
        (encoding,) = self._encoder.encode_batch([text], add_special_tokens=False)  # unlike encode, without the GIL
        placed = zip(encoding.ids, encoding.offsets, strict=True)
        known = [(token, start) for token, (start, _) in placed if token < self.vocab_size]
        front = [(token, 0) for token in self._beginning]
        return known if [token for token, _ in known[: len(front)]] == list(self._beginning) else front + known

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


def _encoder(vocabulary: Vocabulary) -> tuple[tokenizers.Tokenizer, tuple[int, ...]]:
    """The encoder, and the ids that belong in front of a text."""
    match vocabulary.rules:
        case BytePairs() as rules:
            return byte_pair_encoder(vocabulary, rules)
        case Pieces() as rules:
            return piece_encoder(vocabulary, rules)
        case TokenizerFile() as rules:
            encoder = _read(rules)
            beginning = _beginning(encoder, rules)
            encoder.post_processor = None  # it would leave spaces out of the places of tokens
            return encoder, beginning


def _read(rules: TokenizerFile) -> tokenizers.Tokenizer:
    try:
        encoder = tokenizers.Tokenizer.from_str(rules.definition)
    except Exception as error:
        # The library raises Exception itself.
        raise ModelError(
            f"{rules.path} cannot be used by the tokenizers library {tokenizers.__version__} ({error}); fetch the "
            "model again or choose another one"
        ) from error
    encoder.no_truncation()
    encoder.no_padding()
    return encoder


def _beginning(encoder: tokenizers.Tokenizer, rules: TokenizerFile) -> tuple[int, ...]:
    """What the tokenizer's own post-processor puts in front of a text; ModelError where it does anything else."""
    plain, whole = (encoder.encode("a", add_special_tokens=special).ids for special in (False, True))
    front = whole[: len(whole) - len(plain)]
    if whole[len(front) :] != plain:
        raise ModelError(f"{rules.path} wants tokens after every prompt, which is not supported; choose another model")
    if rules.add_bos is not None and rules.add_bos != bool(front):
        raise ModelError(
            f"{rules.path} puts {len(front)} tokens in front of every prompt, but tokenizer_config.json says "
            f"add_bos_token = {rules.add_bos}: programs disagree on which holds, so correct one of the two files"
        )
    return tuple(front)
