"""Fast, different learners: rows with labels in, probabilities of the classes for other rows out.

Learners that share work form a group. A group is a function ``(train, test, seed) -> {name: probability}``; no group is
good everywhere, and the stack (`bayesfloor.floor.stacking`) finds out which are good here::

    gaussian    prior, Ledoit-Wolf LDA, shrunken QDA, Gaussian naive Bayes
    marginals   histogram naive Bayes, LDA of normal scores
    logistic    multinomial logistic regression
    neighbours  k = 5, 15, 50 from one search
    kernels     Nystroem ridge regression with an RBF kernel, three widths from one set of distances
    trees       extremely randomised trees; neighbours and kernel ridge in a space scaled by their importances
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import log_softmax, ndtri, softmax
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.ensemble import ExtraTreesClassifier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Landmarks of the Nystroem method, at the most.
N_LANDMARKS = 400
#: Widths of the kernel, as shares of the median distance between rows.
WIDTHS = (0.25, 0.5, 1.0)
#: Neighbours that vote.
N_NEIGHBORS = (5, 15, 50)
#: Bins of each feature for naive Bayes.
N_BINS = 12
N_TREES = 100
#: Trees between two looks at whether to stop.
_TREES_AT_ONCE = 25


class Train(NamedTuple):
    """Standardised rows to learn from."""

    X: Floats
    codes: Ints
    n_classes: int

    @property
    def counts(self) -> Ints:
        """Rows of each class; a small training set may miss some."""
        return np.bincount(self.codes, minlength=self.n_classes)

    @property
    def prior(self) -> Floats:
        """Shares of the classes, never 0."""
        return (self.counts + 0.5) / (len(self.codes) + 0.5 * self.n_classes)

    @property
    def one_hot(self) -> Floats:
        """Indicator of each row's class."""
        return np.eye(self.n_classes)[self.codes]


Group = Callable[[Train, Floats, int], dict[str, Floats]]


