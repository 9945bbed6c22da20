"""Rows that look like another class: the ends of cross edges, the least at home first.

A cross edge joins two rows that are near each other and labelled differently. Where all neighbours of one of them
agree with the other's label, its own label is the one to look at.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.forest import Forests

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Added to the number of neighbours in a score, so that a row with few neighbours scores less than one with many.
_PRIOR_NEIGHBOURS = 1.0


class LookAlike(NamedTuple):
    """A row that looks like another class, and the row of that class it is joined to."""

    row: int
    other: int
    looks_like: int  # code of the class
    score: float  # up to 1: how much its neighbours speak for that class, less what speaks for its own
    distance: float


def find_look_alikes(forests: Forests, codes: Ints, n_classes: int, most: int) -> list[LookAlike]:
    """List the rows whose neighbours in the trees speak for another class.

    A neighbour's word counts as much as its own label is confirmed by its other neighbours.

    Parameters
    ----------
    forests : Forests
        Trees of all rows.
    codes : ndarray of shape (n,)
        Classes of the rows.
    n_classes : int
        Number of classes.
    most : int
        How many to list.

    Returns
    -------
    list of LookAlike
        The most suspicious first; each row once.
    """
    i = np.concatenate([forests.edges[:, 0], forests.edges[:, 1]])
    j = np.concatenate([forests.edges[:, 1], forests.edges[:, 0]])
    length = np.concatenate([forests.weights, forests.weights])
    agrees = codes[i] == codes[j]
    degree = np.bincount(i, minlength=forests.n_samples)
    agreeing = np.bincount(i, weights=agrees, minlength=forests.n_samples)
    # how far neighbour j is confirmed by its neighbours other than i
    trust = (agreeing[j] - agrees + 0.5) / degree[j]
    total = np.bincount(i, weights=trust, minlength=forests.n_samples)
    own = np.bincount(i, weights=trust * agrees, minlength=forests.n_samples)
    # the word of all neighbours of one row that are of one class
    key, of_edge = np.unique(i * np.int64(n_classes) + codes[j], return_inverse=True)
    word = np.bincount(of_edge, weights=trust)
    row, label = key // n_classes, key % n_classes
    is_other = label != codes[row]
    score = (word - own[row]) / (total[row] + _PRIOR_NEIGHBOURS)
    candidates = np.flatnonzero(is_other & (score > 0))
    # equal scores: the closer pair first, and then the rows' order, so that the list is always the same
    nearest = _nearest_edge(of_edge, length, len(key))
    order = candidates[np.lexsort((row[candidates], length[nearest[candidates]], -score[candidates]))]
    found: list[LookAlike] = []
    seen: set[int] = set()
    for at in order:
        if len(found) == most:
            break
        if int(row[at]) not in seen:
            seen.add(int(row[at]))
            edge = nearest[at]
            found.append(LookAlike(int(row[at]), int(j[edge]), int(label[at]), float(score[at]), float(length[edge])))
    return found


def _nearest_edge(group: Ints, length: Floats, n_groups: int) -> Ints:
    """Return the shortest edge of each group."""
    order = np.lexsort((length, group))
    first = np.searchsorted(group[order], np.arange(n_groups))
    return order[first]
