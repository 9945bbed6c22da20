"""Kernels for a GPU, in Triton: distances and the comparison with their bounds in one go.

The same functions as in `torch_kernels`, where they are described.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

from bayesfloor.forest.gpu.rows import FEATURES, ROWS, DeviceLine, Places, Rounded
from bayesfloor.forest.gpu.torch_kernels import signed

if TYPE_CHECKING:
    import numpy as np
    import torch


# Bits of a key that hold a column's place in its block.
PLACE_BITS = 7
# Blocks of one side that programs which run at the same time share.
GROUP = 16
# Pairs that one program measures.
PAIRS = 32
INFINITY = 0x7F800000

_launching = threading.Lock()


@triton.jit
def _squared_distances(
    a, b, norms_a, norms_b, rows_a, rows_b, width, PRECISION: tl.constexpr, ROWS: tl.constexpr, FEATURES: tl.constexpr
):
    features = tl.arange(0, FEATURES)
    at_a = a + rows_a.to(tl.int64)[:, None] * width + features[None, :]
    at_b = b + rows_b.to(tl.int64)[None, :] * width + features[:, None]
    product = tl.zeros((ROWS, ROWS), tl.float32)
    for _ in range(0, width, FEATURES):
        product = tl.dot(tl.load(at_a), tl.load(at_b), product, input_precision=PRECISION)
        at_a += FEATURES
        at_b += FEATURES
    return tl.load(norms_a + rows_a)[:, None] + tl.load(norms_b + rows_b)[None, :] - 2.0 * product


@triton.jit(do_not_specialize=["n_blocks_b", "ahead", "capacity"])
def _candidates(
    a,
    b,
    norms_a,
    norms_b,
    reach_a,
    reach_b,
    slack_a,
    slack_b,
    between,
    n_blocks_b,
    ahead,
    width,
    out_i,
    out_j,
    count,
    capacity,
    WITHIN: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
    GROUP: tl.constexpr,
):
    # programs that run at the same time share rows, which then are in the cache
    program = tl.program_id(0)
    n_blocks_a = tl.num_programs(0) // n_blocks_b
    group = program // (GROUP * n_blocks_b)
    group_size = tl.minimum(n_blocks_a - group * GROUP, GROUP)
    inside = program % (GROUP * n_blocks_b)
    block_a = group * GROUP + inside % group_size
    block_b = inside // group_size
    if WITHIN and block_b < block_a + ahead:
        return
    rows_a = block_a * ROWS + tl.arange(0, ROWS)
    rows_b = block_b * ROWS + tl.arange(0, ROWS)
    d2 = _squared_distances(a, b, norms_a, norms_b, rows_a, rows_b, width, PRECISION, ROWS, FEATURES)
    gap = tl.load(between + block_a.to(tl.int64) * n_blocks_b + block_b)
    limit = tl.maximum(tl.load(reach_a + rows_a)[:, None], tl.load(reach_b + rows_b)[None, :])
    limit = tl.maximum(limit, gap) + tl.load(slack_a + rows_a)[:, None] + tl.load(slack_b + rows_b)[None, :]
    is_near = (d2 <= limit * limit + 1e-35) & (d2 < 3e38)
    if WITHIN:
        is_near = is_near & ((rows_a + ahead * ROWS)[:, None] < rows_b[None, :])
    if tl.max(is_near.to(tl.int32)) == 0:
        return
    place = tl.atomic_add(count + tl.zeros((ROWS, ROWS), tl.int32), 1, mask=is_near, sem="relaxed")
    is_near = is_near & (place < capacity)
    tl.store(out_i + place, tl.broadcast_to(rows_a[:, None], (ROWS, ROWS)), mask=is_near)
    tl.store(out_j + place, tl.broadcast_to(rows_b[None, :], (ROWS, ROWS)), mask=is_near)


@triton.jit(do_not_specialize=["n_slabs", "first_row"])
def _nearest(
    points,
    norms,
    slab_start,
    width,
    out_key,
    out_row,
    n_slabs,
    first_row,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
    PLACE_BITS: tl.constexpr,
    INFINITY: tl.constexpr,
):
    program = tl.program_id(0)
    n_row_blocks = tl.num_programs(0) // n_slabs
    slab = program // n_row_blocks
    rows = first_row + (program % n_row_blocks) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, ROWS)
    best = tl.full((ROWS,), INFINITY, tl.int32)
    best_block = tl.zeros((ROWS,), tl.int32)
    for block in range(tl.load(slab_start + slab), tl.load(slab_start + slab + 1)):
        others = block * ROWS + columns
        d2 = _squared_distances(points, points, norms, norms, rows, others, width, PRECISION, ROWS, FEATURES)
        key = (tl.maximum(d2, 0.0).to(tl.int32, bitcast=True) >> PLACE_BITS << PLACE_BITS) | columns[None, :]
        key = tl.where(rows[:, None] == others[None, :], INFINITY, key)
        least = tl.min(key, axis=1)
        best_block = tl.where(least < best, block, best_block)
        best = tl.minimum(least, best)
    at = (rows - first_row).to(tl.int64) * n_slabs + slab
    tl.store(out_key + at, best)
    tl.store(out_row + at, best_block * ROWS + (best & ((1 << PLACE_BITS) - 1)))


@triton.jit
def _length(x, i, j, n_features, PAIRS: tl.constexpr):
    at_i = x + i.to(tl.int64) * n_features
    at_j = x + j.to(tl.int64) * n_features
    total = tl.zeros((PAIRS,), tl.float64)
    for f in range(n_features):
        difference = tl.load(at_i + f) - tl.load(at_j + f)
        total += difference * difference
    return total


@triton.jit(do_not_specialize=["n", "n_features"])
def _lengths(x, i, j, out, n, n_features, PAIRS: tl.constexpr):
    pairs = tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)
    is_pair = pairs < n
    row_i, row_j = tl.load(i + pairs, mask=is_pair, other=0), tl.load(j + pairs, mask=is_pair, other=0)
    tl.store(out + pairs, _length(x, row_i, row_j, n_features, PAIRS), mask=is_pair)


@triton.jit
def _mix64(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


@triton.jit(do_not_specialize=["n", "n_features", "n_gaps"])
def _decide(
    x,
    hashes,
    key,
    rows_a,
    low_a,
    high_a,
    rows_b,
    low_b,
    high_b,
    table,
    logs,
    line_d2,
    line_hashes,
    i,
    j,
    out_i,
    out_j,
    out_d2,
    count,
    n,
    n_features,
    n_gaps,
    PAIRS: tl.constexpr,
):
    pairs = tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)
    is_pair = pairs < n
    one, other = tl.load(i + pairs, mask=is_pair, other=0), tl.load(j + pairs, mask=is_pair, other=0)
    row_i, row_j = tl.load(rows_a + one), tl.load(rows_b + other)
    d2 = _length(x, row_i, row_j, n_features, PAIRS)
    low = tl.minimum(tl.load(low_a + one), tl.load(low_b + other))
    high = tl.maximum(tl.load(high_a + one), tl.load(high_b + other))
    level = tl.load(logs + (high - low), mask=is_pair, other=0).to(tl.int64)
    first = level * n_gaps
    heaviest = tl.load(table + first + low, mask=is_pair, other=0)
    heaviest = tl.maximum(heaviest, tl.load(table + first + high - (1 << level), mask=is_pair, other=0))
    bound = tl.load(line_d2 + heaviest)
    both = tl.load(hashes + row_i).to(tl.uint64, bitcast=True) + tl.load(hashes + row_j).to(tl.uint64, bitcast=True)
    edge_hash = _mix64(both ^ tl.load(key).to(tl.uint64, bitcast=True))
    comes_first = edge_hash <= tl.load(line_hashes + heaviest).to(tl.uint64, bitcast=True)
    enters = is_pair & ((d2 < bound) | ((d2 == bound) & comes_first))
    place = tl.atomic_add(count + tl.zeros((PAIRS,), tl.int32), 1, mask=enters, sem="relaxed")
    tl.store(out_i + place, one, mask=enters)
    tl.store(out_j + place, other, mask=enters)
    tl.store(out_d2 + place, d2, mask=enters)


@triton.jit(do_not_specialize=["n", "n_features"])
def _hash_rows(x, out, n, n_features, ROW_BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROW_BLOCK + tl.arange(0, ROW_BLOCK)
    is_row = rows < n
    at = x + rows.to(tl.int64) * n_features
    h = tl.full((ROW_BLOCK,), 0x9E3779B97F4A7C15, tl.uint64)
    for f in range(n_features):
        bits = tl.load(at + f, mask=is_row, other=0.0).to(tl.uint64, bitcast=True)
        bits = tl.where(bits == 0x8000000000000000, 0, bits).to(tl.uint64)
        h = (h ^ bits) * 0xFF51AFD7ED558CCD
        h = h ^ (h >> 32)
    tl.store(out + rows, _mix64(h).to(tl.int64, bitcast=True), mask=is_row)


def _launch(kernel: Any, n_programs: int, *arguments: Any, **options: Any) -> None:
    """Start a kernel; Triton's own records of compiled kernels are not made for several threads."""
    with _launching:
        kernel[(n_programs,)](*arguments, **options)


