"""Writes models whose tokenizer is SentencePiece's BPE with byte fallback, as in Llama 2 and the first Mistrals."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from gguf import TokenType
from tiny_family import MISTRAL, TEXTS, change_json, write_directory, write_json
from tiny_gguf import DIM, tiny_tensors, write_gguf
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, processors
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

SPACE = "\u2581"
SPECIAL = ("<unk>", "<s>", "</s>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


@cache
def pieces() -> tuple[str, ...]:
    """Special tokens, bytes, and pieces trained on the recorded texts, the best first; many letters have none."""
    trained = Tokenizer(BPE())
    trainer = BpeTrainer(vocab_size=900, limit_alphabet=150, show_progress=False)
    # llama.cpp ends a piece at NUL.
    texts = [text for text in TEXTS if not {"<", "\0"} & set(text)]
    trained.train_from_iterator([text.replace(" ", SPACE) for text in texts], trainer)
    learnt = sorted(trained.get_vocab(), key=trained.get_vocab().__getitem__)
    longer, letters = [piece for piece in learnt if len(piece) > 1], [piece for piece in learnt if len(piece) == 1]
    return (*SPECIAL, *BYTES, *longer, *letters)


def write_pieces(directory: Path) -> Path:
    """A Mistral directory with that tokenizer; its weights do not fit it."""
    write_directory(directory, MISTRAL)
    ids = {piece: token for token, piece in enumerate(pieces())}
    merges = [
        (piece[:cut], piece[cut:])
        for piece in pieces()[len(SPECIAL) + len(BYTES) :]
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
    library = Tokenizer(BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    library.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    library.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    library.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    library.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    library.save(str(directory / "tokenizer.json"))
    write_json(directory / "tokenizer_config.json", {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True})
    change_json(directory / "config.json", lambda value: value.update(vocab_size=len(pieces()), eos_token_id=2))
    return directory


def write_pieces_gguf(path: Path, **changes: Any) -> Path:
    """A GGUF file with the same tokenizer and zeros for an embedding; `changes` are metadata."""
    size = len(pieces())
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL] + [TokenType.BYTE] * 256
    metadata = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": list(pieces()),
        "tokenizer.ggml.scores": [0.0] * 259 + [float(-rank) for rank in range(size - 259)],
        "tokenizer.ggml.token_type": [int(kind) for kind in kinds] + [int(TokenType.NORMAL)] * (size - 259),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    } | changes
    tensors = tiny_tensors() | {"token_embd": np.zeros((size, DIM), np.float32)}
    return write_gguf(path, metadata=metadata, without="tokenizer.ggml.merges", tensors=tensors)
