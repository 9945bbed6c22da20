"""Spanning trees by the library and by others, timed in turns, and the practical limit in high dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesfloor import spanning_forests
from benchmarks.tools.measuring import in_turns, median_seconds, timed

# Rounds in which all take turns.
ROUNDS = 3


def tree_times(
    X: np.ndarray, n_threads: int, more: dict[str, Callable[[], Any]] | None = None
) -> dict[str, list[tuple[float, float]]]:
    """Time one and three trees, one tree of quitefastmst (`peer`) and more ways in turns, after a warm-up."""
    import quitefastmst

    quitefastmst.omp_set_num_threads(n_threads)
    quitefastmst.mst_euclid(X[:1000])
    ways: dict[str, Callable[[], Any]] = {
        "one": lambda: spanning_forests(X, n_trees=1, n_jobs=n_threads, device="cpu"),
        "three": lambda: spanning_forests(X, n_trees=3, n_jobs=n_threads, device="cpu"),
        "peer": lambda: quitefastmst.mst_euclid(X),
    }
    return in_turns(ways | (more or {}), ROUNDS)


def fast_hdbscan_seconds(X: np.ndarray, n_threads: int) -> float:
    """Time fast_hdbscan's dual-tree Boruvka, one tree; made for few dimensions."""
    from fast_hdbscan.boruvka import parallel_boruvka
    from fast_hdbscan.numba_kdtree import build_kdtree

    def build(points: np.ndarray) -> None:
        tree = build_kdtree(np.ascontiguousarray(points))
        parallel_boruvka(tree, n_threads, min_samples=1, sample_weights=np.zeros(1, np.float32), reproducible=False)

    build(X[:2000])
    return median_seconds(lambda: build(X))


def half_pass_seconds(X: np.ndarray) -> float:
    """Time float32 matrix products over all pairs of rows, each pair once: the practical limit in high dimension."""
    rows = X.astype(np.float32)
    size = 2048
    out = np.empty((size, size), np.float32)

    def multiply() -> None:
        for i in range(0, len(rows), size):
            for j in range(i, len(rows), size):
                a, b = rows[i : i + size], rows[j : j + size]
                np.dot(a, b.T, out=out[: len(a), : len(b)] if len(a) == len(b) == size else None)

    return timed(multiply).seconds
