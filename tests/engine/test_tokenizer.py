from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gguf import BOS, EOS, KINDS, MERGES, TOKENS, USER
from tokenizers.pre_tokenizers import ByteLevel

from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import BytePairs, Vocabulary
from temp0.engine.gguf_header import read_header
from temp0.engine.gguf_vocabulary import vocabulary_of
from temp0.engine.tokenizer import TextDecoder, Tokenizer
from temp0.errors import ModelError, RequestError

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tokenizer"

TINY = Vocabulary(
    tokens=tuple(TOKENS),
    rules=BytePairs(merges=tuple((merge.split()[0], merge.split()[1]) for merge in MERGES), pre="smollm", add_bos=None),
    control=frozenset({BOS, EOS}),
    user_defined=frozenset({USER}),
    bos_id=BOS,
    eos_ids=frozenset({EOS}),
)


def ruled(vocabulary: Vocabulary, **changes: Any) -> Vocabulary:
    return replace(vocabulary, rules=replace(vocabulary.rules, **changes))


def written(tokenizer: Tokenizer, ids: list[int]) -> bytes:
    return b"".join(tokenizer.bytes_of(token) for token in ids)


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((FIXTURES / "ids.json").read_text())
    return record


@pytest.fixture(scope="module")
def smollm2() -> Vocabulary:
    path = builtin_weights()
    return vocabulary_of(read_header(path, np.memmap(path, mode="r").data))


@pytest.fixture(scope="module")
def trained(recorded: dict[str, Any]) -> Vocabulary:
    """A vocabulary with merges across whatever a pre-tokenizer may cut."""
    words = recorded["vocabulary"]
    size = len(words["tokens"])
    return Vocabulary(
        tokens=(*words["tokens"], "<|im_start|>", "<|im_end|>"),
        rules=BytePairs(
            merges=tuple((left, right) for left, right in (merge.split(" ") for merge in words["merges"])),
            pre="smollm",
            add_bos=False,
        ),
        control=frozenset({size, size + 1}),
        user_defined=frozenset(),
        bos_id=size,
        eos_ids=frozenset({size + 1}),
    )


def unlike(recorded: dict[str, Any], key: str, tokenizer: Tokenizer) -> list[str]:
    texts, expected = recorded["texts"], recorded["ids"][key]
    assert len(texts) == len(expected) >= 300
    return [text for text, ids in zip(texts, expected, strict=True) if tokenizer.encode(text) != ids]


@pytest.mark.model
def test_the_builtin_model_has_the_ids_of_llama_cpp(recorded: dict[str, Any], smollm2: Vocabulary) -> None:
    assert not unlike(recorded, "smollm2", Tokenizer(smollm2))


def is_known_to_differ(pre: str, text: str) -> bool:
    """Qwen's own tokenizer composes characters first, and Mistral's knows capitals and marks beyond ASCII."""
    if pre == "qwen2":
        return not unicodedata.is_normalized("NFC", text)
    return pre == "tekken" and any(unicodedata.category(letter) in BEYOND_ASCII for letter in text if letter > "~")


BEYOND_ASCII = ("Lu", "Ll", "Lt", "Mn", "Mc", "Me")


@pytest.mark.parametrize("pre", ["smollm", "gpt-2", "llama-bpe", "qwen2", "tekken"])
def test_words_are_cut_as_llama_cpp_cuts_them(recorded: dict[str, Any], trained: Vocabulary, pre: str) -> None:
    different = unlike(recorded, pre, Tokenizer(ruled(trained, pre=pre)))
    assert [text for text in different if not is_known_to_differ(pre, text)] == []
    assert len(different) < 80


def test_qwen2_composes_characters_first(trained: Vocabulary) -> None:
    tokenizer = Tokenizer(ruled(trained, pre="qwen2"))
    assert tokenizer.encode("cafe\u0301") == tokenizer.encode("caf\u00e9")


@pytest.mark.model
def test_digits_stand_alone_and_two_spaces_together(smollm2: Vocabulary) -> None:
    assert Tokenizer(smollm2).encode("x =  5")[-2:] == [256, 37]


def test_llama_bpe_begins_with_bos_where_the_file_does_not_say(recorded: dict[str, Any], trained: Vocabulary) -> None:
    tokenizer = Tokenizer(ruled(trained, pre="llama-bpe", add_bos=None))
    assert [tokenizer.encode(recorded["texts"][0])] == recorded["ids"]["llama-bpe, silent about bos"]


