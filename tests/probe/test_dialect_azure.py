"""Azure's dialect: where questions go, and in which header the key does."""

import pytest
from scripted_server import question

from temp0.probe.dialect.azure import AZURE, deployment, lacks_version
from temp0.probe.dialect.openai_chat import OPENAI_CHAT

HOST = "https://mine.openai.azure.com"
VERSION = "?api-version=2024-10-21"


@pytest.mark.parametrize(
    ("given", "asked", "models"),
    [
        (HOST, f"{HOST}/openai/v1/chat/completions", f"{HOST}/openai/v1/models"),
        (f"{HOST}/openai/v1/", f"{HOST}/openai/v1/chat/completions", f"{HOST}/openai/v1/models"),
        (f"{HOST}/openai/v1/chat/completions", f"{HOST}/openai/v1/chat/completions", f"{HOST}/openai/v1/models"),
        (
            f"{HOST}/openai/deployments/d{VERSION}",
            f"{HOST}/openai/deployments/d/chat/completions{VERSION}",
            f"{HOST}/openai/models{VERSION}",
        ),
        (
            f"{HOST}/openai/deployments/d/chat/completions{VERSION}",
            f"{HOST}/openai/deployments/d/chat/completions{VERSION}",
            f"{HOST}/openai/models{VERSION}",
        ),
    ],
)
def test_the_urls_follow_from_what_the_user_gave(given: str, asked: str, models: str):
    assert (AZURE.url(given), AZURE.models_url(given)) == (asked, models)


def test_the_key_goes_in_a_header_of_its_own():
    assert AZURE.headers("abc") == {"api-key": "abc"}
    assert AZURE.headers(None) == {}


def test_the_same_is_sent_as_to_openai():
    asked = question(logprobs=True, stream=True)
    assert AZURE.body(asked, "d") == OPENAI_CHAT.body(asked, "d")
    assert (AZURE.dispensable, AZURE.renamed) == (OPENAI_CHAT.dispensable, OPENAI_CHAT.renamed)


@pytest.mark.parametrize(
    ("url", "name", "lacks"),
    [
        (f"{HOST}/openai/deployments/gpt-4o/chat/completions{VERSION}", "gpt-4o", False),
        (f"{HOST}/openai/deployments/gpt-4o", "gpt-4o", True),
        (f"{HOST}/openai/deployments/gpt-4o?x=1", "gpt-4o", True),
        (f"{HOST}/openai/v1", None, False),
        (f"{HOST}/openai/deployments/", None, False),
        ("https://host/?next=/openai/deployments/x", None, False),
    ],
)
def test_a_url_names_its_deployment_and_must_name_a_version(url: str, name: str | None, lacks: bool):
    assert (deployment(url), lacks_version(url)) == (name, lacks)
