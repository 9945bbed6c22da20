"""The floor: from spanning forests and labels to the lowest error any classifier can reach.

Points of different classes that lie next to each other are where any classifier must err. A
spanning tree visits every point by its shortest links, so the share of its edges that join two
classes, the cross edges, measures how much the classes overlap::

    X, y ── problem ──────── checked points, labels and options
      │
      ├──── (forest) ─────── several edge-disjoint trees, and sums over their edges
      │
      ├──── cross_edges ──── R of the whole problem, of each class, of each pair
      │       uncertainty    its variance and interval; what chance alone would give
      │
      ├──── henze_penrose ── the equations: R ─► bounds, estimate, correction, normalisation
      │
      └──── assembly ─────── records (results) with what was noticed on the way (findings)

The three parts:

- `trees`: the floor from spanning trees, as above. `bayes_error` has the public functions, `estimator` all of them as
  one scikit-learn estimator.
- `learned`: the floor as the limit of what models learn. It is slower, and the number to report first.
- `votes`: the floor from several annotators' labels, or from soft labels.
"""

from bayesfloor.floor.trees.bayes_error import (
    bayes_error,
    henze_penrose_divergence,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
)
from bayesfloor.floor.trees.results import BayesError, HenzePenroseDivergence, OneVsRestBayesError, PairwiseBayesError

__all__ = [
    "BayesError",
    "HenzePenroseDivergence",
    "OneVsRestBayesError",
    "PairwiseBayesError",
    "bayes_error",
    "henze_penrose_divergence",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
]
