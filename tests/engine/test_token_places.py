from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_family import SMOLLM2, TEXTS, change_json, write_directory
from tiny_pieces import BYTES, SPACE

from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import Pieces, Vocabulary
from temp0.engine.gguf_header import read_header
from temp0.engine.gguf_vocabulary import vocabulary_of
from temp0.engine.huggingface_json import read_json
from temp0.engine.huggingface_vocabulary import vocabulary_of as directory_vocabulary
from temp0.engine.tokenizer import TextDecoder, Tokenizer

NAMES = ("<s>", "</s>", "<unk>", *BYTES, *(f"{SPACE}a", f"{SPACE}b", "a", "b", SPACE))
PIECES = Vocabulary(
    tokens=NAMES,
    rules=Pieces(scores=tuple(float(-rank) for rank in range(len(NAMES))), add_bos=True, add_space=True),
    control=frozenset({0, 1, 2}),
    user_defined=frozenset(),
    bos_id=0,
    eos_ids=frozenset({1}),
    spelling="sentencepiece",
)


@pytest.fixture(scope="module")
def smollm2() -> Tokenizer:
    path = builtin_weights()
    return Tokenizer(vocabulary_of(read_header(path, np.memmap(path, mode="r").data)))


def walked(tokenizer: Tokenizer, ids: list[int]) -> list[int]:
    """Where tokens begin by the characters that their bytes have completed."""
    decoder, starts, end = TextDecoder(), [], 0
    for token in ids:
        starts.append(end)
        end += len(decoder.push(tokenizer.bytes_of(token)))
    return starts


def starts(tokenizer: Tokenizer, text: str) -> list[int]:
    return [start for _, start in tokenizer.placed(text)]


@pytest.mark.model
def test_places_are_those_that_the_bytes_of_the_tokens_come_to(smollm2: Tokenizer) -> None:
    for text in ("Hello  world,\n a 17*23?", "na\u00efve \u65e5\u672c\u8a9e \U0001f642!", " x"):
        ids = smollm2.encode(text)
        assert [token for token, _ in smollm2.placed(text)] == ids
        assert starts(smollm2, text) == walked(smollm2, ids)


@pytest.mark.model
def test_a_control_token_takes_the_room_of_its_name(smollm2: Tokenizer) -> None:
    assert starts(smollm2, "a<|im_end|>b") == [0, 1, len("a<|im_end|>")]


def test_the_tokens_put_in_front_take_no_room() -> None:
    tokenizer = Tokenizer(PIECES)
    assert tokenizer.placed("a b") == [(0, 0), (NAMES.index(f"{SPACE}a"), 0), (NAMES.index(f"{SPACE}b"), 1)]
    assert tokenizer.placed("<s>a") == [(0, 0), (NAMES.index(f"{SPACE}a"), 3)]
    assert tokenizer.placed("") == [(0, 0)]


def test_the_bytes_of_one_letter_all_begin_there() -> None:
    tokenizer = Tokenizer(replace(PIECES, rules=replace(PIECES.rules, add_bos=False)))
    assert starts(tokenizer, "a\u00e9b") == [0, 1, 1, 2]


def test_the_space_before_a_word_is_a_part_of_its_token_whatever_the_post_processor_trims(tmp_path: Path) -> None:
    write_directory(tmp_path, SMOLLM2)
    trimming = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    change_json(tmp_path / "tokenizer.json", lambda value: value.update(post_processor=trimming))
    tokenizer = Tokenizer(directory_vocabulary(tmp_path, read_json(tmp_path / "config.json")))
    for text in (text for text in TEXTS if "<" not in text):
        assert starts(tokenizer, text) == walked(tokenizer, tokenizer.encode(text))
