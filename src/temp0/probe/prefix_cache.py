"""A server's prefix cache, made cold by the server's own means: recognises the server, and knows what each one has.

Nothing is pretended: where no means is known, or the server will not, that is said. Hosted APIs are never asked.
Sources: llama.cpp tools/server/README.md (`cache_prompt`); vLLM docs/design/prefix_caching (`cache_salt`) and
entrypoints/serve/dev/cache (`/reset_prefix_cache`, there only with VLLM_SERVER_DEV_MODE=1); SGLang
entrypoints/http_server.py (`/flush_cache`).
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from temp0.core.run import Failure, Question
from temp0.errors import UsageError
from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect import Dialect
from temp0.probe.dialect.dialect import path_of, with_path
from temp0.probe.dialect.error import said
from temp0.probe.dialect.field import told_object
from temp0.probe.endpoint import Answer, ColdMeans, NoColdMeans
from temp0.probe.gauge import Gauge
from temp0.probe.host import known_host
from temp0.probe.listing import owners

NOT_COLD = "not-cold"
"""Why a sitting stops: the server would not empty its prefix cache."""

TIMEOUT_S = 10.0
PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""A server that is busy, or has not yet let go of what it answered a moment ago, is asked again after these."""

_NO_ROUTE = frozenset({404, 405, 501})
_FIELD = "cache_prompt"

_SALT = "cache_salt"
_BY_SALT = f"a new {_SALT} each time"
_SALTED_SINCE = (0, 9)  # the first vLLM that knows the field; where its engine cannot, it refuses the question
_SALTED_DIALECTS = frozenset({"openai-chat", "openai-completions", "openai-responses", "vllm"})
_RELEASE = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One kind of server: by what it is recognised, and the field or the path that makes its cache cold.

    `owner` is what its list of models says, `metrics` how the names of its metrics begin. `deaf` names the dialects
    in which it drops the field without a word.
    """

    name: str
    owner: str
    metrics: str
    field: str | None = None
    deaf: frozenset[str] = frozenset()
    path: str = ""
    query: str = ""
    without_route: str = ""


# llama.cpp's translation of Anthropic's messages copies the fields that it knows, and this one is not among them.
LLAMA_CPP = Server(name="llama.cpp", owner="llamacpp", metrics="llamacpp:", field=_FIELD, deaf=frozenset({"anthropic"}))
TEMP0 = Server(name="temp0", owner="temp0", metrics="temp0_", field=_FIELD)
# Without `reset_external` a tier that keeps the cache outside the GPU goes on serving it: vllm-project/vllm #57727.
VLLM = Server(
    name="vLLM",
    owner="vllm",
    metrics="vllm:",
    path="/reset_prefix_cache",
    query="reset_external=true",
    without_route="has it only when it is started with VLLM_SERVER_DEV_MODE=1",
)
SGLANG = Server(
    name="SGLang", owner="sglang", metrics="sglang:", path="/flush_cache", without_route="has no such route here"
)
SERVERS = (LLAMA_CPP, TEMP0, VLLM, SGLANG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of one reset: done, or not and whether asking again may help, with what the server said."""

    is_done: bool = False
    may_come: bool = False
    is_absent: bool = False
    said: str = ""


