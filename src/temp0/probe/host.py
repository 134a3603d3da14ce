"""Hosted APIs by their host: what they speak, under which path, and where their key is kept.

The host is exact, or a name under a domain that one company keeps for its customers' endpoints, because a key must
never go to a host that merely looks like the right one.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from temp0.probe.dialect.dialect import with_path


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHost:
    """A hosted API. `path` is where its API begins, for a URL that names nothing but the host."""

    key_variable: str
    path: str = "/v1"
    api: str = "openai-chat"


KNOWN_HOSTS: dict[str, KnownHost] = {
    "api.anthropic.com": KnownHost(key_variable="ANTHROPIC_API_KEY", api="anthropic"),
    "api.cerebras.ai": KnownHost(key_variable="CEREBRAS_API_KEY"),
    "api.deepinfra.com": KnownHost(key_variable="DEEPINFRA_API_KEY", path="/v1/openai"),
    "api.deepseek.com": KnownHost(key_variable="DEEPSEEK_API_KEY"),
    "api.fireworks.ai": KnownHost(key_variable="FIREWORKS_API_KEY", path="/inference/v1"),
    "api.groq.com": KnownHost(key_variable="GROQ_API_KEY", path="/openai/v1"),
    "api.mistral.ai": KnownHost(key_variable="MISTRAL_API_KEY", api="mistral"),
    "codestral.mistral.ai": KnownHost(key_variable="CODESTRAL_API_KEY", api="mistral"),
    "api.moonshot.ai": KnownHost(key_variable="MOONSHOT_API_KEY"),
    "api.openai.com": KnownHost(key_variable="OPENAI_API_KEY"),
    "api.sambanova.ai": KnownHost(key_variable="SAMBANOVA_API_KEY"),
    "api.together.ai": KnownHost(key_variable="TOGETHER_API_KEY"),
    "api.together.xyz": KnownHost(key_variable="TOGETHER_API_KEY"),
    "api.x.ai": KnownHost(key_variable="XAI_API_KEY"),
    "generativelanguage.googleapis.com": KnownHost(key_variable="GEMINI_API_KEY", path="/v1beta/openai"),
    "integrate.api.nvidia.com": KnownHost(key_variable="NVIDIA_API_KEY"),
    "ollama.com": KnownHost(key_variable="OLLAMA_API_KEY", path="/api", api="ollama"),
    "openrouter.ai": KnownHost(key_variable="OPENROUTER_API_KEY", path="/api/v1", api="openrouter"),
    "router.huggingface.co": KnownHost(key_variable="HF_TOKEN"),
}


_AZURE = KnownHost(key_variable="AZURE_OPENAI_API_KEY", path="/openai/v1", api="azure")
_DOMAINS: dict[str, KnownHost] = {
    ".openai.azure.com": _AZURE,
    ".openai.azure.us": _AZURE,
    ".cognitiveservices.azure.com": _AZURE,
    ".services.ai.azure.com": _AZURE,
}


def known_host(host: str | None) -> KnownHost | None:
    """The hosted API behind a host name, if it is one.

    >>> known_host("mine.openai.azure.com").api, known_host("openai.azure.com.evil.example")
    ('azure', None)
    """
    host = host or ""
    by_domain = (known for domain, known in _DOMAINS.items() if host.endswith(domain))
    return KNOWN_HOSTS.get(host) or next(by_domain, None)


def with_known_path(url: str) -> str:
    """The URL with the path where a known host's API begins, if it names nothing but the host.

    >>> with_known_path("https://api.groq.com"), with_known_path("http://127.0.0.1:8000")
    ('https://api.groq.com/openai/v1', 'http://127.0.0.1:8000')
    """
    parts = urlsplit(url)
    known = known_host(parts.hostname)
    return with_path(url, known.path) if known and not parts.path else url


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by name or by address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
