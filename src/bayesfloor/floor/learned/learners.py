"""Fast, different learners: rows with labels in, probabilities of the classes for other rows out.

Learners that share work form a group. A group is a function ``(train, test, seed) -> {name: probability}``; no group is
good everywhere, and the stack (`bayesfloor.floor.learned.stacking`) finds out which are good here::

    gaussian    prior, Ledoit-Wolf LDA, shrunken QDA, Gaussian naive Bayes
    clusters    discriminants of 4 and 12 clusters in each class
    marginals   histogram naive Bayes, LDA of normal scores
    logistic    multinomial logistic regression
    neighbours  k = 5, 15, 50 from one search
    kernels     Nystroem ridge regression with an RBF kernel, three widths from one set of distances
    trees       extremely randomised trees; neighbours and kernel ridge in a space scaled by their importances
    tables      boosted trees, and randomised trees of the classes' shares in each category; for tables alone
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize
from scipy.special import log_softmax, ndtri, softmax
from sklearn.base import clone

from bayesfloor.floor.learned.gaussian_learners import N_CLUSTERS, clusters, gaussian, linear_discriminant
from bayesfloor.floor.learned.local_learners import N_NEIGHBORS, WIDTHS, kernels, neighbours, trees
from bayesfloor.floor.learned.table_learners import tables
from bayesfloor.floor.learned.training_rows import Train, narrow, standardised
from bayesfloor.runtime.arrays import Floats

Group = Callable[[Train, Floats, int], dict[str, Floats]]

#: Bins of each feature for naive Bayes, of about equal numbers of rows.
N_BINS = 12


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
    points, others = standardised(scores_train, scores_test)
    return {
        "histogram naive Bayes": softmax(log_p, axis=1),
        "LDA of ranks": linear_discriminant(*narrow(Train(points, train.codes, train.n_classes), others)),
    }


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


#: The learners of each group, by the names that appear in results.
NAMES: dict[str, tuple[str, ...]] = {
    "gaussian": ("prior", "LDA", "QDA", "Gaussian naive Bayes"),
    "clusters": tuple(f"{n_clusters} clusters" for n_clusters in N_CLUSTERS),
    "marginals": ("histogram naive Bayes", "LDA of ranks"),
    "logistic": ("logistic",),
    "neighbours": tuple(f"{k} neighbours" for k in N_NEIGHBORS),
    "kernels": tuple(f"kernel ridge {width}" for width in WIDTHS),
    "trees": ("trees", "15 neighbours, scaled", "kernel ridge, scaled"),
    "tables": ("boosting", "trees of shares"),
}

GROUPS: dict[str, Group] = {
    "gaussian": gaussian,
    "clusters": clusters,
    "marginals": marginals,
    "logistic": logistic,
    "neighbours": neighbours,
    "kernels": kernels,
    "trees": trees,
}

#: Groups that join the others where the rows come from a table.
TABLE_GROUPS: dict[str, Group] = {"tables": tables}


def group_of(name: str, estimator: Any) -> Group:
    """Make a group of one of a scikit-learn classifier with ``predict_proba``."""

    def learn(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
        fitted = clone(estimator)
        if fitted.get_params(deep=False).get("random_state", 0) is None:
            fitted.set_params(random_state=seed % 2**32)
        fitted.fit(train.X, train.codes)
        probability = np.zeros((len(test), train.n_classes))
        probability[:, fitted.classes_] = fitted.predict_proba(test)
        return {name: probability}

    return learn
