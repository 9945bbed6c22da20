"""Weights for classes that are hard to tell apart, and costs of mistaking one class for another.

With n rows, K classes, n_k rows of class k, and floors as shares of the largest possible one (0 apart, 1 alike)::

    h_k   normalised floor of class k against the rest
    h_kl  normalised floor of classes k and l

    base_k     n / (K n_k)                      ("balanced"), or 1 ("equal")
    cost_kl    base_k (1 + strength · h_kl)     of calling a row of class k class l; 0 for k = l
    weight_k   base_k (1 + strength · h_k)      basis="classes"
               mean of cost_kl over l ≠ k       basis="pairs" (Ting 2002)

Weights are then scaled so that they are 1 on average over the rows: Σ n_k weight_k = n, as for "balanced" ones, and a
classifier's C keeps its meaning. With strength 0 they are the base; with strength s a class that nothing tells from
the others counts 1 + s times as much as one that is apart from all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor import one_vs_rest_bayes_error, pairwise_bayes_error
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_float, check_option
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.results import Result
from bayesfloor.tables.unlabelled import warn_of_left_out


def bayes_class_weight(
    X: Any,
    y: Any = None,
    *,
    strength: float = 1.0,
    basis: str = "classes",
    base: str = "balanced",
    n_trees: int = 3,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> dict[Any, float]:
    """Weigh classes by how hard they are to tell from the others.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or Table
        The points, scaled as you would for neighbours. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,), default=None
        The labels, of any type that can be sorted; left out with a Table.
    strength : float, default=1.0
        How many times its base weight a class that nothing tells from the others gets on top.
    basis : {"classes", "pairs"}, default="classes"
        Whether a class is hard by its floor against the rest, or by the mean of its floors against each other class.
    base : {"balanced", "equal"}, default="balanced"
        What the weights start from: n / (K n_k) as ``class_weight="balanced"`` does, or 1.
    n_trees, n_jobs, device, random_state, progress, client
        As for `bayes_error`.

    Returns
    -------
    dict
        A weight for each label, for ``class_weight=``. They are 1 on average over the rows.

    See Also
    --------
    bayes_cost_matrix : A cost for each pair of classes.

    Notes
    -----
    With two classes both are as hard as each other, and the weights are those of the base.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import bayes_class_weight
    >>> iris = load_iris()
    >>> weights = bayes_class_weight(iris.data, iris.target_names[iris.target])
    >>> {name: round(weight, 2) for name, weight in weights.items()}
    {'setosa': 0.93, 'versicolor': 1.04, 'virginica': 1.03}
    """
    strength = check_float("strength", strength, "[0, inf)")
    check_option("basis", basis, ("classes", "pairs"))
    engine: dict[str, Any] = {"n_trees": n_trees, "n_jobs": n_jobs, "device": device}
    engine |= {"random_state": random_state, "progress": progress, "client": client}
    if basis == "pairs":
        return bayes_cost_matrix(X, y, strength=strength, base=base, **engine).class_weight()
    check_option("base", base, ("balanced", "equal"))
    floors = one_vs_rest_bayes_error(X, y, **engine)
    warn_of_left_out(floors.findings)
    weights = _base(floors.class_counts, base) * (1.0 + strength * floors.normalized)
    return _as_class_weight(floors.classes, floors.class_counts, weights)


@dataclass(frozen=True, eq=False, repr=False)
class CostMatrix(Result, says="classes cost"):
    """What it costs to mistake one class for another.

    `frame` has a row for each pair of different classes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    cost : ndarray of shape (n_classes, n_classes)
        ``cost[k, l]`` is the cost of calling a row of class k class l; zero on the diagonal.
    class_counts : ndarray of shape (n_classes,)
        Rows per class.
    """

    classes: NDArray[Any]
    cost: Floats
    class_counts: Ints

    def class_weight(self) -> dict[Any, float]:
        """Return a weight for each class, in proportion to the mean cost of mistaking it (Ting 2002)."""
        weights = self.cost.sum(axis=1) / (len(self.classes) - 1)
        return _as_class_weight(self.classes, self.class_counts, weights)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each pair of different classes."""
        actual, called = np.nonzero(~np.eye(len(self.classes), dtype=bool))
        return {"class": self.classes[actual], "called": self.classes[called], "cost": self.cost[actual, called]}


@like_input
def bayes_cost_matrix(
    X: Any,
    y: Any = None,
    *,
    strength: float = 1.0,
    base: str = "balanced",
    n_trees: int = 3,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> CostMatrix:
    """Give mistakes between classes a cost: the harder two classes are to tell apart, the higher.

    Parameters
    ----------
    X, y, strength, base, n_trees, n_jobs, device, random_state, progress, client
        As for `bayes_class_weight`.

    Returns
    -------
    CostMatrix
        A cost for every two classes, with ``class_weight()`` and ``frame()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import bayes_cost_matrix
    >>> bayes_cost_matrix(*load_iris(return_X_y=True)).cost.round(2)
    array([[0.  , 1.  , 1.  ],
           [1.  , 0.  , 1.11],
           [1.  , 1.11, 0.  ]])
    """
    strength = check_float("strength", strength, "[0, inf)")
    check_option("base", base, ("balanced", "equal"))
    engine: dict[str, Any] = {"n_trees": n_trees, "n_jobs": n_jobs, "device": device}
    engine |= {"random_state": random_state, "progress": progress, "client": client}
    floors = pairwise_bayes_error(X, y, **engine)
    warn_of_left_out(floors.findings)
    cost = _base(floors.class_counts, base)[:, None] * (1.0 + strength * floors.normalized)
    np.fill_diagonal(cost, 0.0)
    return CostMatrix(floors.classes, cost, floors.class_counts)


def _base(class_counts: Ints, base: str) -> Floats:
    if base == "equal":
        return np.ones(len(class_counts))
    return class_counts.sum() / (len(class_counts) * class_counts.astype(np.float64))


def _as_class_weight(classes: NDArray[Any], class_counts: Ints, weights: Floats) -> dict[Any, float]:
    """Scale weights to 1 on average over the rows."""
    scaled = weights * class_counts.sum() / np.sum(class_counts * weights)
    return dict(zip(classes.tolist(), scaled.tolist(), strict=True))
