"""OpenVINO GenAI's continuous batching behind the thinnest HTTP server that will do, as its wheel carries none.

Run as `python openvino_launcher.py MODEL.gguf THREADS [PRECISION]` in the peers' environment, without temp0. It
answers greedy chat completions of a fixed length, streamed or not: one thread steps the pipeline, and each request
waits in a thread of its own. Prefix caching is off; all else is as OpenVINO sets it.
"""

import itertools
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue

import openvino
import openvino_genai

Tokens = SimpleQueue  # of lists of token ids, then None
RUNNING = openvino_genai.GenerationStatus.RUNNING


class Stepper:
    """Owns the pipeline: requests come in from any thread, and only its own thread touches the pipeline."""

    def __init__(self, model: str, threads: int, precision: str | None) -> None:
        scheduling = openvino_genai.SchedulerConfig()
        scheduling.enable_prefix_caching = False
        properties = {"INFERENCE_NUM_THREADS": threads}
        if precision:
            properties["INFERENCE_PRECISION_HINT"] = precision
        self.pipeline = openvino_genai.ContinuousBatchingPipeline(model, scheduling, "CPU", properties)
        self.tokenizer = self.pipeline.get_tokenizer()
        self._numbers = itertools.count()
        self._arrived = SimpleQueue()
        self._live = []

    def submit(self, prompt: openvino.Tensor, config: openvino_genai.GenerationConfig) -> Tokens:
        """Hand in a request; its tokens come through the queue, and None after the last."""
        tokens = SimpleQueue()
        self._arrived.put((prompt, config, tokens))
        return tokens

    def run(self) -> None:
        """Step for ever; sleep while there is nothing to do."""
        while True:
            self._admit()
            self.pipeline.step()
            self._live = [pair for pair in self._live if self._deliver(*pair)]

    def _admit(self) -> None:
        """Take in what has arrived; sleep for the first while nothing is live."""
        while not self._live or not self._arrived.empty():
            prompt, config, tokens = self._arrived.get()
            handle = self.pipeline.add_request(next(self._numbers), prompt, config)
            self._live.append((handle, tokens))

    def _deliver(self, handle: object, tokens: Tokens) -> bool:
        running = handle.get_status() == RUNNING
        if handle.can_read():
            tokens.put(list(handle.read()[0].generated_ids))
        if not running:
            tokens.put(None)
        return running


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    stepper: Stepper

    def do_POST(self) -> None:
        """Answer one request, with the prompt as the model's own chat template writes it."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tokenizer = self.stepper.tokenizer
        text = tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True)
        prompt = tokenizer.encode(text, add_special_tokens=False).input_ids
        config = openvino_genai.GenerationConfig(
            max_new_tokens=body["max_tokens"], ignore_eos=bool(body.get("ignore_eos")), do_sample=False
        )
        tokens = self.stepper.submit(prompt, config)
        arrived = iter(tokens.get, None)
        (self._stream if body.get("stream") else self._whole)(arrived, prompt.shape[1])

    def _whole(self, arrived: Iterator[list[int]], prompt_tokens: int) -> None:
        ids = list(itertools.chain.from_iterable(arrived))
        message = {"role": "assistant", "content": self.stepper.tokenizer.decode(ids)}
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(ids)}
        self._begin("application/json")
        self.wfile.write(json.dumps({"choices": [{"index": 0, "message": message}], "usage": usage}).encode())

    def _stream(self, arrived: Iterator[list[int]], prompt_tokens: int) -> None:
        self._begin("text/event-stream")
        count = 0
        for ids in arrived:
            count += len(ids)
            self._event({"choices": [{"index": 0, "delta": {"content": self.stepper.tokenizer.decode(ids)}}]})
        self._event({"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": count}})

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _event(self, event: dict[str, object]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, *arguments: object) -> None:
        """Nothing: a line for each request would only cost time."""


class Server(ThreadingHTTPServer):
    """A listener that lets as many wait as a wave of requests has."""

    daemon_threads = True
    request_queue_size = 128


def about(precision: str | None) -> str:
    """What decides how it computes here."""
    core = openvino.Core()
    precision = precision or core.get_property("CPU", "INFERENCE_PRECISION_HINT").to_string()
    kv = core.get_property("CPU", "KV_CACHE_PRECISION").to_string()
    tiles = "amx" in Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else False
    units = ", on a processor with AMX tile units" if tiles else ""
    return (
        f"OpenVINO GenAI {openvino_genai.__version__}, which computes in {precision} and keeps KV in {kv} here{units}"
    )


if __name__ == "__main__":
    weights, thread_count, *asked = sys.argv[1:]
    hint = asked[0] if asked else None
    Handler.stepper = Stepper(weights, int(thread_count), hint)
    server = Server(("127.0.0.1", 0), Handler)
    for work in (Handler.stepper.run, server.serve_forever):
        threading.Thread(target=work, daemon=True).start()
    print(f"about: {about(hint)}")
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()
