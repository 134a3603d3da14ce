"""torch's sums and products as kernels, where torch is installed; it is loaded only when one is asked for.

float32 products are left as torch is set: with TF32 allowed, a GPU rounds factors of float32 to 11 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from temp0.errors import UsageError
from temp0.lab.kernel import Kernel
from temp0.lab.precision import Dtype, Floats, precision

_OPERATIONS: dict[str, tuple[Callable[[Any, Any, Any], Any], bool, bool]] = {
    "torch.linear": (lambda torch, rows, weights: torch.nn.functional.linear(rows, weights), False, False),
    "torch.matmul": (lambda torch, rows, weights: torch.matmul(rows, weights.T.contiguous()), False, False),
    "torch.dot": (lambda torch, rows, weights: torch.dot(rows[0], weights[0]).reshape(1, 1), False, True),
    "torch.sum": (lambda torch, rows, _: torch.sum(rows, dim=1, keepdim=True), True, False),
}
TORCH_KERNELS = tuple(_OPERATIONS)
"""linear keeps weights as [N, K], matmul as [K, N]; libraries choose their kernel by that, too."""


def has_torch() -> bool:
    """Whether torch can be imported."""
    return find_spec("torch") is not None


def torch_kernel(name: str, dtype: str, *, device: str = "cpu") -> Kernel:
    """One of `TORCH_KERNELS` on a device of torch (`cpu`, `cuda`, ...). UsageError where it is not to be had."""
    if not has_torch():
        raise UsageError(f"{name} needs torch, which is not installed here; pip install torch")
    torch: Any = import_module("torch")
    takes = precision(dtype)
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"torch cannot use the device {device!r}: {str(error).splitlines()[0]}") from error
    operation, is_sum, is_lone = _OPERATIONS[name]

    def multiply(rows: Floats, weights: Floats) -> Floats:
        given = (torch.from_numpy(one).to(device=device, dtype=getattr(torch, dtype)) for one in (rows, weights))
        with torch.inference_mode():
            out = operation(torch, *given)
        return _as_numpy(torch, out, takes.name)

    return Kernel(
        name=name if device == "cpu" else f"{name}@{device}",
        dtype=takes.name,
        result=takes.name,
        multiply=multiply,
        is_sum=is_sum,
        is_lone=is_lone,
    )


def _as_numpy(torch: Any, out: Any, dtype: Dtype) -> Floats:
    return np.asarray((out.to(torch.float32) if dtype == "bfloat16" else out).cpu().numpy())