def standardised(X: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Scale training rows to mean 0 and deviation 1, and test rows alike."""
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread[~(spread > 1e-12 * np.abs(centre))] = 1.0
    return (X - centre) / spread, (test - centre) / spread


def safe(probability: Floats, train: Train) -> Floats:
    """Mix in a little of the prior, so that no class is ruled out."""
    share = 1.0 / (len(train.codes) + 1.0)
    total = probability.sum(axis=1, keepdims=True)
    return (1.0 - share) * probability / np.where(total > 0, total, 1.0) + share * train.prior


# --- Gaussian classes


def gaussian(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the prior, LDA, QDA and naive Bayes, from one set of means and covariances."""
    counts, n_features = train.counts, train.X.shape[1]
    means = _class_means(train)
    residuals = train.X - means[train.codes]
    variances = (train.one_hot.T @ residuals**2 + 1e-3 * n_features) / (counts + 1e-3 * n_features)[:, None]
    log_prior = np.log(train.prior)
    naive = np.empty((len(test), train.n_classes))
    for k in range(train.n_classes):
        naive[:, k] = -0.5 * (((test - means[k]) ** 2) / variances[k] + np.log(variances[k])).sum(axis=1)
    return {
        "prior": np.tile(train.prior, (len(test), 1)),
        "LDA": _linear_discriminant(train, test),
        "QDA": softmax(log_prior + _quadratic_scores(train, test, means, residuals), axis=1),
        "Gaussian naive Bayes": softmax(log_prior + naive, axis=1),
    }


def _class_means(train: Train) -> Floats:
    """Return mean rows of the classes; that of a class without rows is the mean of all."""
    sums = train.one_hot.T @ train.X
    counts = train.counts[:, None]
    return np.where(counts > 0, sums / np.maximum(counts, 1), train.X.mean(axis=0))


def _linear_discriminant(train: Train, test: Floats) -> Floats:
    means = _class_means(train)
    factor = _shrunken_factor(train.X - means[train.codes])
    centres = linalg.solve_triangular(factor, means.T, lower=True)
    rows = linalg.solve_triangular(factor, test.T, lower=True)
    scores = rows.T @ centres - 0.5 * (centres**2).sum(axis=0)
    return softmax(scores + np.log(train.prior), axis=1)


def _shrunken_factor(residuals: Floats) -> Floats:
    """Return the Cholesky factor of a Ledoit-Wolf covariance."""
    return linalg.cholesky(_shrunken_covariance(residuals), lower=True)


def _shrunken_covariance(residuals: Floats) -> Floats:
    n, d = residuals.shape
    covariance = residuals.T @ residuals / max(n, 1)
    scale = max(np.trace(covariance) / d, 1e-12)
    share = ledoit_wolf_shrinkage(residuals, assume_centered=True) if n > 1 and d > 1 else 0.0
    share = min(max(share, 1e-6), 1.0)
    covariance *= 1.0 - share
    covariance[np.diag_indices(d)] += share * scale
    return covariance


def _quadratic_scores(train: Train, test: Floats, means: Floats, residuals: Floats) -> Floats:
    """Return log densities of Gaussians whose covariances lean on the common one where a class has few rows."""
    d = train.X.shape[1]
    common = _shrunken_covariance(residuals)
    scores = np.empty((len(test), train.n_classes))
    for k, count in enumerate(train.counts):
        covariance = common
        if count > 2:
            share = count / (count + 0.5 * d + 2.0)
            covariance = share * _shrunken_covariance(residuals[train.codes == k]) + (1.0 - share) * common
        factor = linalg.cholesky(covariance, lower=True)
        rows = linalg.solve_triangular(factor, (test - means[k]).T, lower=True)
        scores[:, k] = -0.5 * (rows**2).sum(axis=0) - np.log(np.diag(factor)).sum()
    return scores


# --- one feature at a time


def marginals(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return naive Bayes of histograms, and LDA of normal scores."""
    n, d = train.X.shape
    ordered = np.sort(train.X, axis=0)
    edges = np.quantile(ordered, np.arange(1, N_BINS) / N_BINS, axis=0, method="nearest")
    log_p = np.tile(np.log(train.prior), (len(test), 1))
    scores_train, scores_test = np.empty_like(train.X), np.empty_like(test)
    ranks = ndtri((np.arange(n) + 0.5) / n)
    for j in range(d):
        cuts = np.unique(edges[:, j])
        bins = np.searchsorted(cuts, train.X[:, j], side="left")
        table = np.zeros((len(cuts) + 1, train.n_classes))
        np.add.at(table, (bins, train.codes), 1.0)
        of_all = (table.sum(axis=1, keepdims=True) + 1.0) / (n + len(table))
        table = (table + 2.0 * of_all) / (train.counts + 2.0)
        log_p += np.log(table / of_all)[np.searchsorted(cuts, test[:, j], side="left")]
        values, first, count = np.unique(ordered[:, j], return_index=True, return_counts=True)
        middle = ranks[np.minimum(first + count // 2, n - 1)]
        scores_train[:, j] = np.interp(train.X[:, j], values, middle)
        scores_test[:, j] = np.interp(test[:, j], values, middle)
    ranked = Train(*standardised(scores_train, scores_test)[:1], train.codes, train.n_classes)
    return {
        "histogram naive Bayes": softmax(log_p, axis=1),
        "LDA of ranks": _linear_discriminant(ranked, standardised(scores_train, scores_test)[1]),
    }


# --- logistic regression


def logistic(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return multinomial logistic regression with a ridge penalty."""
    n, d = train.X.shape
    K, one_hot = train.n_classes, train.one_hot
    start = np.zeros((d + 1, K))
    start[-1] = np.log(train.prior)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(d + 1, K)
        log_p = log_softmax(train.X @ coefficients[:-1] + coefficients[-1], axis=1)
        excess = np.exp(log_p) - one_hot
        gradient = np.concatenate([train.X.T @ excess + coefficients[:-1], excess.sum(axis=0, keepdims=True)])
        value = 0.5 * (coefficients[:-1] ** 2).sum() - (one_hot * log_p).sum()
        return value / n, gradient.ravel() / n

    found = optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-7, "gtol": 1e-5}
    )
    coefficients = found.x.reshape(d + 1, K)
    return {"logistic": softmax(test @ coefficients[:-1] + coefficients[-1], axis=1)}


# --- neighbours and kernels


def squared_distances(A: Floats, B: Floats) -> Floats:
    """Return squared Euclidean distances; both sides are standardised, so the expanded form is accurate enough."""
    distances = (A @ B.T) * -2.0
    distances += (A**2).sum(axis=1)[:, None]
    distances += (B**2).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)


