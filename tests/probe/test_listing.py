"""A server's list of models: names and owners from every shape that there is, and from none."""

import pytest
from scripted_server import BODIES

from temp0.probe.listing import model_names, owners


def test_the_recorded_list_of_llama_cpp_has_one_name_and_one_owner():
    body = (BODIES / "llama_models.json").read_bytes()
    assert model_names(body) == ("models/smol-BF16.gguf",)
    assert owners(body, None) == {"llamacpp"}


def test_ollamas_own_list_has_names():
    body = b'{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5},{"name":"llama3.2:latest"}]}'
    assert model_names(body) == ("qwen3:8b", "llama3.2:latest")


def test_ours_tells_the_owner_and_else_all_do():
    body = b'{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"openai"}]}'
    assert owners(body, "a") == {"vllm"}
    assert owners(body, "c") == owners(body, None) == {"vllm", "openai"}


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"7", b"{}", b'{"data":7}', b'{"data":{"id":"x"}}', b'{"models":null}', b"[" * 100_000],
)
def test_what_is_no_list_has_no_names_and_no_owners(body: bytes):
    assert model_names(body) == ()
    assert owners(body, "m") == frozenset()


def test_an_entry_that_is_none_has_no_name_and_no_owner():
    body = b'{"data":[{"id":3},7,{"id":"a","owned_by":["vllm"]}]}'
    assert model_names(body) == ("a",)
    assert owners(body, "b") == {"None", "['vllm']"}
