"""The floor: from spanning forests and labels to the lowest error any classifier can reach.

Points of different classes that lie next to each other are where any classifier must err. A
spanning tree visits every point by its shortest links, so the share of its edges that join two
classes, the cross edges, measures how much the classes overlap::

    X, y ── problem ──────── checked points, labels and options
      │
      ├──── forest room ──── several edge-disjoint trees, and sums over their edges
      │
      ├──── cross_edges ──── R of the whole problem, of each class, of each pair
      │       uncertainty    its variance and interval; what chance alone would give
      │
      ├──── henze_penrose ── the equations: R ─► bounds, estimate, correction, normalisation
      │
      └──── assembly ─────── records (results) with what was noticed on the way (findings)

`bayes_error` has the public functions and `estimator` all of them as one scikit-learn estimator.

`learned` estimates the floor in another way, as the limit of what models can learn; it is slower, and the number to
lead with. Its own docstring names its parts.

`gaussian` and `densities` hold problems whose floor is known exactly, to test all of this against.
"""

from bayesfloor.floor.trees.bayes_error import (
    bayes_error,
    henze_penrose_divergence,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
)
from bayesfloor.floor.trees.results import (
    BayesError,
    ClassPair,
    HenzePenroseDivergence,
    OneVsRestBayesError,
    PairwiseBayesError,
)
from bayesfloor.runtime.findings import Finding

__all__ = [
    "BayesError",
    "ClassPair",
    "Finding",
    "HenzePenroseDivergence",
    "OneVsRestBayesError",
    "PairwiseBayesError",
    "bayes_error",
    "henze_penrose_divergence",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
]
