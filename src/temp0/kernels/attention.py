"""Attention of rows over their own keys in a paged cache.

A row's bits depend on its query and on its own keys and values in order of position: never on the other rows, the
page numbers, the page size, or how a prompt was cut into chunks.
"""

from temp0.kernels import _native
from temp0.kernels.array import Floats, Integers


def attention(
    query: Floats,
    keys: Floats,
    values: Floats,
    tables: Integers,
    rows: Integers,
    positions: Integers,
    out: Floats,
    *,
    rounded: bool = False,
) -> None:
    """Write the attention of query[M,Hq,Dh] over positions 0 to positions[m], that one included, to out[M,Hq,Dh].

    keys and values [pages,page_size,Hkv,Dh] are shared; tables[R,max_pages] lists the pages of a sequence in order,
    and rows[m] names the table of row m. Query head h reads kv head h * Hkv // Hq. Entries of a table beyond the
    last position are not looked at. ValueError for a page, row or position that does not exist. `rounded` gives the
    bits that `round_bf16` would make of out afterwards.

    Order: a score sums over 16 lanes (lane j takes dimensions j, j+16, ... by fused multiply-add), lanes meet in the
    halving tree, then times 1/sqrt(Dh). Weights are exp(score - highest). Their sum: in each block of 128 positions
    lane j adds positions j, j+16, ...; blocks are added in order; lanes meet in the halving tree. Values: in each
    block one chain of fused multiply-adds by position, blocks added in order, then divided by the sum of weights.
    Within 1e-6 of float64, as a fraction of the largest value, for up to 4,096 keys. A NaN, or plus infinity, among
    a row's scores makes that head of the row NaN.
    """
    _native.attention(query, keys, values, tables, rows, positions, out, rounded)
