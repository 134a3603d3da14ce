from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_family import TEXTS
from tiny_pieces import BYTES, SPACE, pieces, write_pieces, write_pieces_gguf

from temp0.engine.checkpoint import Pieces, Vocabulary
from temp0.engine.gguf_file import read_gguf
from temp0.engine.huggingface_json import read_json
from temp0.engine.huggingface_vocabulary import vocabulary_of
from temp0.engine.tokenizer import Tokenizer
from temp0.errors import ModelError

NAMES = ("<s>", "</s>", "<unk>", *BYTES, *(f"{SPACE}a", "aa", "aaa", "ab", "b", "a", SPACE))
TINY = Vocabulary(
    tokens=NAMES,
    rules=Pieces(scores=tuple(float(-rank) for rank in range(len(NAMES))), add_bos=False, add_space=True),
    control=frozenset({0, 1, 2}),
    user_defined=frozenset(),
    bos_id=0,
    eos_ids=frozenset({1}),
    spelling="sentencepiece",
)


def written(vocabulary: Vocabulary, text: str) -> list[str]:
    return [vocabulary.tokens[token] for token in Tokenizer(vocabulary).encode(text)]


def test_the_piece_of_the_highest_score_is_made_first_and_the_leftmost_among_equals() -> None:
    assert written(TINY, "aaab") == [f"{SPACE}a", "aa", "b"]
    assert written(TINY, "ab") == [f"{SPACE}a", "b"]
    assert written(replace(TINY, rules=replace(TINY.rules, add_space=False)), "aaab") == ["aaa", "b"]


def test_a_letter_without_a_piece_becomes_its_bytes() -> None:
    assert written(TINY, "b\u00e9\n") == [SPACE, "b", "<0xC3>", "<0xA9>", "<0x0A>"]
    assert Tokenizer(TINY).bytes_of(NAMES.index("<0xC3>")) == b"\xc3"


def test_the_beginning_and_the_space_are_put_where_the_model_asks() -> None:
    tokenizer = Tokenizer(replace(TINY, rules=replace(TINY.rules, add_bos=True)))
    assert tokenizer.encode("") == [0]
    assert tokenizer.encode("b") == tokenizer.encode("<s>b") == [0, NAMES.index(SPACE), NAMES.index("b")]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Tokenizer]:
    folder = tmp_path_factory.mktemp("pieces")
    directory = write_pieces(folder / "model")
    words = vocabulary_of(directory, read_json(directory / "config.json"))
    return Tokenizer(read_gguf(write_pieces_gguf(folder / "model.gguf")).vocabulary), Tokenizer(words)


def test_both_forms_give_the_same_ids_and_bytes(both: tuple[Tokenizer, Tokenizer]) -> None:
    file, directory = both
    assert [text for text in TEXTS if file.encode(text) != directory.encode(text)] == []
    assert file.eos_ids == directory.eos_ids == {2}
    ids = range(len(pieces()))
    assert [file.bytes_of(token) for token in ids] == [directory.bytes_of(token) for token in ids]


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters=f"<{SPACE}"), min_size=1, max_size=30))
def test_no_byte_of_a_text_is_lost(both: tuple[Tokenizer, Tokenizer], text: str) -> None:
    tokenizer = both[0]
    assert b"".join(map(tokenizer.bytes_of, tokenizer.encode(text))) == b" " + text.encode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tokenizer.ggml.scores": [0.0, 1.0]}, "but 2 scores"),
        ({"tokenizer.ggml.scores": "high"}, "tokenizer.ggml.scores is 'high', expected an array of numbers"),
        ({"tokenizer.ggml.remove_extra_whitespaces": True}, "wants white space removed"),
        ({"tokenizer.ggml.model": "bert"}, "tokenizer of kind 'bert', expected 'gpt2' (byte-level BPE) or 'llama'"),
    ],
)
def test_pieces_that_would_give_other_ids_are_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_gguf(write_pieces_gguf(tmp_path / "a.gguf", **changes))
    assert said in str(caught.value)


@pytest.mark.parametrize("token", ["<0x0B>", "aa"])
def test_pieces_that_repeat_or_lack_a_byte_are_refused(token: str) -> None:
    tokens = tuple(token if name == "<0x0A>" else name for name in NAMES)
    with pytest.raises(ModelError, match="and lacks 1 of 256 bytes"):
        Tokenizer(replace(TINY, tokens=tokens))
