"""Rows that are nearly copies of each other, by the shortest edges of a spanning tree.

Rows drawn from a density have edges of all lengths: of the m + 1 shortest, each is about as likely to be anywhere below
the longest, so the m-th is less than a tenth of the next with probability 10^-m in one dimension, and less in more.
Copies that were rounded or measured again are far closer to each other than other rows are, and a gap shows in the
sorted lengths::

    ▏▏▏▏▏▏▏▏▏▏▏                      ▏  ▏ ▏▏ ▏▏▏▏ ▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏ ▏▏▏▏▏ ▏▏   ▏
    └ copies  ┘ └── at least 10 × ──┘└ all other rows, on a logarithmic scale

Dense regions have short edges too. They have many rows each, where copies are few, and there are few of them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding

#: Minimum ratio of the next edge to the longest between copies.
GAP = 10.0
#: Logarithm of the improbability of such a gap among rows of a smooth density: one data set in a million has it.
IMPROBABLE = float(np.log(1e6))
#: Maximum mean number of rows at a place that are copies and not a dense region.
MOST_COPIES = 10.0
#: Minimum number of places per class: with fewer, classes may just lie far apart.
FEWEST_PLACES = 5


@dataclass(frozen=True)
class Copies(Finding):
    """Rows that are copies of others, or nearly so.

    Attributes
    ----------
    share : float
        Of the rows, those that repeat another one: half, where each is there twice.
    """

    share: float = 0.0


def near_copies(edges: Ints, weights: Floats, n_samples: int, n_classes: int) -> Ints | None:
    """Find rows that are nearly copies of each other.

    Parameters
    ----------
    edges : ndarray of shape (n_edges, 2)
        A minimum spanning tree, or more.
    weights : ndarray of shape (n_edges,)
        Lengths of its edges.
    n_samples : int
        Number of rows.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        Rows that are near copies of each other have the same number, from 0; None where there are none.
    """
    lengths = np.sort(weights[weights > 0])
    if len(lengths) < 2:
        return None
    ratio = np.log(lengths[1:]) - np.log(lengths[:-1])
    gaps = np.flatnonzero((ratio >= np.log(GAP)) & (np.arange(1, len(lengths)) * ratio >= IMPROBABLE))
    for gap in gaps[::-1].tolist():
        is_short = (weights > 0) & (weights <= lengths[gap])
        i, j = edges[is_short].T
        graph = coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n_samples, n_samples))
        n_places, place = connected_components(graph, directed=False)
        sizes = np.bincount(place)
        if sizes[sizes > 1].mean() <= MOST_COPIES and n_places >= FEWEST_PLACES * n_classes:
            return place.astype(np.int64)
    return None


def find_near_copies(edges: Ints, weights: Floats, places: Ints, what: str, hint: str) -> Copies:
    """Say how many rows are nearly copies of others, how near they are, and what was made of it."""
    i, j = edges.T
    between = weights[(places[i] != places[j]) & (weights > 0)]
    longest = float(weights[places[i] == places[j]].max())
    how = f"they are at most {longest:.2g} apart there, and all other neighbours at least {float(between.min()):.2g}"
    return said_of_near_copies(places, how, what, hint)


def said_of_near_copies(places: Ints, how: str, what: str, hint: str) -> Copies:
    """Say how many rows are nearly copies of others, in which way, and what was made of it."""
    sizes = np.bincount(places)
    n_rows, n_places = int(sizes[sizes > 1].sum()), int(np.count_nonzero(sizes > 1))
    return Copies(
        "BF038",
        f"{n_rows} of {len(places)} rows are nearly copies of each other, at {n_places} places: {how}. {what}",
        hint,
        1.0 - len(sizes) / len(places),
    )
