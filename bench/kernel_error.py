"""Errors of the kernels against float64 as a Markdown table: `python bench/kernel_error.py`.

A dot product's error is divided by |x| |w|, so that it does not hang on how much of the sum cancels; attention's by
the largest value; rms_norm's is in units of the last place (ulp). The seed is fixed: anybody gets the same
table, but for the column of the BLAS, which is the machine's own.
"""

import numpy as np

from temp0 import kernels

SIZES = (64, 256, 576, 1536, 4096, 16384)
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def normal(*shape: int) -> Floats:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def products(size: int) -> tuple[str, str, str]:
    """Relative errors, root mean square and largest: our linear, one chain, numpy's BLAS."""
    x, weight = normal(64, size), normal(256, size)
    exact = x.astype(np.float64) @ weight.astype(np.float64).T
    norms = np.linalg.norm(x.astype(np.float64), axis=1)[:, None] * np.linalg.norm(weight.astype(np.float64), axis=1)
    ours = np.empty(exact.shape, np.float32)
    kernels.linear(x, kernels.pack(weight, dtype="fp32"), ours)
    chain = np.zeros(exact.shape, np.float32)
    for k in range(size):
        chain += x[:, k, None] * weight[None, :, k]
    return tuple(_relative(sums, exact, norms) for sums in (ours, chain, x @ weight.T))


def _relative(sums: Floats, exact: np.ndarray, norms: np.ndarray) -> str:
    errors = np.abs(sums - exact) / norms
    return f"{np.sqrt(np.mean(errors**2)):.1e} ({errors.max():.1e})"


def norm_error(size: int) -> str:
    x, weight = normal(64, size), normal(size)
    out = np.empty_like(x)
    kernels.rms_norm(x, weight, 1e-5, out)
    wide = x.astype(np.float64)
    exact = wide / np.sqrt(np.mean(wide**2, axis=1, keepdims=True) + float(np.float32(1e-5))) * weight
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    return f"{(np.abs(out - exact) / unit).max():.1f}"


def softmax_error(size: int) -> str:
    logits = normal(64, size) * 3
    out = np.empty_like(logits)
    kernels.log_softmax(logits, out)
    wide = logits.astype(np.float64)
    highest = wide.max(axis=1, keepdims=True)
    exact = wide - highest - np.log(np.exp(wide - highest).sum(axis=1, keepdims=True))
    return f"{np.abs(out - exact).max():.1e}"


def attention_error(size: int) -> str:
    query, keys, values = normal(1, 9, 64), normal(1, size, 3, 64), normal(1, size, 3, 64)
    out, zero = np.empty_like(query), np.zeros(1, np.int32)
    kernels.attention(query, keys, values, zero[None], zero, zero + size - 1, out)
    wide = np.repeat(keys[0].astype(np.float64), 3, axis=1), np.repeat(values[0].astype(np.float64), 3, axis=1)
    scores = np.einsum("hd,thd->ht", query[0].astype(np.float64), wide[0]) / 8
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    exact = np.einsum("ht,thd->hd", weights / weights.sum(axis=1, keepdims=True), wide[1])
    return f"{np.abs(out[0] - exact).max() / np.abs(values).max():.1e}"


if __name__ == "__main__":
    print("| K | linear: rms (max) | one chain over K | numpy's BLAS | rms_norm, ulp | log_softmax, nats | attention |")
    print("|---|---|---|---|---|---|---|")
    for k in SIZES:
        print(f"| {k:,} | {' | '.join([*products(k), norm_error(k), softmax_error(k), attention_error(k)])} |")