def neighbours(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the votes of 5, 15 and 50 nearest rows."""
    return {f"{k} neighbours": votes for k, votes in _votes(train, test, N_NEIGHBORS).items()}


def _votes(train: Train, test: Floats, numbers: tuple[int, ...]) -> dict[int, Floats]:
    n = len(train.X)
    most = min(max(numbers), n)
    near_codes = np.empty((len(test), most), np.int64)
    for rows in _blocks(len(test), n):
        distances = squared_distances(test[rows].astype(np.float32), train.X.astype(np.float32))
        near = np.argpartition(distances, most - 1, axis=1)[:, :most]
        order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
        near_codes[rows] = train.codes[np.take_along_axis(near, order, axis=1)]
    votes = {}
    for number in numbers:
        k = min(number, most)
        counts = np.zeros((len(test), train.n_classes))
        for column in range(k):
            counts[np.arange(len(test)), near_codes[:, column]] += 1.0
        votes[number] = (counts + train.prior) / (k + 1.0)
    return votes


def _blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Cut rows into blocks of a few million distances."""
    step = max(1, 2_000_000 // max(n_columns, 1))
    return [slice(first, first + step) for first in range(0, n_rows, step)]


def kernels(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernel ridge regression at several widths."""
    return {f"kernel ridge {width}": p for width, p in _kernel_ridge(train, test, seed, WIDTHS).items()}


def _kernel_ridge(train: Train, test: Floats, seed: int, widths: tuple[float, ...]) -> dict[float, Floats]:
    """Regress indicators of the classes on RBF features of random landmarks.

    The penalty is chosen by generalised cross-validation.
    """
    n = len(train.X)
    n_landmarks = min(N_LANDMARKS, max(n // 2, 50))
    landmarks = train.X[np.random.default_rng(seed).permutation(n)[:n_landmarks]]
    to_train, to_test = squared_distances(train.X, landmarks), squared_distances(test, landmarks)
    between = squared_distances(landmarks, landmarks)
    typical = np.median(between[np.triu_indices(len(landmarks), 1)]) if len(landmarks) > 1 else 1.0
    prior = train.counts / n
    targets = train.one_hot - prior
    fitted = {}
    for width in widths:
        scale = -0.5 / max(width**2 * typical, 1e-300)
        kernel = np.exp(scale * between)
        kernel[np.diag_indices(len(landmarks))] += 1e-6
        factor = linalg.cholesky(kernel, lower=True)
        features = np.exp(scale * to_train)
        half = linalg.solve_triangular(factor, features.T @ features, lower=True)
        s, axes = linalg.eigh(linalg.solve_triangular(factor, half.T, lower=True), driver="evd")
        moments = axes.T @ linalg.solve_triangular(factor, features.T @ targets, lower=True)
        s = np.maximum(s, 0.0)
        power = (moments**2).sum(axis=1)
        penalties = np.geomspace(1e-6, 1.0, 19) * n
        shares = s[:, None] / (s[:, None] + penalties)
        residual = (targets**2).sum() - ((2.0 - shares) * power[:, None] / (s[:, None] + penalties)).sum(axis=0)
        gcv = np.maximum(residual, 0.0) / np.maximum(n - 1.0 - shares.sum(axis=0), 1e-9) ** 2
        penalty = penalties[gcv.argmin()]
        solution = axes @ (moments / (s + penalty)[:, None])
        coefficients = linalg.solve_triangular(factor, solution, lower=True, trans="T")
        fitted[width] = np.clip(np.exp(scale * to_test) @ coefficients + prior, 0.5 / (n + 1.0), None)
    return fitted


# --- trees


def trees(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return randomised trees, and neighbours and kernel ridge where features are scaled by their importance."""
    forest_p = np.zeros((len(test), train.n_classes))
    importance = np.zeros(train.X.shape[1])
    for part in range(N_TREES // _TREES_AT_ONCE):
        forest = ExtraTreesClassifier(_TREES_AT_ONCE, min_samples_leaf=3, random_state=(seed + part) % 2**32)
        forest.fit(train.X, train.codes)
        forest_p[:, forest.classes_] += forest.predict_proba(test)
        importance += forest.feature_importances_
    if not importance.max() > 0:
        importance[:] = 1.0
    scale = importance / importance.max()
    scaled = Train(train.X * scale, train.codes, train.n_classes)
    return {
        "trees": forest_p,
        "15 neighbours, scaled": _votes(scaled, test * scale, (15,))[15],
        "kernel ridge, scaled": _kernel_ridge(scaled, test * scale, seed, (0.5,))[0.5],
    }


GROUPS: dict[str, Group] = {
    "gaussian": gaussian,
    "marginals": marginals,
    "logistic": logistic,
    "neighbours": neighbours,
    "kernels": kernels,
    "trees": trees,
}


def group_of(name: str, estimator: Any) -> Group:
    """Make a group of one of a scikit-learn classifier with ``predict_proba``."""

    def learn(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
        fitted = clone(estimator)
        if "random_state" in fitted.get_params(deep=False) and fitted.get_params(deep=False)["random_state"] is None:
            fitted.set_params(random_state=seed % 2**32)
        fitted.fit(train.X, train.codes)
        probability = np.zeros((len(test), train.n_classes))
        probability[:, fitted.classes_] = fitted.predict_proba(test)
        return {name: probability}

    return learn
