"""How often annotators agree, and what follows for the floor without any model.

For a row with label probabilities p, two annotators agree with probability Σ p². With A the mean of that over rows,

    Σ p² ≤ max p                                  so that the floor is at most 1 - A
    max p ≤ (1 + √((K - 1)(K Σ p² - 1))) / K      which is concave in Σ p², so that the floor is at least 1 - that of A

The first holds with equality where each row is either clear or evenly spread over some classes, the second where all
rows are equally hard and errors are spread evenly.
"""

import numpy as np

from bayesfloor.runtime.arrays import Floats, Ints, Range


def row_agreement(counts: Ints) -> Floats:
    """Return the share of pairs of votes at each row that agree; NaN where there are fewer than two votes."""
    n_votes = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    pairs = n_votes * (n_votes - 1)
    return np.divide(agreeing, pairs, out=np.full(len(counts), np.nan), where=pairs > 0)


def floor_bounds(agreement: float, n_classes: int) -> Range:
    """Return the smallest and the largest floor that go together with an agreement between annotators."""
    inside = max(n_classes * agreement - 1.0, 0.0)
    largest = (1.0 + np.sqrt((n_classes - 1) * inside)) / n_classes
    return float(1.0 - largest), float(min(1.0 - agreement, 1.0 - 1.0 / n_classes))


def clear_at_most(agreement: float, n_classes: int) -> float:
    """Return the largest share of rows on which every annotator can agree, the others being evenly spread."""
    return float(max(1.0 - (1.0 - agreement) * n_classes / (n_classes - 1), 0.0))
