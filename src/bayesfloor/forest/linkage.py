"""A spanning tree as a hierarchy of clusters, and as a graph, in the formats of SciPy and networkx."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import F64, I64
from bayesfloor.forest.order.kruskal_kernels import merge_components
from bayesfloor.runtime.kernels import spare_compilation

# Seconds that the interpreter takes for one merge.
PLAIN_MERGE_S = 5e-6


def linkage_of(n_points: int, edges: I64, weights: F64) -> F64:
    """Return the single-linkage hierarchy of a spanning tree, whose edges come lightest first, as SciPy writes it."""
    merges = np.empty((n_points - 1, 4))
    with spare_compilation(PLAIN_MERGE_S * n_points, merge_components):
        merge_components(edges, weights, merges)
    return merges


def sparse_graph(n_points: int, edges: I64, weights: F64) -> Any:
    """Return edges as a symmetric array in CSR format; those of length zero are stored."""
    from scipy.sparse import coo_array

    ends = edges.astype(np.int32)  # what csgraph works with; there are fewer than 2**31 points
    i, j = np.concatenate((ends, ends[:, ::-1])).T
    graph = coo_array((np.concatenate((weights, weights)), (i, j)), shape=(n_points, n_points)).tocsr()
    graph.sort_indices()
    return graph


def networkx_graph(n_points: int, edges: I64, weights: F64, tree: I64) -> Any:
    """Return edges as a graph of networkx, with the attributes weight and tree."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx() needs networkx: pip install networkx", name="networkx") from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(n_points))
    attributes = ({"weight": weight, "tree": t} for weight, t in zip(weights.tolist(), tree.tolist(), strict=True))
    graph.add_edges_from((i, j, known) for (i, j), known in zip(edges.tolist(), attributes, strict=True))
    return graph
