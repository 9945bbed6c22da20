"""Joining what a seed graph leaves apart, before a sweep finds the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesfloor.forest.order.arrays import F64, Edges, ForestEdges
from bayesfloor.forest.order.edges import Ends, Task, settle
from bayesfloor.forest.order.kruskal_kernels import component_labels
from bayesfloor.forest.sweep.seed_kernels import chain_edges

# Maximum number of rounds of joining; the sweep finds what is still apart then.
ROUNDS = 4


def chain_components(
    ends: Ends, task: Task, grown: ForestEdges, squared_lengths: Callable[[np.ndarray, np.ndarray], F64]
) -> ForestEdges:
    """Join the components of the last tree by chains of edges, whose squared lengths are measured between copies."""
    for _ in range(ROUNDS):
        last = grown.tree == task.n_trees - 1
        if np.count_nonzero(last) == len(ends) - 1:
            break
        u, v = chain_edges(component_labels(len(ends), grown.u[last], grown.v[last]), 2 * task.n_trees + 4)
        grown = settle(ends, task, grown, [Edges(u, v, squared_lengths(u, v))])
    return grown
