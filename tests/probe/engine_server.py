"""vLLM's and SGLang's servers, played from their public documentation: what a request leaves out, the model decides.

The model's generation_config here has sampling of its own. A greedy answer comes only of a request that says each
field that matters; any other gets an answer that names what was left to the model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scripted_server import ScriptedServer, http

# What the model's generation_config says, and the values that do nothing.
DEFAULTS: Mapping[str, tuple[float, ...]] = {
    "temperature": (0,),
    "top_p": (1,),
    "top_k": (-1, 0),
    "min_p": (0,),
    "repetition_penalty": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
}
TEXTS, IDS = ("Caf", "é", ""), (46950, 978, 151645)


@dataclass
class EngineServer:
    """One of the two engines, whose answers to chat questions depend on what was asked."""

    engine: str
    running: int = 1
    asked: list[dict[str, Any]] = field(default_factory=list)
    resets: int = 0

    def serve(self) -> ScriptedServer:
        """The server; its routes are those that the documentation names."""

        async def play(writer: asyncio.StreamWriter) -> None:
            received = server.received[-1]
            writer.write(self._answer(received.line.removesuffix(" HTTP/1.1"), received.body))
            await writer.drain()

        server = ScriptedServer(play)
        return server

    def _answer(self, route: str, body: bytes) -> bytes:
        gauge = {"vllm": "vllm:num_requests_running", "sglang": "sglang:num_running_reqs"}[self.engine]
        if route == "GET /v1/models":
            return http(json.dumps({"object": "list", "data": [{"id": "qwen", "owned_by": self.engine}]}))
        if route == "GET /version" and self.engine == "vllm":
            return http('{"version":"0.11.0"}')
        if route == "GET /metrics":
            return http(f'{gauge}{{model_name="qwen"}} {self.running}.0\n', headers=("Content-Type: text/plain",))
        if route == "POST /flush_cache" and self.engine == "sglang":
            self.resets += 1
            return http("Cache flushed.\n", headers=("Content-Type: text/plain",))
        if route == "POST /v1/chat/completions":
            self.asked.append(json.loads(body))
            return self._completion(self.asked[-1])
        return http('{"detail":"Not Found"}', "404 Not Found")

    def _completion(self, asked: Mapping[str, Any]) -> bytes:
        left = [name for name, neutral in DEFAULTS.items() if asked.get(name) not in neutral]
        texts = (f"left to the model: {', '.join(left)}",) if left else TEXTS
        choices = [self._choice(asked, text, place, last=place == len(texts) - 1) for place, text in enumerate(texts)]
        told = {"id": "c1", "object": "chat.completion", "created": 1764540000, "model": "qwen"}
        usage = {"prompt_tokens": 12, "completion_tokens": len(texts), "total_tokens": 12 + len(texts)}
        if asked["stream"]:
            chunks = [*({**told, "choices": [choice]} for choice in choices), {**told, "choices": [], "usage": usage}]
            lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
            return http("".join([*lines, "data: [DONE]\n\n"]), headers=("Content-Type: text/event-stream",))
        return http(json.dumps({**told, "choices": [joined(choices)], "usage": usage}))

    def _choice(self, asked: Mapping[str, Any], text: str, place: int, *, last: bool) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": "stop" if last else None}
        if asked.get("logprobs"):
            entry = {"token": text, "logprob": -0.25, "bytes": list(text.encode()), "top_logprobs": []}
            choice["logprobs"] = {"content": [entry]}
        # SGLang's documentation has token ids in whole answers only.
        if asked.get("return_token_ids") and not (asked["stream"] and self.engine == "sglang"):
            choice["token_ids"] = [IDS[place]]
        return choice


def joined(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """The choice that these chunks are parts of."""
    message = {"role": "assistant", "content": "".join(choice["delta"]["content"] for choice in choices)}
    whole: dict[str, Any] = {"index": 0, "message": message, "finish_reason": choices[-1]["finish_reason"]}
    if "logprobs" in choices[0]:
        whole["logprobs"] = {"content": [entry for one in choices for entry in one["logprobs"]["content"]]}
    if "token_ids" in choices[0]:
        whole["token_ids"] = [name for one in choices for name in one["token_ids"]]
    return whole
