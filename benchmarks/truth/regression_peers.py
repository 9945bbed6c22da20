"""Other estimators of the noise variance and of the best R², for regression_truth.py.

Each takes points of equal scale and numbers, and returns the best R² with an interval at 95%.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors

Array = NDArray[np.float64]
Answer = tuple[float, float, float]
#: Neighbours of the Gamma test, the usual number.
GAMMA_NEIGHBOURS = 10


def points_of(X: Any) -> Array:
    """Return columns of mean 0 and variance 1; a nominal column becomes one for each of its levels."""
    if hasattr(X, "columns"):
        import pandas as pd

        X = pd.get_dummies(X)
    X = np.asarray(X, float)
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def best_model(X: Array, y: Array) -> Answer:
    """Cross-validate four models with their usual settings and return the best, as if it had been the only one."""
    models = (
        RidgeCV(np.geomspace(0.01, 1e4, 13)),
        KNeighborsRegressor(10),
        ExtraTreesRegressor(100, min_samples_leaf=2, max_features=1 / 3, random_state=0),
        HistGradientBoostingRegressor(random_state=0),
    )
    folds = KFold(5, shuffle=True, random_state=0)
    errors = [(y - cross_val_predict(model, X, y, cv=folds)) ** 2 for model in models]
    return _of_terms(min(errors, key=np.mean), np.arange(len(y))[:, None], y)


def nearest_neighbour(X: Array, y: Array) -> Answer:
    """E y² less the mean product of y with that of the nearest row (Devroye, Györfi, Lugosi and Walk 2018)."""
    near = _nearest(X, 1)[1]
    centred = y - y.mean()
    return _of_terms(centred * (centred - centred[near[:, 0]]), np.column_stack([np.arange(len(y)), near]), y)


def rice(X: Array, y: Array) -> Answer:
    """Half the mean squared difference to the nearest row (Rice 1984, with neighbours in place of an order)."""
    near = _nearest(X, 1)[1]
    return _of_terms((y - y[near[:, 0]]) ** 2 / 2, np.column_stack([np.arange(len(y)), near]), y)


def products(X: Array, y: Array) -> Answer:
    """Mean product of the differences to the two nearest rows (Liitiäinen, Corona and Lendasse 2008)."""
    near = _nearest(X, 2)[1]
    return _of_terms((y - y[near[:, 0]]) * (y - y[near[:, 1]]), np.column_stack([np.arange(len(y)), near]), y)


def gamma_test(X: Array, y: Array) -> Answer:
    """Half mean squared differences against mean squared distances of the k-th neighbours, at distance 0.

    The interval is that of the intercept (Stefánsson, Končar and Jones 1997; Evans and Jones 2002).
    """
    distances, near = _nearest(X, GAMMA_NEIGHBOURS)
    delta = (distances**2).mean(axis=0)
    gamma = ((y[:, None] - y[near]) ** 2).mean(axis=0) / 2
    design = np.column_stack([np.ones_like(delta), delta])
    coefficients, *_ = np.linalg.lstsq(design, gamma)
    residual = gamma - design @ coefficients
    error = np.sqrt(residual @ residual / (len(delta) - 2) * np.linalg.pinv(design.T @ design)[0, 0])
    return _as_r2(coefficients[0], error, y)


PEERS: dict[str, Callable[[Array, Array], Answer]] = {
    "best cross-validated model": best_model,
    "1-NN (Devroye)": nearest_neighbour,
    "Gamma test": gamma_test,
    "Rice differences": rice,
    "products of differences": products,
}


def _nearest(X: Array, k: int) -> tuple[Array, NDArray[np.int64]]:
    return NearestNeighbors(n_neighbors=min(k, len(X) - 1)).fit(X).kneighbors()


def _of_terms(terms: Array, rows: NDArray[np.int64], y: Array) -> Answer:
    """Return the answer for a mean of terms; those that share a row are not independent."""
    n = len(terms)
    joined = sparse.csr_array((np.ones(rows.size), rows.ravel(), np.arange(0, rows.size + 1, rows.shape[1])), (n, n))
    shared = (joined @ joined.T).sign()
    centred = terms - terms.mean()
    variance = max(float(centred @ (shared @ centred)), float(centred @ centred)) / n**2
    return _as_r2(terms.mean(), np.sqrt(variance), y)


def _as_r2(noise: float, error: float, y: Array) -> Answer:
    ends = noise, noise + 1.96 * error, noise - 1.96 * error
    estimate, low, high = (float(np.clip(1 - each / y.var(), 0.0, 1.0)) for each in ends)
    return estimate, low, high
