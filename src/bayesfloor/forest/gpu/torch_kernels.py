"""What `triton_kernels` computes, by torch alone: for devices without Triton."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bayesfloor.forest.gpu.device import full_precision
from bayesfloor.forest.gpu.rows import ROWS, DeviceLine, Places, Rounded
from bayesfloor.runtime.hash_kernels import GOLDEN, MIX_FACTOR_1, MIX_FACTOR_2, ROW_FACTOR

if TYPE_CHECKING:
    import torch

#: Turns the order of signed integers into that of unsigned ones.
SIGN = -(1 << 63)
#: Distances that are computed at a time.
_BLOCK = 1 << 22
#: Pairs whose lengths are computed at a time.
_PAIRS = 1 << 20


def squared_distances(one: Rounded, other: Rounded) -> torch.Tensor:
    """Return squared distances between rounded points, none of them above the truth."""
    with full_precision():
        product = one.coordinates @ other.coordinates.T
    return one.norms[:, None] + other.norms - 2.0 * product


def candidates(
    one: Rounded,
    other: Rounded,
    reach_one: torch.Tensor,
    reach_other: torch.Tensor,
    between: torch.Tensor,
    ahead: int | None,
    capacity: int,
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return pairs of rows that are within their limit of each other, and how many there are.

    Parameters
    ----------
    one, other : Rounded
        The two sides.
    reach_one, reach_other : tensors
        How far each row looks.
    between : tensor of shape (blocks of one, blocks of other)
        How far two blocks look at least.
    ahead : int or None
        Where both are parts of one list: by how many blocks the first block of `one` is ahead of that of `other`. Then
        only pairs are returned whose first row comes first.
    capacity : int
        Of more pairs, some are returned.
    """
    import torch

    step = max(1, _BLOCK // (ROWS * len(other.norms))) * ROWS
    found_i, found_j, count = [], [], 0
    blocks = torch.arange(len(other.norms), device=other.norms.device) // ROWS
    for start in range(0, len(one.norms), step):
        rows = slice(start, start + step)
        some = Rounded(*(part[rows] for part in one))
        d2 = squared_distances(some, other)
        own = torch.arange(start, start + len(d2), device=d2.device)
        limit = torch.maximum(reach_one[rows, None], reach_other)
        limit = torch.maximum(limit, between.index_select(0, own // ROWS).index_select(1, blocks))
        limit += some.slack[:, None] + other.slack
        is_near = (d2 <= limit * limit + 1e-35) & (d2 < 3e38)
        if ahead is not None:
            is_near &= (own + ahead * ROWS)[:, None] < torch.arange(d2.shape[1], device=d2.device)
        i, j = is_near.nonzero(as_tuple=True)
        count += len(i)
        found_i.append((i + start)[:capacity])
        found_j.append(j[:capacity])
    return torch.cat(found_i)[:capacity], torch.cat(found_j)[:capacity], count


def nearest(points: Rounded, slab_start: torch.Tensor, first: int, last: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return about the nearest other row in each slab, for blocks first..last: how near, and which; -1 for none.

    How near is said by integers that grow with the distance. A slab is some of the blocks, slab_start[s] up to
    slab_start[s + 1].
    """
    import torch

    rows = points.blocks(first, last)
    own = torch.arange(first * ROWS, last * ROWS, device=rows.norms.device)
    keys, numbers = [], []
    starts = slab_start.tolist()
    for start, stop in pairwise(starts):
        d2 = squared_distances(rows, points.blocks(start, stop)).clamp_(min=0.0)
        column = own - start * ROWS
        inside = ((column >= 0) & (column < d2.shape[1])).nonzero().ravel()
        d2[inside, column[inside]] = float("inf")
        least, at = d2.min(dim=1)
        keys.append(least.view(torch.int32))
        numbers.append(torch.where(least < 3e38, at + start * ROWS, -1).to(torch.int32))
    return torch.stack(keys, dim=1), torch.stack(numbers, dim=1)


def hash_rows(exact: torch.Tensor) -> torch.Tensor:
    """Return the rows' hashes, as `runtime.hash_kernels.hash_rows` does."""
    import torch

    bits = (exact + 0.0).view(torch.int64)  # -0.0 is read as 0.0
    h = torch.full((len(exact),), signed(GOLDEN), dtype=torch.int64, device=exact.device)
    for column in bits.T:
        h = (h ^ column) * signed(ROW_FACTOR)
        h ^= shifted(h, 32)
    return mix64(h)


def mix64(z: torch.Tensor) -> torch.Tensor:
    """Scramble 64 bits, as `runtime.hash_kernels.mix64` does."""
    z = (z ^ shifted(z, 30)) * signed(MIX_FACTOR_1)
    z = (z ^ shifted(z, 27)) * signed(MIX_FACTOR_2)
    return z ^ shifted(z, 31)


def shifted(z: torch.Tensor, by: int) -> torch.Tensor:
    """Shift 64 bits to the right; torch itself would repeat the first one."""
    return (z >> by) & ((1 << (64 - by)) - 1)


def signed(value: np.uint64) -> int:
    """Return the same 64 bits as torch counts them."""
    return int(np.uint64(value).astype(np.int64))


def edge_hashes(hashes: torch.Tensor, u: torch.Tensor, v: torch.Tensor, key: np.uint64) -> torch.Tensor:
    """Return the hashes of edges between rows, as `order.hashing.edge_hash` does."""
    return mix64((hashes[u] + hashes[v]) ^ signed(key))


def decide(
    exact: torch.Tensor,
    hashes: torch.Tensor,
    key: np.uint64,
    one: Places,
    other: Places,
    line: DeviceLine,
    i: torch.Tensor,
    j: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return those of some pairs, and their squared lengths, that come before the heaviest edge between their ends."""
    import torch

    row_i, row_j = one.rows[i], other.rows[j]
    heaviest = line.heaviest(torch.minimum(one.low[i], other.low[j]), torch.maximum(one.high[i], other.high[j]))
    d2, bound = lengths(exact, row_i, row_j), line.d2[heaviest]
    comes_first = edge_hashes(hashes, row_i, row_j, key) ^ SIGN <= line.hashes[heaviest] ^ SIGN
    enters = ((d2 < bound) | ((d2 == bound) & comes_first)).nonzero().ravel()
    return i[enters], j[enters], d2[enters]


def lengths(exact: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """Return squared distances between rows, in float64, feature by feature as the strict order has it."""
    import torch

    d2 = torch.zeros(len(i), dtype=torch.float64, device=exact.device)
    columns = exact.T.contiguous() if len(i) * 4 > len(exact) else exact.T
    for start in range(0, len(i), _PAIRS):
        some = slice(start, start + _PAIRS)
        total = d2[some]
        for column in columns:
            difference = column.index_select(0, i[some])
            difference -= column.index_select(0, j[some])
            difference *= difference
            total += difference
    return d2
