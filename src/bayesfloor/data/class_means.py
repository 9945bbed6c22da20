"""How near the means of classes are: the second weight of class trees, which is never 0."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from bayesfloor.runtime.arrays import Floats, Ints

#: Decay with the distance: steep, so that the nearest classes on either side of a cut decide, as for the margin of an
#: SVM; and no steeper, so that second weights differ by more than rounding.
STEEPNESS = 15.0


def nearness_of_means(X: Any, codes: Ints, sample_weight: Floats | None = None) -> Floats:
    """Return exp(-15 d) for every two classes, d the distance of their means as a share of the largest such distance.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Finite points.
    codes : ndarray of shape (n_samples,)
        The class of each row; every class from 0 to the largest has some.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights above zero. A weight of 2 counts as two rows.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        In [0, 1], with a zero diagonal.
    """
    weight = np.ones(len(codes)) if sample_weight is None else sample_weight / sample_weight.max()
    weight /= np.bincount(codes, weight)[codes]
    means = sparse.csr_array((weight, (codes, np.arange(len(codes))))) @ X
    means = means.toarray() if sparse.issparse(means) else means
    distances = pdist(means / (np.abs(means).max() or 1.0))  # so that squares do not overflow
    return squareform(np.exp(-STEEPNESS * distances / (distances.max() or 1.0)))
