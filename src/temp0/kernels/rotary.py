"""Rotary position embedding in its half-split form, with tables of its own.

The tables come from our own sine and cosine in double precision, so no two machines have different ones.
"""

import numpy as np

from temp0.kernels import _native
from temp0.kernels.array import Floats, Integers


def rotary_tables(positions: int, head_dim: int, theta: float) -> tuple[Floats, Floats]:
    """Cosines and sines [positions, head_dim/2] of position * theta^(-2i/head_dim).

    Computed in double and rounded once to float32: within 3e-8 of exact, which is half an ulp, for 3,000 positions.
    ValueError for an odd head_dim, a negative size or theta outside 1 to 1e30.
    Source: Su et al., "RoFormer", 2021.
    """
    if positions < 0 or head_dim < 0 or head_dim % 2:
        raise ValueError(f"positions ({positions}) and head_dim ({head_dim}) must be 0 or more, head_dim even")
    cosines = np.empty((positions, head_dim // 2), np.float32)
    sines = np.empty_like(cosines)
    _native.rotary_tables(theta, cosines, sines)
    return cosines, sines


def rotate(x: Floats, positions: Integers, cosines: Floats, sines: Floats) -> None:
    """Turn x[M,H,Dh] in place by the angles of positions[M], looked up in the tables [P,Dh/2].

    With a the first half of a head and b the second: a becomes fma(a, cos, -(b * sin)), b becomes
    fma(b, cos, a * sin). ValueError for a position outside the tables.
    """
    _native.rotate(x, positions, cosines, sines)


def place_qkv(
    qkv: Floats,
    places: Integers,
    positions: Integers,
    rotary: tuple[Floats, Floats],
    query: Floats,
    keys: Floats,
    values: Floats,
    *,
    norms: tuple[Floats, Floats] | None = None,
    eps: float = 0.0,
    rounded: bool = False,
) -> None:
    """Turn the queries and keys of qkv[M,(Hq+2*Hkv)*Dh]; queries go to query[M,Hq,Dh], keys and values to the cache.

    keys and values [pages,page_size,Hkv,Dh] get row m at places[m], counted in positions of the whole cache; `rotary`
    is the pair of tables for positions[M]. `norms` are the weights [Dh] of a norm of each query and of each key by
    itself. ValueError for a place or position that does not exist, and for a place that two rows have.

    Order: `rms_norm` of a head where there are norms, then `rotate`; `rounded` rounds to bf16 after each of the two.
    Values are copied as they are.
    """
    query_norm, key_norm = norms or (None, None)
    _native.place_qkv(qkv, places, positions, *rotary, query, keys, values, query_norm, key_norm, eps, rounded)
