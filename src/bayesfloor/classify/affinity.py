"""How much every two classes overlap, and the class tree that is cut from these affinities.

There are three measures, all between 0 (classes apart) and 1 (classes alike):

- ``"henze-penrose"``: the normalised floor of the pair, from spanning forests; assumes nothing about the classes;
- ``"bhattacharyya"``: the Bhattacharyya coefficient of two Gaussians with a common covariance; takes milliseconds;
- ``"class-means"``: how near the classes' means are. It never is 0, however far classes are apart, and so breaks the
  ties of the other two: it is the second weight of every class tree that is cut from data.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.spatial.distance import pdist, squareform

from bayesfloor.classify.training import F64, I64, Training
from bayesfloor.data.class_means import nearness_of_means
from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.forest import ClassForests, class_forests
from bayesfloor.runtime.checks import Progress, check_n_trees, check_option
from bayesfloor.runtime.limits import check_memory
from bayesfloor.tables.arguments import prepared_points
from bayesfloor.tree import ClassTree, build_class_tree
from bayesfloor.tree.build import CUTS, check_graph

AFFINITIES = ("henze-penrose", "bhattacharyya", "class-means")

#: Maximum deviation within classes, as a share of its range, of a feature that counts as constant within them.
_CONSTANT = 1e-10


def class_affinity(
    X: Any,
    y: Any = None,
    *,
    affinity: Any = "henze-penrose",
    n_trees: int = 3,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: bool | Progress = False,
    client: Any = None,
) -> tuple[NDArray[Any], F64]:
    """Measure how much every two classes overlap.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or Table
        The points. A `Table` from `read_table` has its labels with it.
    y : array-like of shape (n_samples,), default=None
        The labels; left out with a Table.
    affinity : {"henze-penrose", "bhattacharyya", "class-means"} or array-like of shape (n_classes, n_classes), \
default="henze-penrose"
        The measure, or its values: symmetric, finite and not negative. Their diagonal is not read.
    n_trees, n_jobs, device, random_state, progress, client
        As for `pairwise_bayes_error`; read by "henze-penrose" only.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    matrix : ndarray of shape (n_classes, n_classes)
        Symmetric, with a zero diagonal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor.classify.affinity import class_affinity
    >>> classes, matrix = class_affinity(*load_iris(return_X_y=True), affinity="bhattacharyya")
    >>> matrix.round(3).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.115], [0.0, 0.115, 0.0]]
    """
    X, y = prepared_points(X, y)
    X = check_points(X)
    classes, codes = check_labels(y, len(X))
    options = {"n_trees": n_trees, "n_jobs": n_jobs, "device": device, "random_state": random_state}
    matrix = affinity_matrix(X, codes, classes, affinity, progress=progress, client=client, **options)
    return classes, matrix


def affinity_matrix(
    X: Any,
    codes: I64,
    classes: NDArray[Any],
    affinity: Any,
    *,
    sample_weight: F64 | None = None,
    **forest_options: Any,
) -> F64:
    """Do the work of `class_affinity` for classes that are known as codes.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The points; not read where the affinities are given.
    codes : ndarray of shape (n_samples,)
        The class of each row; every class has some.
    classes : ndarray of shape (n_classes,)
        The labels.
    affinity : str or array-like of shape (n_classes, n_classes)
        As for `class_affinity`.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        How often each row counts in means and covariances. Spanning forests count rows, whatever their weight.
    **forest_options
        Options of `class_forests`, read by "henze-penrose" only.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    if not isinstance(affinity, str):
        return check_graph("affinity", affinity, classes)[1]
    check_option("affinity", affinity, AFFINITIES, " or an array of shape (n_classes, n_classes)")
    if affinity == "class-means":
        return nearness_of_means(X, codes, sample_weight)
    points = check_points(X)
    if affinity == "bhattacharyya":
        n, d = points.shape
        check_memory(8 * (3 * n * d + 3 * min(d, n + len(classes)) ** 2), f"the covariance of {n} rows, {d} features,")
        return bhattacharyya_coefficients(points, codes, sample_weight)
    return normalized_floors(class_forests(points, codes, **forest_options))


def cut_class_tree(
    training: Training, tree: Any, affinity: Any, *, n_trees: int, n_jobs: int | None, seed: int
) -> tuple[ClassTree, F64 | None]:
    """Return the class tree, and the affinities it was cut from.

    Parameters
    ----------
    training : Training
        The training set.
    tree : str, ClassTree or nested lists
        How to cut it, or the tree itself; its classes must be those of the training set.
    affinity, n_trees, n_jobs
        As for `class_affinity`.
    seed : int
        Seed of ties between distances.

    Returns
    -------
    tree : ClassTree
    affinities : ndarray of shape (n_classes, n_classes) or None
        None when the tree was given.
    """
    classes = training.classes
    n_trees = check_n_trees(n_trees)  # whether it is needed or not
    if isinstance(tree, ClassTree):
        if np.array_equal(tree.classes, classes):
            return tree, None
        return build_class_tree(None, classes, cut=tree.to_nested()), None
    if not isinstance(tree, str):
        return build_class_tree(None, classes, cut=tree), None
    check_option("tree", tree, list(CUTS), ", a ClassTree or nested lists of labels")  # before floors are computed
    options = {"n_trees": n_trees, "n_jobs": n_jobs, "random_state": seed}
    rows, codes, weight = training.X, training.codes, training.sample_weight
    affinities = affinity_matrix(rows, codes, classes, affinity, sample_weight=weight, **options)
    second = nearness_of_means(rows, codes, weight)
    return build_class_tree(affinities, classes, cut=tree, tie_weights=second), affinities


