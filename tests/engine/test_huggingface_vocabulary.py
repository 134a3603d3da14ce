from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_family import (
    BOS,
    EOS,
    MISTRAL,
    QWEN2,
    ROWS,
    SMOLLM2,
    TEXTS,
    TOOL,
    WORDS,
    change_json,
    config_of,
    write_directory,
    write_json,
)
from tiny_pieces import write_pieces
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import processors
from tokenizers.models import BPE

from temp0.engine.checkpoint import Vocabulary
from temp0.engine.huggingface_directory import read_huggingface
from temp0.engine.huggingface_json import read_json
from temp0.engine.huggingface_vocabulary import vocabulary_of
from temp0.engine.tokenizer import Tokenizer
from temp0.errors import ModelError, RequestError


def read(directory: Path) -> Vocabulary:
    return vocabulary_of(directory, read_json(directory / "config.json"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "model", SMOLLM2)


def test_special_tokens_ends_and_spare_rows_are_told(directory: Path) -> None:
    words = read(directory)
    assert (words.bos_id, words.eos_id, words.eos_ids) == (BOS, EOS, {EOS})
    assert (words.control, words.user_defined) == ({BOS, EOS}, {TOOL})
    assert words.unused == set(range(TOOL + 1, ROWS))
    assert len(words.tokens) == ROWS


def test_special_tokens_write_nothing_others_their_text_and_spare_rows_nothing(directory: Path) -> None:
    tokenizer = Tokenizer(read(directory))
    assert tokenizer.vocab_size == ROWS
    assert [tokenizer.bytes_of(token) for token in (BOS, EOS, TOOL, ROWS - 1)] == [b"", b"", b"<tool>", b""]
    assert tokenizer.encode("a<tool>b<|im_end|>")[1::2] == [TOOL, EOS]


def test_every_text_is_written_by_its_tokens(directory: Path) -> None:
    tokenizer = Tokenizer(read(directory))
    texts = [text for text in TEXTS if "<|" not in text]
    assert len(texts) > 500
    assert [text for text in texts if b"".join(map(tokenizer.bytes_of, tokenizer.encode(text))) != text.encode()] == []


def test_generation_config_adds_its_ends(directory: Path) -> None:
    write_json(directory / "generation_config.json", {"eos_token_id": [EOS, 7]})
    assert read(directory).eos_ids == {EOS, 7}


def test_the_end_is_the_configs_where_the_tokenizer_names_none(directory: Path) -> None:
    (directory / "tokenizer_config.json").unlink()
    words = read(directory)
    assert (words.bos_id, words.eos_id) == (None, EOS)


def test_a_lone_surrogate_is_refused(directory: Path) -> None:
    with pytest.raises(RequestError, match="lone surrogate at character 1"):
        Tokenizer(read(directory)).encode("a\udc80b")


def test_a_prompt_is_never_cut_or_padded(directory: Path) -> None:
    library = LibraryTokenizer.from_file(str(directory / "tokenizer.json"))
    library.enable_truncation(3)
    library.enable_padding(length=9)
    library.save(str(directory / "tokenizer.json"))
    assert Tokenizer(read(directory)).encode("a b c d e f g h") == library_ids(library, "a b c d e f g h")


def library_ids(library: LibraryTokenizer, text: str) -> list[int]:
    library.no_truncation()
    library.no_padding()
    return library.encode(text).ids


def test_the_beginning_is_what_the_post_processor_puts(tmp_path: Path) -> None:
    tokenizer = Tokenizer(read(write_directory(tmp_path / "a", MISTRAL)))
    assert tokenizer.encode("") == [BOS]
    assert tokenizer.encode("<|im_start|>a") == tokenizer.encode("a")
    assert tokenizer.encode("a")[0] == BOS


def test_the_template_is_the_file_of_its_own_before_the_tokenizers(directory: Path) -> None:
    config = directory / "tokenizer_config.json"
    listed = [{"name": "tools", "template": "t"}, {"name": "default", "template": "d"}]
    change_json(config, lambda value: value.update(chat_template=listed))
    assert read_huggingface(directory).chat_template == "d"
    change_json(config, lambda value: value.update(chat_template=listed[:1]))
    assert read_huggingface(directory).chat_template is None
    (directory / "chat_template.jinja").write_text("own")
    assert read_huggingface(directory).chat_template == "own"
    (directory / "chat_template.jinja").unlink()
    change_json(config, lambda value: value.pop("chat_template"))
    assert read_huggingface(directory).chat_template is None


def _metaspace(value: dict[str, Any]) -> None:
    value["decoder"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


def _two_names(value: dict[str, Any]) -> None:
    value["model"]["vocab"]["twin"] = 5


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda value: value.pop("model"), "model is absent, expected an object"),
        (lambda value: value["model"].update(type="Unigram"), "a model of type 'Unigram', expected 'BPE'"),
        (lambda value: value["model"].update(type="WordPiece"), "a model of type 'WordPiece', expected 'BPE'"),
        (lambda value: value["model"].update(dropout=0.1), "model.dropout = 0.1, which is not supported"),
        (lambda value: value["model"].update(end_of_word_suffix="</w>"), "end_of_word_suffix = '</w>'"),
        (lambda value: value.update(decoder=None), "decoder is 'None', expected an object"),
        (_metaspace, "has a decoder of ['Metaspace'] and a pre-tokenizer of"),
        (lambda value: value.update(decoder={"type": "WordPiece"}), "has a decoder of ['WordPiece']"),
        (lambda value: value.update(pre_tokenizer={"type": "Whitespace"}), "pre-tokenizer of {'type': 'Whitespace'}"),
        (lambda value: value["model"].update(vocab={"a": "one"}), "belongs to 'a' and to another token"),
        (_two_names, "id 5 belongs to"),
        (lambda value: value["added_tokens"][0].update(id=ROWS), f"within the {ROWS} rows of the embedding"),
        (lambda value: value.update(added_tokens={"a": 1}), "expected an array of objects"),
        (lambda value: value["added_tokens"][0].pop("content"), "content is absent, expected a string"),
    ],
)
def test_a_tokenizer_whose_bytes_would_be_a_guess_is_refused(
    directory: Path, edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    change_json(directory / "tokenizer.json", edit)
    with pytest.raises(ModelError) as caught:
        read(directory)
    assert said in str(caught.value)
    assert str(directory / "tokenizer.json") in str(caught.value)


def _ends_with_eos(value: dict[str, Any]) -> None:
    post = processors.TemplateProcessing(single="$A <|im_end|>", special_tokens=[("<|im_end|>", EOS)])
    library = LibraryTokenizer(BPE())
    library.post_processor = post
    value["post_processor"] = json.loads(library.to_str())["post_processor"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda value: value["model"]["merges"].append(["no", "such"]), "cannot be used by the tokenizers library"),
        (lambda value: value.update(pre_tokenizer={"type": "ByteLevel"}), "cannot be used by the tokenizers library"),
        (_ends_with_eos, "wants tokens after every prompt, which is not supported"),
    ],
)
def test_a_tokenizer_that_the_library_refuses_or_ends_prompts_is_refused(
    directory: Path, edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    change_json(directory / "tokenizer.json", edit)
    with pytest.raises(ModelError, match=said):
        Tokenizer(read(directory))


@pytest.mark.parametrize(
    ("name", "said_there", "said"),
    [
        ("tokenizer_config.json", {"eos_token": "<gone>"}, "eos_token is '<gone>', which is no added token"),
        ("tokenizer_config.json", {"bos_token": 7}, "bos_token is '7', expected a string"),
        ("tokenizer_config.json", {"add_eos_token": True}, "wants an end token after every prompt"),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {str(EOS): {"content": "<gone>"}}},
            f"token {EOS} is '<gone>', which tokenizer.json does not",
        ),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"99999": {"content": "<extra>"}}},
            "token 99999 is '<extra>', which tokenizer.json does not",
        ),
        ("generation_config.json", {"eos_token_id": 99999}, f"eos_token_id is '99999', expected ids below {ROWS}"),
        ("config.json", {"eos_token_id": "end"}, f"eos_token_id is 'end', expected ids below {ROWS}"),
    ],
)
def test_files_that_contradict_the_tokenizer_are_refused(
    directory: Path, name: str, said_there: dict[str, Any], said: str
) -> None:
    change_json(directory / name, lambda value: value.update(said_there))
    with pytest.raises(ModelError) as caught:
        read(directory)
    assert said in str(caught.value)
    assert str(directory / name) in str(caught.value)


