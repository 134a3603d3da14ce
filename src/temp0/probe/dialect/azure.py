"""Azure OpenAI: the openai-chat dialect under other URLs, with the key in a header of its own.

Source: https://learn.microsoft.com/azure/foundry/openai/reference. A model is asked by the name of its deployment,
which stands in the URL; under `/openai/v1` it is the model of the body. What filters found comes beside the answer, in
a stream in a first chunk without choices, and is not read; an answer that they cut ends with `content_filter`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from temp0.probe.dialect.dialect import path_of, with_path
from temp0.probe.dialect.variation import variation

_QUESTIONS = "/chat/completions"
_DEPLOYMENT = re.compile(r"/openai/deployments/(?P<name>[^/]+)")


def deployment(url: str) -> str | None:
    """The deployment that a URL names.

    >>> deployment("https://mine.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21")
    'gpt'
    """
    found = _DEPLOYMENT.search(urlsplit(url).path)
    return found["name"] if found else None


def lacks_version(url: str) -> bool:
    """Whether a URL names a deployment without the version of the API, which Azure answers with "not found"."""
    return deployment(url) is not None and "api-version" not in dict(parse_qsl(urlsplit(url).query))


def _root(url: str) -> str:
    return path_of(url).removesuffix(_QUESTIONS) or "/openai/v1"


def _url(url: str) -> str:
    return with_path(url, _root(url) + _QUESTIONS)


def _models_url(url: str) -> str:
    """Where the models are listed: every model that could be deployed, not what is."""
    root = _DEPLOYMENT.sub("/openai", _root(url)) if deployment(url) else _root(url)
    return with_path(url, root + "/models")


def _headers(key: str | None) -> Mapping[str, str]:
    return {"api-key": key} if key else {}


AZURE = replace(
    variation("azure", key_variable="AZURE_OPENAI_API_KEY"), url=_url, models_url=_models_url, headers=_headers
)