def normalized_floors(forests: ClassForests) -> F64:
    """Return the floor of every pair of classes, bias-corrected, as a share of the largest possible one.

    What `pairwise_bayes_error` gives as ``normalized``, without its intervals and findings: equations (3) to (9) of the
    paper, forced edges dropped.

    Parameters
    ----------
    forests : ClassForests
        The forests of all pairs.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    sums = forests.pair_edge_sums
    first, second = np.triu_indices(len(forests.classes), 1)
    counts = forests.class_counts.astype(np.float64)
    n_points = counts[first] + counts[second]
    smaller_prior = np.minimum(counts[first], counts[second]) / n_points
    forced = sums.n_spanning * (sums.n_components - 1.0)
    cross = np.maximum(sums.cross - forced, 0.0)
    # The share of cross edges among all edges, so that trees that do not span count for what they have.
    per_tree = cross * (n_points - 1.0) / np.maximum(sums.total, 1.0)
    per_tree = hp.corrected_cross_edges(per_tree, hp.gamma(n_points, smaller_prior))
    floors = np.zeros((len(counts), len(counts)))
    shares = hp.normalized(hp.estimate(hp.u_from_cross_edges(per_tree, n_points)), smaller_prior)
    floors[first, second] = np.minimum(shares, 1.0)  # rounding
    return floors + floors.T


def bhattacharyya_coefficients(X: F64, codes: I64, sample_weight: F64 | None = None) -> F64:
    """Return exp(-D) for every two classes, D = (m1 - m2)' S^-1 (m1 - m2) / 8 with S pooled within all classes.

    One covariance for all pairs takes one matrix product and one factorisation. Features are scaled to unit variance
    within the classes, and S is drawn towards the identity as far as the oracle approximating shrinkage says (Chen,
    Wiesel, Eldar and Hero 2010), so that collinear features, classes of one row and more features than rows are no
    obstacle. With many rows that changes next to nothing.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
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
    order = np.argsort(codes, kind="stable")
    codes, points = codes[order], X[order]
    weight = np.ones(len(codes)) if sample_weight is None else sample_weight[order]
    total = float(weight.sum())
    starts = np.flatnonzero(np.diff(codes, prepend=-1))

    # Division by the largest value keeps squares from overflowing, and centring keeps an offset from drowning the rest.
    largest = np.abs(points).max(axis=0)
    points /= np.where(largest > 0, largest, 1.0)
    points -= points.mean(axis=0)
    extent = np.abs(points).max(axis=0)
    if not extent.all():
        points, extent = points[:, extent > 0], extent[extent > 0]
    means = np.add.reduceat(weight[:, None] * points, starts) / np.add.reduceat(weight, starts)[:, None]
    residuals = points
    residuals -= means[codes]
    residuals *= np.sqrt(weight / total)[:, None]
    deviation = np.sqrt(np.einsum("ij,ij->j", residuals, residuals))
    varies = deviation > _CONSTANT * extent
    scale = np.where(varies, deviation, _CONSTANT * extent)
    means /= scale
    residuals /= scale

    if residuals.shape[1] == 0:  # all rows are identical
        return 1.0 - np.eye(len(means))
    if residuals.shape[1] > len(means) + len(residuals):  # the same inner products in fewer coordinates
        triangle: Any = np.linalg.qr(np.concatenate((means, residuals)).T, mode="r")
        means, residuals = triangle.T[: len(means)], triangle.T[len(means) :]
    covariance = residuals.T @ residuals
    _shrink(covariance, total, max(int(np.count_nonzero(varies)), 1))
    whitened = solve_triangular(cholesky(covariance, lower=True), means.T, lower=True).T
    return squareform(np.exp(-pdist(whitened, "sqeuclidean") / 8.0))


def _shrink(covariance: F64, n: float, d: int) -> None:
    """Draw the covariance of n rows in d features of unit variance towards the identity, in place."""
    trace, squares = float(np.trace(covariance)), float(np.sum(covariance**2))
    unevenness = squares - trace**2 / d
    wanted = (1.0 - 2.0 / d) * squares + trace**2
    available = (n + 1.0 - 2.0 / d) * unevenness
    share = min(1.0, wanted / available) if available > 0 else 1.0
    covariance *= 1.0 - share
    covariance[np.diag_indices_from(covariance)] += share
