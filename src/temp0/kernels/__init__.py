"""Room kernels: fixed-order arithmetic in C++ behind typed numpy functions."""

from temp0.kernels.activation import add_rms_norm, rms_norm, round_bf16, silu_multiply
from temp0.kernels.array import aligned_zeros
from temp0.kernels.attention import attention
from temp0.kernels.choice import argmax, log_softmax, softmax
from temp0.kernels.execution import MOST_THREADS, ORDERS, instruction_set, set_threads, threads, usable_cores
from temp0.kernels.linear import PackedLinear, linear, pack
from temp0.kernels.rotary import place_qkv, rotary_tables, rotate

__all__ = [
    "MOST_THREADS",
    "ORDERS",
    "PackedLinear",
    "add_rms_norm",
    "aligned_zeros",
    "argmax",
    "attention",
    "instruction_set",
    "linear",
    "log_softmax",
    "pack",
    "place_qkv",
    "rms_norm",
    "rotary_tables",
    "rotate",
    "round_bf16",
    "set_threads",
    "silu_multiply",
    "softmax",
    "threads",
    "usable_cores",
]
