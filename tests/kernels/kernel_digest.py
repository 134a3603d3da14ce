"""Prints one digest per kernel over fixed inputs, so that processes can be compared; run as a script."""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

from temp0 import kernels


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return (rng.normal(size=shape) * scale).astype(np.float32)


def linears() -> str:
    """Rows of full precision, of bf16, and of bf16 so small that products fall below the normal numbers."""
    outs = []
    for outputs, inputs, dtype in [(70, 577, "bf16"), (33, 300, "fp32"), (576, 576, "bf16"), (200, 33, "bf16")]:
        weight = kernels.pack(normal(outputs, inputs), dtype=dtype)
        for rows in (1, 2, 3, 4, 5, 7, 13, 16, 17, 31, 32, 33, 49, 100):
            wide = normal(rows, inputs)
            for scale in (None, 1.0, 1e-38):
                out, x = np.empty((rows, outputs), np.float32), wide * np.float32(scale or 1)
                if scale:
                    kernels.round_bf16(x)
                kernels.linear(x, weight, out, rounded=scale is not None)
                outs.append(out)
    return digest(*outs)


def attentions() -> str:
    outs = []
    positions = np.concatenate([[0, 15, 16, 127, 128, 299], np.arange(120, 140)]).astype(np.int32)
    for heads, kv_heads, head_dim, page_size in [(9, 3, 64, 16), (4, 2, 40, 7), (5, 1, 96, 1), (8, 8, 128, 32)]:
        query = normal(len(positions), heads, head_dim, scale=2.0)
        pages = -(-300 // page_size)
        keys = normal(pages, page_size, kv_heads, head_dim)
        tables = np.random.default_rng(1).permutation(pages).astype(np.int32).reshape(1, -1)
        out, rows = np.empty_like(query), np.repeat(np.int32([0, 1]), [6, 20])
        arrays = (query, keys, keys[::-1].copy(), np.repeat(tables, 2, axis=0), rows, positions)
        for rounded in (False, True):
            kernels.attention(*arrays, out, rounded=rounded)
            outs.append(out.copy())
    return digest(*outs)


def placed() -> str:
    outs = []
    for head_dim, norms in [(64, None), (80, (normal(80), normal(1, 80)[0])), (6, None)]:
        query, keys = np.empty((40, 9, head_dim), np.float32), np.zeros((7, 8, 3, head_dim), np.float32)
        places = np.random.default_rng(2).permutation(56)[:40].astype(np.int32)
        qkv, values, rotary = normal(40, 15 * head_dim), np.zeros_like(keys), kernels.rotary_tables(99, head_dim, 1e6)
        positions = np.arange(40, dtype=np.int32) * 2
        for rounded in (False, True):
            kernels.place_qkv(
                qkv, places, positions, rotary, query, keys, values, norms=norms, eps=1e-5, rounded=rounded
            )
            outs += [query.copy(), keys.copy(), values.copy()]
    return digest(*outs)


def sums_normed() -> str:
    outs = []
    for rounded in (False, True):
        x, out = normal(40, 1000), np.empty((40, 1000), np.float32)
        kernels.add_rms_norm(x, normal(40, 1000, scale=0.3), normal(1000), 1e-5, out, rounded=rounded)
        outs += [x, out]
    return digest(*outs)


def rounded_rows() -> str:
    normed, activated = np.empty((40, 1000), np.float32), np.empty((40, 3001), np.float32)
    kernels.rms_norm(normal(40, 1000), normal(1000), 1e-5, normed, rounded=True)
    kernels.silu_multiply(normal(40, 6002, scale=30.0), activated, rounded=True)
    return digest(normed, activated)


def rows() -> dict[str, str]:
    x, gate_up = normal(40, 1000, scale=3.0), normal(40, 3001 * 2, scale=30.0)
    rounded, normed, logs, shares = x.copy(), np.empty_like(x), np.empty_like(x), np.empty_like(x)
    activated = np.empty((40, 3001), np.float32)
    kernels.round_bf16(rounded)
    kernels.rms_norm(x, normal(1000), 1e-5, normed)
    kernels.silu_multiply(gate_up, activated)
    kernels.log_softmax(x, logs)
    kernels.softmax(x, shares)
    cosines, sines = kernels.rotary_tables(4096, 80, 1e6)
    turned = normal(40, 5, 80)
    kernels.rotate(turned, np.arange(40, dtype=np.int32) * 100, cosines, sines)
    found = {
        "round_bf16": rounded,
        "rms_norm": normed,
        "silu_multiply": activated,
        "log_softmax": logs,
        "softmax": shares,
    }
    found |= {"rotate": turned, "rotary_tables": cosines + sines, "argmax": kernels.argmax(x)}
    return {name: digest(array) for name, array in found.items()}


def everything() -> dict[str, str]:
    return {
        "linear": linears(),
        "attention": attentions(),
        "place_qkv": placed(),
        "add_rms_norm": sums_normed(),
        "rounded": rounded_rows(),
        **rows(),
    }


if __name__ == "__main__":
    kernels.set_threads(int(sys.argv[1]))
    sys.stdout.write(json.dumps({"path": kernels.instruction_set(), "digests": everything()}))