class PrefixCache:
    """The prefix cache behind one URL, for questions in one dialect about one model."""

    def __init__(
        self,
        connection: Connection,
        url: str,
        *,
        dialect: Dialect,
        model: str,
        gauge: Gauge,
        pauses_s: Sequence[float] = PAUSES_S,
        salt: Callable[[], str] = lambda: secrets.token_urlsafe(32),
    ) -> None:
        self._connection = connection
        self._models_url = dialect.models_url(url)
        self._root = path_of(self._models_url).removesuffix("/models").removesuffix("/v1")
        self._dialect = dialect.name
        self._model = model
        self._gauge = gauge
        self._pauses_s = pauses_s
        self._salt = salt
        self._has_salt = False
        self._is_hosted = known_host(urlsplit(url).hostname) is not None
        self._server: Server | None = None
        self._means: ColdMeans | NoColdMeans | None = None

    async def means(self) -> ColdMeans | NoColdMeans:
        """How this cache can be made cold; the server is asked at the first call."""
        if self._means is None:
            self._means = await self._found()
        return self._means

    def is_salted(self, question: Question) -> bool:
        """Whether the question goes out with fields of its own each time, so that it cannot be sent as it was."""
        return question.cache == "cold" and self._has_salt

    def fields(self, question: Question) -> Mapping[str, object]:
        """What goes with a question beyond its dialect, so that it finds no prefix cached.

        A salt is new at each call: prompts share what is cached only under the same one.

        Raises:
            UsageError: A cold question, and no means for it is known.

        """
        if question.cache != "cold":
            return {}
        if not isinstance(self._means, ColdMeans):
            raise UsageError("a cold question needs a server whose prefix cache can be made cold; none is known here")
        if self._has_salt:
            return {_SALT: self._salt()}
        return {} if self._means.is_reset else {_FIELD: False}

    async def reset(self) -> Failure | None:
        """Empty the cache where that is the means, asking a busy server again for a short while."""
        if self._server is None or not (isinstance(self._means, ColdMeans) and self._means.is_reset):
            return None
        told = await self._reset(self._server)
        for pause_s in self._pauses_s:
            if told.is_done or not told.may_come:
                break
            await asyncio.sleep(pause_s)
            told = await self._reset(self._server)
        if told.is_done:
            return None
        return Failure(
            reason=NOT_COLD,
            message=f"{self._server.name} would not empty its prefix cache ({_by(self._server)}): {told.said}",
        )

    async def _found(self) -> ColdMeans | NoColdMeans:
        if self._is_hosted:
            return NoColdMeans(why="a hosted API has none that we know of")
        server = await self._recognised()
        if server is None:
            return await self._tried()
        self._server = server
        if server.field:
            if self._dialect in server.deaf:
                return NoColdMeans(why=f"{server.name} takes no {_by(server)} in the dialect {self._dialect}")
            return _means(server)
        self._has_salt = server is VLLM and await self._knows_salt()
        told = await self._reset(server)
        if told.is_done or told.may_come:
            # Only what is read first after a reset is surely cold; with a salt of its own, each question is.
            by = f"{_by(server)}, and {_BY_SALT}" if self._has_salt else _by(server)
            return ColdMeans(server=server.name, by=by, is_reset=True)
        if self._has_salt:
            return ColdMeans(server=server.name, by=_BY_SALT, is_reset=False)
        why = server.without_route if told.is_absent else f"answers {told.said}"
        return NoColdMeans(why=f"{server.name} was asked to {_by(server)}, and {why}")

    async def _knows_salt(self) -> bool:
        """Whether vLLM is of a release that knows `cache_salt`, in a dialect that has it: others pass over it."""
        if self._dialect not in _SALTED_DIALECTS:
            return False
        told = told_object(_json(await self._get(self._url("/version")))).get("version")
        found = _RELEASE.match(told) if isinstance(told, str) else None
        return found is not None and (int(found[1][:6]), int(found[2][:6])) >= _SALTED_SINCE

    async def _tried(self) -> ColdMeans | NoColdMeans:
        """The means of a server that nobody recognises: a reset that it says it has done."""
        for server in (VLLM, SGLANG):
            unknown = Server(name="the server", owner="", metrics="", path=server.path, query=server.query)
            told = await self._reset(unknown)
            if told.is_done:
                self._server = unknown
                return _means(unknown)
        return NoColdMeans(why=f"it is none of {', '.join(known.name for known in SERVERS)}, as far as it tells")

    async def _recognised(self) -> Server | None:
        """The kind of server, from its list of models, its properties or the names of its metrics."""
        said = owners(await self._get(self._models_url), self._model)
        for server in SERVERS:
            if said == {server.owner}:
                return server
        if "total_slots" in told_object(_json(await self._get(self._url("/props")))):
            return LLAMA_CPP
        metrics = (await self._get(self._url("/metrics"))).decode("utf-8", "replace")
        return next((one for one in SERVERS if re.search(rf"^{one.metrics}\w", metrics, re.MULTILINE)), None)

    async def _get(self, url: str) -> bytes:
        reply = await self._connection.exchange("GET", url, timeout_s=TIMEOUT_S)
        return reply.body if isinstance(reply, Reply) and reply.status == 200 else b""

    def _url(self, path: str, query: str = "") -> str:
        return urlsplit(with_path(self._models_url, self._root + path))._replace(query=query).geturl()

    async def _reset(self, server: Server) -> Told:
        reply = await self._connection.exchange("POST", self._url(server.path, server.query), timeout_s=TIMEOUT_S)
        if isinstance(reply, Answer):
            return Told(may_come=True, said=getattr(reply.outcome, "message", "no answer"))
        told = reset_told(server, reply.status, reply.body)
        if told.is_done and not reply.body and await self._gauge.running():
            # Before 0.26 vLLM answered the same whether it did it or not, and it does not while anything runs.
            return Told(may_come=True, said="requests of others are running")
        return told


def reset_told(server: Server, status: int, body: bytes) -> Told:
    """What the answer to a reset says.

    vLLM says `{"success": false}` while requests hold the cache, and said nothing at all before 0.26; SGLang answers
    400 while requests run. A server that nobody recognises must say that it did it: some answer 200 to anything.
    """
    answer = told_object(_json(body))
    if status in _NO_ROUTE:
        return Told(is_absent=True, said=f"HTTP {status}")
    if server is SGLANG and status == 400:
        return Told(may_come=True, said=f"HTTP 400: {said(body)}")
    if not 200 <= status < 300:
        return Told(said=f"HTTP {status}: {said(body)}")
    if answer.get("success") is False:
        return Told(may_come=True, said=said(body))
    says_done = answer.get("success") is True or answer.get("status") == "ok" or body.startswith(b"Cache flushed")
    return Told(is_done=says_done or server in SERVERS, said=said(body))


def _means(server: Server) -> ColdMeans:
    return ColdMeans(server=server.name, by=_by(server), is_reset=server.field is None)


def _by(server: Server) -> str:
    return f"{server.field}: false" if server.field else f"POST {server.path}"


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
