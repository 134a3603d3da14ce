"""llama.cpp's HTTP server, as the xllamacpp wheel carries it.

Run as `python llama_launcher.py MODEL SLOTS TOKENS_PER_SLOT THREADS KV` in the peers' environment, without temp0.
Says what it is and where it listens, and ends when its standard input does. There is no prompt cache of any kind;
all else is as llama.cpp sets it.
"""

import sys

import xllamacpp


def parameters(model: str, slots: int, tokens_per_slot: int, threads: int, kv: str) -> xllamacpp.CommonParams:
    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.port = 0
    wanted.n_parallel = slots
    wanted.n_ctx = slots * tokens_per_slot
    wanted.cpuparams.n_threads = threads
    wanted.cpuparams_batch.n_threads = threads
    wanted.cache_type_k = wanted.cache_type_v = xllamacpp.ggml_type[f"GGML_TYPE_{kv.upper()}"]
    wanted.cache_prompt = False
    wanted.cache_ram_mib = 0
    wanted.verbosity = 0
    return wanted


if __name__ == "__main__":
    path, *numbers, kv_type = sys.argv[1:]
    server = xllamacpp.Server(parameters(path, *map(int, numbers), kv=kv_type))
    features = xllamacpp.get_system_info().removeprefix("CPU : ").split("|")
    enabled = [feature.split("=")[0].strip() for feature in features if "= 1" in feature]
    print(f"about: xllamacpp {xllamacpp.__version__}, built with {', '.join(enabled)}")
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.read()
