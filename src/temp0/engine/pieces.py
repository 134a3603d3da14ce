"""SentencePiece's BPE from the scores of its pieces, as GGUF files of Llama 2 and of the first Mistrals tell it.

A pair merges where it makes a piece, the piece of the highest score first, the leftmost among equals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import tokenizers
from tokenizers import AddedToken, models, normalizers

from temp0.engine.checkpoint import Pieces, Vocabulary
from temp0.errors import ModelError

_SPACE = "\u2581"


def piece_encoder(vocabulary: Vocabulary, rules: Pieces) -> tuple[tokenizers.Tokenizer, tuple[int, ...]]:
    """The encoder, and the ids that belong in front of a text; ModelError for pieces that cannot be right."""
    ids = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    bytes_lacking = [piece for piece in (f"<0x{byte:02X}>" for byte in range(256)) if piece not in ids]
    if len(ids) < len(vocabulary.tokens) or bytes_lacking:
        raise ModelError(
            f"the model has {len(vocabulary.tokens)} pieces, {len(ids)} of them different, and lacks "
            f"{len(bytes_lacking)} of 256 bytes, expected all to differ and every byte; fetch the file again"
        )
    model = models.BPE(ids, list(_merges(vocabulary, rules, ids)), byte_fallback=True)
    encoder = tokenizers.Tokenizer(model)
    space = normalizers.Replace(" ", _SPACE)
    encoder.normalizer = normalizers.Sequence([normalizers.Prepend(_SPACE), space]) if rules.add_space else space
    special = sorted(vocabulary.control | vocabulary.user_defined)
    encoder.add_special_tokens([AddedToken(vocabulary.tokens[token], normalized=False) for token in special])
    bos = (vocabulary.bos_id,) if rules.add_bos and vocabulary.bos_id is not None else ()
    return encoder, bos


def _merges(vocabulary: Vocabulary, rules: Pieces, ids: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Every pair that makes a piece, best first."""
    special = vocabulary.control | vocabulary.user_defined | vocabulary.unused
    ordinary = [token_id for token_id in range(len(vocabulary.tokens)) if token_id not in special]
    for token_id in sorted(ordinary, key=lambda token_id: -rules.scores[token_id]):
        piece = vocabulary.tokens[token_id]
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in ids and right in ids:
                yield left, right
