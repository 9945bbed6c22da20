"""Classes that are whole numbers in an order: grades, stages, counts.

BF057   classes next to each other are the hardest to tell apart, so that the number may be the better question
"""

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.numbers import MOST_CLASSES
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import shown

#: Fewer classes can be in their order by chance: five have 60 orders, up to their direction.
_FEWEST = 5
#: Share of other orders that fit as well, below which the order is none by chance.
_BY_CHANCE = 0.02
#: Classes whose orders are all looked at, and orders that are drawn where there are more.
_ALL_ORDERS, _N_ORDERS = 6, 999


def find_ordered_classes(classes: NDArray[Any], hardness: Floats, target: str) -> list[Finding]:
    """Find classes that are whole numbers, of which those next to each other are the hardest to tell apart.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    hardness : ndarray of shape (n_classes, n_classes)
        How hard each two are to tell apart.
    target : str
        What the labels are called.

    Returns
    -------
    list of Finding
        BF057, or nothing.
    """
    n = len(classes)
    if classes.dtype.kind not in "iu" or not _FEWEST <= n <= MOST_CLASSES:
        return []
    above = np.triu_indices(n, 1)
    values = hardness[above] - hardness[above].mean()
    if not values.any():
        return []

    def closeness(order: Ints) -> float:
        return -float(values @ np.abs(order[above[0]] - order[above[1]]))

    orders: Any = permutations(range(n))
    if n > _ALL_ORDERS:
        rng = np.random.default_rng(0)
        orders = (rng.permutation(n) for _ in range(_N_ORDERS))
    own = closeness(np.arange(n))
    fitting = [closeness(np.asarray(order)) >= own - 1e-12 for order in orders]
    if (sum(fitting) + (n > _ALL_ORDERS)) / (len(fitting) + (n > _ALL_ORDERS)) > _BY_CHANCE:
        return []
    return [
        Finding(
            "BF057",
            f"The {n} classes of {shown(target)} are whole numbers in an order: those next to each other are the "
            "hardest to tell apart.",
            "Where being off by one is better than being off by two, ask for the number: task='regression' (--task "
            "regression).",
        )
    ]
