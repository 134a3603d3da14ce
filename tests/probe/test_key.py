"""Keys: which one goes where, and how it is kept out of what comes back."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temp0.errors import UsageError
from temp0.probe.host import KNOWN_HOSTS
from temp0.probe.key import Key, endpoint_key, with_headers

ENVIRON = {known.key_variable: f"key of {host}".replace(" ", "-") for host, known in KNOWN_HOSTS.items()}


def key_for(url: str, *, key_env: str | None = None, environ: dict[str, str] = ENVIRON) -> str | None:
    key = endpoint_key(url, variable="OPENAI_API_KEY", key_env=key_env, environ=environ)
    return key.value if key else None


def test_a_known_host_gets_its_own_key():
    assert key_for("https://api.openai.com/v1") == "key-of-api.openai.com"
    assert key_for("https://API.Anthropic.com") == "key-of-api.anthropic.com"
    assert key_for("https://openrouter.ai:443/api/v1") == "key-of-openrouter.ai"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://notapi.openai.com/v1",
        "https://openrouter.ai.evil.example",
        "http://10.0.0.7:8000/v1",
        "http://localhost.evil.example/v1",
        "http://api.openai.com/v1",
    ],
)
def test_no_other_host_gets_a_key_unasked(url: str):
    assert key_for(url) is None


def test_an_azure_host_gets_its_own_key_and_one_that_looks_like_it_does_not():
    environ = {"AZURE_OPENAI_API_KEY": "azure-key", "OPENAI_API_KEY": "openai-key"}
    assert key_for("https://mine.openai.azure.com/openai/v1", environ=environ) == "azure-key"
    for host in ("mine.openai.azure.com.evil.example", "evilopenai.azure.com", "mine.azure.com", "openai.azure.com"):
        assert key_for(f"https://{host}/openai/v1", environ=environ) is None
    assert key_for("http://mine.openai.azure.com/openai/v1", environ=environ) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "[::1]", "box.localhost"])
def test_this_machine_gets_the_usual_key_of_the_dialect(host: str):
    assert key_for(f"http://{host}:8000/v1") == ENVIRON["OPENAI_API_KEY"]
    assert key_for(f"http://{host}:8000/v1", environ={}) is None


def test_a_named_variable_goes_to_any_host():
    assert key_for("http://10.0.0.7/v1", key_env="MINE", environ={"MINE": " secret\n"}) == "secret"


@pytest.mark.parametrize("environ", [{}, {"MINE": ""}, {"MINE": " \n"}])
def test_a_named_variable_that_is_not_set_is_an_error_that_names_it(environ: dict[str, str]):
    with pytest.raises(UsageError, match="MINE is not set"):
        key_for("https://api.openai.com/v1", key_env="MINE", environ=environ | {"OPENAI_API_KEY": "x"})


@pytest.mark.parametrize("value", ["sk-one\nsk-two", "sk-\x00", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(value: str):
    with pytest.raises(UsageError) as caught:
        key_for("https://host.example", key_env="MINE", environ={"MINE": value})
    assert value not in str(caught.value)
    assert "MINE" in str(caught.value)


def test_a_key_does_not_show_itself():
    assert "sk-123456789" not in repr(Key(value="sk-123456789"))


KEYS = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40).map("sk-{}".format)
AROUND = st.text(max_size=20)


@settings(deadline=None)
@example(value="sk-12345678", before="\\", after="\\", is_ascii=True)
@given(value=KEYS, before=AROUND, after=AROUND, is_ascii=st.booleans())
def test_a_key_inside_json_is_masked_and_the_rest_is_kept(value: str, before: str, after: str, is_ascii: bool):
    body = json.dumps({"text": before + value + after}, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    assert json.loads(Key(value=value).redact(body))["text"] == f"{before}[key]{after}"


@settings(deadline=None)
@given(value=KEYS)
def test_a_key_spelled_in_escapes_is_masked(value: str):
    spelled = "".join(f"\\u{ord(letter):04x}" if place % 2 else letter for place, letter in enumerate(value))
    assert Key(value=value).redact(f'{{"text":"{spelled}"}}'.encode()) == b'{"text":"[key]"}'


def test_a_body_without_the_key_is_not_touched():
    body = json.dumps({"text": "a \\ b \u00e9 /", "bytes": [115, 107]}).encode()
    assert Key(value="sk-12345678").redact(body) == body


def test_a_key_listed_as_byte_values_is_masked():
    key = "sk-12345678"
    body = json.dumps({"bytes": [1, *key.encode(), 2]}).encode()
    assert bytes(json.loads(Key(value=key).redact(body))["bytes"]) == b"\x01[key]\x02"


def test_of_a_placeholder_only_whole_words_of_messages_are_masked():
    key = Key(value="x")
    assert key.redact(b'{"text":"x"}') == b'{"text":"x"}'
    assert key.redact_text("key x is wrong, max_tokens too") == "key [key] is wrong, max_tokens too"


def test_each_of_several_secrets_is_masked_the_longest_first():
    key = Key(value="sk-12345678", others=("sk-12345678-and-more", "hush/hush"))
    body = json.dumps({"text": "sk-12345678-and-more, sk-12345678, hush/hush"}).replace("/", "\\/").encode()
    assert key.redact(body) == b'{"text": "[key], [key], [key]"}'
    assert key.redact_text("sk-12345678-and-more hush/hush") == "[key] [key]"
    assert "hush" not in repr(key)


def test_a_placeholder_beside_a_secret_leaves_the_body_as_it_was():
    key = Key(value="x", others=("sk-12345678",))
    assert not key.is_placeholder
    assert key.redact(b'{"text":"x sk-12345678"}') == b'{"text":"x [key]"}'
    assert key.redact_text("key x or sk-12345678") == "key [key] or [key]"


def test_a_key_alone_is_a_placeholder_only_if_all_are():
    assert Key(value="x", others=("EMPTY", "test")).is_placeholder


@pytest.mark.parametrize(
    ("name", "value", "kept_out"),
    [
        ("Authorization", "Bearer abc-123456", ["Bearer abc-123456", "abc-123456"]),
        ("api-key", "abc-123456", ["abc-123456"]),
        ("X-Goog-Api-Key", "abc-123456", ["abc-123456"]),
        ("Ocp-Apim-Subscription-Key", "abc-123456", ["abc-123456"]),
        ("Cookie", "id=abc-123456; lang=de", ["id=abc-123456; lang=de", "abc-123456"]),
        ("CF-Access-Client-Secret", "s3cr3t", ["s3cr3t"]),
    ],
)
def test_a_header_that_may_be_secret_is_kept_out_whole_and_in_its_parts(name: str, value: str, kept_out: list[str]):
    assert with_headers(None, [(name, value)]) == Key(value=kept_out[0], others=tuple(kept_out[1:]))
    both = with_headers(Key(value="mine"), [(name, value)])
    assert both == Key(value="mine", others=tuple(kept_out))


def test_other_headers_are_no_secrets():
    assert with_headers(None, [("X-Team", "abc-123456"), ("HTTP-Referer", "https://temp0.example")]) is None
    assert with_headers(Key(value="mine"), [("X-Team", "abc-123456")]) == Key(value="mine")


def test_a_body_that_was_cut_within_the_key_keeps_no_part_of_it():
    key = Key(value="sk-abcdef-0123456789")
    assert key.redact(b'data: {"content":"it is sk-abcdef-0123') == b'data: {"content":"it is [key]'
    assert key.redact(b'data: {"content":"it is sk-abcd') == b'data: {"content":"it is sk-abcd'  # may be a word
    assert key.redact(b'data: {"content":"sk-abcdef-0123"}') == b'data: {"content":"sk-abcdef-0123"}'


def test_a_key_without_a_slash_is_found_where_its_letters_are_written_by_code():
    assert Key(value="sk-12345678").redact(rb'{"a":"\u0073k-1234567\u0038 \n"}') == rb'{"a":"[key] \n"}'