def candidates(
    one: Rounded,
    other: Rounded,
    reach_one: torch.Tensor,
    reach_other: torch.Tensor,
    between: torch.Tensor,
    ahead: int | None,
    capacity: int,
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """See `torch_kernels.candidates`."""
    import torch

    where = one.norms.device
    capacity = min(capacity, len(one.norms) * len(other.norms))
    out_i, out_j = (torch.empty(capacity, dtype=torch.int32, device=where) for _ in range(2))
    count = torch.zeros(1, dtype=torch.int32, device=where)
    n_one, n_other = between.shape
    _launch(
        _candidates,
        n_one * n_other,
        *(one.coordinates, other.coordinates, one.norms, other.norms, reach_one, reach_other, one.slack, other.slack),
        *(between, n_other, ahead or 0, one.coordinates.shape[1], out_i, out_j, count, capacity),
        WITHIN=ahead is not None,
        PRECISION="tf32",
        ROWS=ROWS,
        FEATURES=FEATURES,
        GROUP=GROUP,
        num_warps=4,
        num_stages=3,
    )
    n_found = int(count.item())
    kept = min(n_found, capacity)
    return out_i[:kept].to(torch.int64), out_j[:kept].to(torch.int64), n_found


def nearest(points: Rounded, slab_start: torch.Tensor, first: int, last: int) -> tuple[torch.Tensor, torch.Tensor]:
    """See `torch_kernels.nearest`."""
    import torch

    n_slabs = len(slab_start) - 1
    keys = torch.empty(((last - first) * ROWS, n_slabs), dtype=torch.int32, device=points.norms.device)
    numbers = torch.empty_like(keys)
    _launch(
        _nearest,
        (last - first) * n_slabs,
        *(points.coordinates, points.norms, slab_start, points.coordinates.shape[1], keys, numbers, n_slabs),
        first * ROWS,
        PRECISION="tf32",
        ROWS=ROWS,
        FEATURES=FEATURES,
        PLACE_BITS=PLACE_BITS,
        INFINITY=INFINITY,
        num_warps=4,
        num_stages=3,
    )
    return keys, torch.where(keys < INFINITY, numbers, -1)


def lengths(exact: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """See `torch_kernels.lengths`."""
    import torch

    d2 = torch.empty(len(i), dtype=torch.float64, device=exact.device)
    if len(i):
        # no fused multiplication and addition: the CPU's kernels have none
        n_programs, size = -(-len(i) // PAIRS), (len(i), exact.shape[1])
        _launch(_lengths, n_programs, exact, i, j, d2, *size, PAIRS=PAIRS, num_warps=1, enable_fp_fusion=False)
    return d2


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
    """See `torch_kernels.decide`."""
    import torch

    n, where = len(i), exact.device
    out_i, out_j = torch.empty_like(i), torch.empty_like(j)
    out_d2 = torch.empty(n, dtype=torch.float64, device=where)
    if n == 0:
        return out_i, out_j, out_d2
    count = torch.zeros(1, dtype=torch.int32, device=where)
    key_there = torch.tensor([signed(key)], dtype=torch.int64, device=where)
    _launch(
        _decide,
        -(-n // PAIRS),
        *(exact, hashes, key_there, one.rows, one.low, one.high, other.rows, other.low, other.high),
        *(line.table, line.logs, line.d2, line.hashes, i, j, out_i, out_j, out_d2, count),
        *(n, exact.shape[1], line.n_gaps),
        PAIRS=PAIRS,
        num_warps=1,
        enable_fp_fusion=False,
    )
    kept = int(count.item())
    return out_i[:kept], out_j[:kept], out_d2[:kept]


def hash_rows(exact: torch.Tensor) -> torch.Tensor:
    """Return the rows' hashes, as `runtime.hash_kernels.hash_rows` does."""
    import torch

    hashes = torch.empty(len(exact), dtype=torch.int64, device=exact.device)
    _launch(_hash_rows, -(-len(exact) // PAIRS), exact, hashes, *exact.shape, ROW_BLOCK=PAIRS, num_warps=1)
    return hashes
