"""Runs the tools that people evaluate with, as they do, on local files against a local server, without the network."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

LONGEST_S = 240
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "OPENAI_API_KEY": "none",
    "LOCAL_API_KEY": "none",
    "NO_PROXY": "127.0.0.1",
}

INSPECT_TASK = """
import json
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def asked():
    told = json.loads((Path(__file__).parent / "items.json").read_text())
    samples = [Sample(id=one["id"], input=one["q"], target=one["a"]) for one in told["items"]]
    return Task(dataset=samples, solver=generate(), scorer=includes(), epochs=told["epochs"], fail_on_error=False)
"""

LM_EVAL_TASK = """
task: asked
dataset_path: json
dataset_kwargs: {{data_files: {{test: {items}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{a}}}}"
repeats: {repeats}
generation_kwargs: {{until: ["@@@"], do_sample: false, temperature: {temperature}, max_gen_toks: 24}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
filter_list: [{{name: all, filter: [{{function: take_first_k, k: {repeats}}}]}}]
"""


def needs(module: str) -> None:
    """Skip where a package of the group is not there."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: make test GROUPS=logs")


def called(folder: Path, *command: str, **environ: str) -> str:
    """What a command printed, run in a folder that is its home as well."""
    home = {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "HF_HOME": str(folder),
        "PROMPTFOO_CONFIG_DIR": str(folder),
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    call = subprocess.run(
        command, cwd=folder, env={**os.environ, **QUIET, **home, "PATH": path, **environ}, timeout=LONGEST_S,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return call.stdout


def only(folder: Path, pattern: str, said: str) -> Path:
    """The one file that was written."""
    found = sorted(folder.rglob(pattern))
    assert len(found) == 1, f"{found}\n{said[-3000:]}"
    return found[0]


def inspect_log(folder: Path, url: str, items: Sequence[dict[str, str]], *, epochs: int, form: str = "json") -> Path:
    """A log of `inspect eval`."""
    (folder / "items.json").write_text(json.dumps({"items": items, "epochs": epochs}))
    (folder / "task.py").write_text(INSPECT_TASK)
    said = called(
        folder, "inspect", "eval", "task.py", "--model", "openai-api/local/scripted", "--log-format", form,
        "--log-dir", "logs", "--temperature", "0", "--max-tokens", "24", "--max-connections", "4", "--max-retries", "0",
        "--display", "none", LOCAL_BASE_URL=url,
    )  # fmt: skip
    return only(folder / "logs", f"*.{form}", said)


def lm_eval_log(
    folder: Path, url: str, items: Sequence[dict[str, str]], *, repeats: int, chat: bool = True, temperature: float = 0
) -> Path:
    """A sample file of `lm_eval --log_samples`."""
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    (folder / "tasks").mkdir()
    task = LM_EVAL_TASK.format(items=folder / "items.jsonl", repeats=repeats, temperature=temperature)
    (folder / "tasks" / "asked.yaml").write_text(task)
    model, path = ("local-chat-completions", "chat/completions") if chat else ("local-completions", "completions")
    settings = f"model=scripted,base_url={url}/{path},num_concurrent=2,max_retries=1,tokenizer_backend=None"
    said = called(
        folder, "lm_eval", "run", "--model", model, "--model_args", settings, "--tasks", "asked",
        "--include_path", "tasks", "--output_path", "out", "--log_samples",
        *(["--apply_chat_template"] if chat else []),
    )  # fmt: skip
    return only(folder / "out", "samples_*.jsonl", said)


def promptfoo_log(folder: Path, url: str, items: Sequence[dict[str, str]], *, repeats: int, form: str = "json") -> Path:
    """A results file of `promptfoo eval --repeat`."""
    program = shutil.which("promptfoo")
    if program is None:
        pytest.skip("promptfoo is not there: npm install promptfoo, and its .bin on the PATH")
    provider = {"id": "openai:chat:scripted", "config": {"apiBaseUrl": url, "temperature": 0, "max_tokens": 24}}
    tests = [{"vars": {"q": one["q"]}, "assert": [{"type": "contains", "value": one["a"]}]} for one in items]
    settings = {"prompts": ["{{q}}"], "providers": [provider], "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(settings))
    said = called(
        folder, program, "eval", "-c", "promptfooconfig.json", "--repeat", str(repeats), "--no-cache",
        "--no-progress-bar", "-o", f"out.{form}",
    )  # fmt: skip
    return only(folder, f"out.{form}", said)


def batch_files(folder: Path, url: str, items: Sequence[dict[str, str]], *, repeats: int) -> tuple[Path, Path]:
    """The input and the output file of a batch in the form of OpenAI's guide; the server is asked line by line."""
    requests = [
        {
            "custom_id": f"request-{place * repeats + turn + 1}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "scripted", "messages": [{"role": "user", "content": one["q"]}], "temperature": 0},
        }
        for place, one in enumerate(items)
        for turn in range(repeats)
    ]
    answers = [
        {
            "id": f"batch_req_{place}",
            "custom_id": one["custom_id"],
            "response": _posted(url, one["body"]),
            "error": None,
        }
        for place, one in enumerate(requests)
    ]
    for name, lines in (("input", requests), ("output", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "input.jsonl", folder / "output.jsonl"


def _posted(url: str, body: object) -> dict[str, object]:
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=LONGEST_S) as told:
            return {"status_code": told.status, "request_id": "r", "body": json.load(told)}
    except urllib.error.HTTPError as error:
        return {"status_code": error.code, "request_id": "r", "body": json.load(error)}
