"""llama.cpp's own HTTP server, as the xllamacpp wheel carries it, on a BF16 copy of the built-in model.

Run as `python llama_server.py MODEL.gguf PORT`; it ends when its standard input does.
"""

import sys

SLOTS = 8
TOKENS_PER_SLOT = 1024


def serve(model: str, port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    params.cpuparams.n_threads = 1  # spinning threads on a busy machine make it many times slower
    params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = True
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
