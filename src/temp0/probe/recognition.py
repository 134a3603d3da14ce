"""Which dialect is spoken behind a URL, and what says so: the URL itself, or the server's list of models.

A URL that names nothing but a host, or ends in `/v1`, is open: many servers speak OpenAI's dialect there, and some are
asked better in a variation of it or in their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from temp0.errors import EndpointError
from temp0.probe.dialect import DIALECTS, Dialect
from temp0.probe.dialect.azure import deployment
from temp0.probe.host import known_host
from temp0.probe.listing import owners

# Every dialect temp0 has a name for, and the ends of paths by which it is recognised: the first that fits.
API_PATHS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("/chat/completions", "/v1"),
    "openai-completions": ("/completions",),
    "openai-responses": ("/responses",),
    "anthropic": ("/messages", "/anthropic"),
    "mistral": (),
    "ollama": ("/api/chat", "/api/generate"),
    "llamacpp": ("/completion",),
    "vllm": (),
    "sglang": ("/generate",),
    "azure": (),
    "openrouter": (),
}
_USUAL = "openai-chat"
_OLLAMA_PORT = 11434
# Who a server says owns its models, and the dialect that is then spoken: Ollama's own only under a bare host.
_VARIATION_OF = {"vllm": "vllm", "sglang": "sglang"}
_NATIVE_OF = {"library": "ollama"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """A dialect and what says so, in words; `is_open` where the server may know better."""

    dialect: Dialect
    because: str
    is_open: bool = False
    is_bare: bool = False

    def corrected(self, models: bytes, model: str | None) -> Recognition:
        """The same, or the dialect that the server speaks better, by its list of models."""
        known = {**_VARIATION_OF, **(_NATIVE_OF if self.is_bare else {})}
        said = sorted(owners(models, model))
        if not self.is_open or len(said) != 1 or known.get(said[0]) not in DIALECTS:
            return self
        return Recognition(dialect=DIALECTS[known[said[0]]], because=f"its models are owned by {said[0]!r}")


def recognition(parts: SplitResult, api: str | None) -> Recognition:
    """The dialect behind a URL, or the one named `api`.

    Raises:
        EndpointError: The URL does not tell, or there is no such dialect.

    """
    if api is not None:
        return Recognition(dialect=_spoken(api), because="as asked for")
    known, path = known_host(parts.hostname), parts.path.rstrip("/")
    end, name = _by_path(path)
    if deployment(parts.geturl()):
        return Recognition(dialect=_spoken("azure"), because="its path names a deployment")
    if known and name in (None, _USUAL):
        return Recognition(dialect=_spoken(known.api), because=f"its host is {parts.hostname}")
    if not path and parts.port == _OLLAMA_PORT:
        return Recognition(dialect=_spoken("ollama"), because=f"its port is {_OLLAMA_PORT}")
    if not path:
        return Recognition(
            dialect=_spoken(_USUAL), because="the usual one; the URL names none", is_open=True, is_bare=True
        )
    if name is None:
        raise EndpointError(
            f"the path {parts.path!r} does not tell which dialect is spoken there: none of {_known_ends()}; "
            f"end the URL with one of them, or say which with --api ({', '.join(DIALECTS)})"
        )
    return Recognition(dialect=_spoken(name), because=f"its path ends in {end}", is_open=end == "/v1")


def open_api(url: str) -> str | None:
    """The dialect that a URL leaves open, for who speaks no other; `None` where the URL tells, or is none."""
    try:
        found = recognition(urlsplit(url.strip()), None)
    except (EndpointError, ValueError):
        return None
    return found.dialect.name if found.is_open else None


def _by_path(path: str) -> tuple[str, str | None]:
    for name, ends in API_PATHS.items():
        for end in ends:
            if path.endswith(end):
                return end, name
    return "", None


def _known_ends() -> str:
    return ", ".join(end for ends in API_PATHS.values() for end in ends)


def _spoken(name: str) -> Dialect:
    if name in DIALECTS:
        return DIALECTS[name]
    raise EndpointError(f"the dialect {name!r} is not known; temp0 speaks {', '.join(DIALECTS)}")