@pytest.mark.model
def test_every_token_of_a_text_writes_its_share_of_it(recorded: dict[str, Any], smollm2: Vocabulary) -> None:
    tokenizer = Tokenizer(smollm2)
    missing = set(ByteLevel.alphabet()) - set(smollm2.tokens)
    checked = 0
    for text in recorded["texts"]:
        ids = tokenizer.encode(text)
        letters = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
        if smollm2.control.isdisjoint(ids) and not any(missing & set(word) for word, _ in letters):
            checked += 1
            assert written(tokenizer, ids) == text.encode()
    assert checked > 600


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=40))
def test_no_byte_of_a_text_is_lost(text: str) -> None:
    assert written(TOKENIZER, TOKENIZER.encode(text)) == text.encode()


TOKENIZER = Tokenizer(TINY)


def test_merges_are_applied_by_rank() -> None:
    assert [TOKENS[token] for token in TOKENIZER.encode("hello")] == ["hell", "o"]


def test_special_tokens_are_recognised_in_a_text() -> None:
    ids = TOKENIZER.encode("he<|im_end|>he<user>")
    assert ids == [TOKENS.index("he"), EOS, TOKENS.index("he"), USER]


def test_control_tokens_write_nothing_and_user_tokens_their_text() -> None:
    assert TOKENIZER.bytes_of(EOS) == b""
    assert TOKENIZER.bytes_of(USER) == b"<user>"
    assert KINDS[EOS] != KINDS[USER]


def test_unused_tokens_write_nothing_and_no_text_has_them() -> None:
    tokenizer = Tokenizer(replace(TINY, tokens=(*TOKENS, "[PAD9]"), unused=frozenset({len(TOKENS)})))
    assert tokenizer.bytes_of(len(TOKENS)) == b""
    assert len(TOKENS) not in tokenizer.encode("[PAD9]")


def test_bytes_without_a_token_keep_their_neighbours_apart() -> None:
    tokens = tuple(
        "¡¡¡" if token == ByteLevel(use_regex=False).pre_tokenize_str("\x04")[0][0][-1] else token for token in TOKENS
    )
    tokenizer = Tokenizer(replace(TINY, tokens=tokens))
    assert [tokens[token] for token in tokenizer.encode("!\x04!")] == ["!", "!"]
    assert [tokens[token] for token in tokenizer.encode("!!")] == ["!!"]


def test_the_beginning_is_marked_where_the_model_asks_and_never_twice() -> None:
    tokenizer = Tokenizer(ruled(TINY, add_bos=True))
    assert tokenizer.encode("he") == [BOS, TOKENS.index("he")]
    assert tokenizer.encode("<|im_start|>he") == [BOS, TOKENS.index("he")]
    assert tokenizer.encode("") == [BOS]
    assert TOKENIZER.encode("he") == [TOKENS.index("he")]


def test_vocabulary_size_and_ends_are_told() -> None:
    assert TOKENIZER.vocab_size == len(TOKENS)
    assert TOKENIZER.eos_ids == {EOS}


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(RequestError, match="lone surrogate at character 1"):
        TOKENIZER.encode("a\udc80b")


@pytest.mark.parametrize("token", [-1, len(TOKENS)])
def test_an_id_outside_the_vocabulary_is_refused(token: int) -> None:
    with pytest.raises(RequestError, match=f"token id {token} is outside"):
        TOKENIZER.bytes_of(token)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"rules": BytePairs(merges=(), pre="deepseek-llm", add_bos=None)},
            "'deepseek-llm', expected one of smollm, gpt-2",
        ),
        ({"rules": BytePairs(merges=(), pre="default", add_bos=None)}, "'default', expected one of"),
        (
            {"rules": BytePairs(merges=(("h", "zz"),), pre="smollm", add_bos=None)},
            "merges 'h' and 'zz', which are not all tokens",
        ),
        (
            {"rules": BytePairs(merges=(("h", "h"),), pre="smollm", add_bos=None)},
            "merges 'h' and 'h', which are not all tokens",
        ),
        ({"tokens": (*TOKENS[:-1], "he")}, "1 of the model's tokens are written like another"),
    ],
)
def test_a_vocabulary_that_would_give_other_ids_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        Tokenizer(replace(TINY, **wrong))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_cut_gives_the_text_of_the_whole(data: st.DataObject) -> None:
    pieces = st.one_of(st.binary(max_size=6), st.text(st.characters(codec="utf-8"), max_size=4).map(str.encode))
    whole = b"".join(data.draw(st.lists(pieces, max_size=6)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    decoder = TextDecoder()
    ends = zip([0, *cuts], [*cuts, len(whole)], strict=True)
    text = "".join([decoder.push(whole[start:end]) for start, end in ends])
    assert text + decoder.finish() == whole.decode(errors="replace")


def test_an_unfinished_character_is_held_back_and_becomes_a_replacement_at_the_end() -> None:
    decoder = TextDecoder()
    assert decoder.push("😀".encode()[:3]) == ""
    assert decoder.push("😀".encode()[3:]) == "😀"
    assert decoder.push(b"a\xe4\xbd") == "a"
    assert decoder.finish() == "\ufffd"
    assert decoder.finish() == ""