def test_a_beginning_that_two_files_disagree_about_is_refused(directory: Path) -> None:
    change_json(directory / "tokenizer_config.json", lambda value: value.update(add_bos_token=False))
    assert BOS not in Tokenizer(read(directory)).encode("a")
    change_json(directory / "tokenizer_config.json", lambda value: value.update(add_bos_token=True))
    with pytest.raises(ModelError, match="says add_bos_token = True"):
        Tokenizer(read(directory))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("config.json", None, "config.json cannot be read: No such file"),
        ("tokenizer.json", None, "tokenizer.json cannot be read: No such file"),
        ("config.json", b"", "is not JSON"),
        ("config.json", b"[]", "holds no object but"),
        ("config.json", b'{"rms_norm_eps": NaN}', "NaN is not a JSON number"),
        ("tokenizer.json", b"\xff\xfe", "is not UTF-8"),
        ("tokenizer.json", b"[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_absent_or_no_json_is_refused(directory: Path, name: str, data: bytes | None, said: str) -> None:
    (directory / name).unlink()
    if data is not None:
        (directory / name).write_bytes(data)
    with pytest.raises(ModelError, match=said):
        read_huggingface(directory)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose tokenizer is SentencePiece's BPE with byte fallback, as Mistral's first models have it."""
    return write_pieces(tmp_path_factory.mktemp("pieces") / "model")


def test_sentencepiece_ids_are_the_librarys_and_bytes_are_the_texts(pieces: Path) -> None:
    words = read(pieces)
    tokenizer = Tokenizer(words)
    library = LibraryTokenizer.from_file(str(pieces / "tokenizer.json"))
    assert words.spelling == "sentencepiece"
    for text in TEXTS:
        if text.startswith("<s>"):  # the library would begin it twice
            continue
        ids = tokenizer.encode(text)
        assert ids == library.encode(text).ids
        if "<" not in text and text:
            assert b"".join(map(tokenizer.bytes_of, ids)) == b" " + text.encode()


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="<\u2581"), min_size=1, max_size=20))
def test_sentencepiece_tokens_write_what_the_library_decodes(pieces: Path, text: str) -> None:
    tokenizer = Tokenizer(read(pieces))
    ids = tokenizer.encode(text)
    library = LibraryTokenizer.from_file(str(pieces / "tokenizer.json"))
    assert b"".join(map(tokenizer.bytes_of, ids)) == (" " + library.decode(ids)).encode()


def test_a_byte_token_writes_its_byte(pieces: Path) -> None:
    tokenizer = Tokenizer(read(pieces))
    assert tokenizer.bytes_of(3 + 0x0A) == b"\n"
    assert tokenizer.bytes_of(3 + 0xFF) == b"\xff"
    assert [tokenizer.bytes_of(token) for token in range(3)] == [b"", b"", b""]


def test_a_replacement_of_another_kind_is_refused(pieces: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(pieces, tmp_path / "a")
    change_json(directory / "tokenizer.json", lambda value: value["decoder"]["decoders"][0].update(content="_"))
    with pytest.raises(ModelError, match="expected byte-level BPE or SentencePiece's with byte fallback"):
        read(directory)


def test_qwen2_composes_characters_as_its_own_tokenizer_does(tmp_path: Path) -> None:
    tokenizer = Tokenizer(read(write_directory(tmp_path / "a", QWEN2)))
    assert tokenizer.encode("cafe\u0301") == tokenizer.encode("caf\u00e9")
    assert config_of(QWEN2)["vocab_size"] > len(WORDS)
