"""Discriminants: classes that are Gaussian, or made of Gaussian clusters, and logistic regression."""

import numpy as np
from scipy import linalg, optimize
from scipy.special import softmax

from bayesfloor.learn.later import beside, of_rows, repeated
from bayesfloor.learn.ridge import linear_targets
from bayesfloor.learn.training_rows import Train, narrow, squared_distances
from bayesfloor.runtime.arrays import Floats, Ints

#: Clusters of each class, for a coarse and a fine mixture.
N_CLUSTERS = (4, 12)
#: Features above which QDA and clusters take random combinations, and how many. Each class has a covariance of its own
#: to factorise, or rows to compare with every centre ten times.
WIDE, N_OF_WIDE = 256, 128


def gaussian(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the prior, LDA, QDA and naive Bayes."""
    log_prior = np.log(train.prior)
    return train.asked_for({
        "prior": lambda: repeated(test, train.prior),
        "LDA": lambda: linear_discriminant(*narrow(train, test)),
        "QDA": lambda: shares_of(log_prior + _quadratic_scores(*narrow(train, test, WIDE, N_OF_WIDE))),
        "Gaussian naive Bayes": lambda: shares_of(log_prior + _naive_scores(train, test)),
    })  # fmt: skip


@of_rows
def shares_of(scores: Floats) -> Floats:
    """Return probabilities from their logarithms, up to a term of each row."""
    return np.asarray(softmax(scores, axis=1))


def _naive_scores(train: Train, test: Floats) -> Floats:
    """Return log densities of Gaussians whose features are independent, up to a constant."""
    counts, n_features = train.counts, train.X.shape[1]
    means = class_means(train)
    residuals = train.X - means[train.codes]
    variances = (train.one_hot.T @ residuals**2 + 1e-3 * n_features) / (counts + 1e-3 * n_features)[:, None]
    return _naive_densities(test, means, variances)


@of_rows
def _naive_densities(test: Floats, means: Floats, variances: Floats) -> Floats:
    scores = np.empty((len(test), len(means)))
    for k in range(len(means)):
        scores[:, k] = -0.5 * (((test - means[k]) ** 2) / variances[k] + np.log(variances[k])).sum(axis=1)
    return scores


def class_means(train: Train) -> Floats:
    """Return mean rows of the classes; that of a class without rows is the mean of all."""
    sums = train.one_hot.T @ train.X
    counts = train.counts[:, None]
    return np.where(counts > 0, sums / np.maximum(counts, 1), train.X.mean(axis=0))


def linear_discriminant(train: Train, test: Floats) -> Floats:
    """Return probabilities of Gaussian classes with a common covariance."""
    means = class_means(train)
    factor = _shrunken_factor(train.X - means[train.codes])
    return shares_of(_linear_scores(factor, means, test) + np.log(train.prior))


def _linear_scores(factor: Floats, means: Floats, test: Floats) -> Floats:
    """Return log densities of Gaussians with a common covariance, up to a term of each row."""
    weights = linalg.cho_solve((factor, True), means.T)
    return linear_targets(test, weights, -0.5 * (means.T * weights).sum(axis=0))


def _shrunken_factor(residuals: Floats) -> Floats:
    """Return the Cholesky factor of a Ledoit-Wolf covariance."""
    return linalg.cholesky(_shrunken_covariance(residuals), lower=True)


def _shrunken_covariance(residuals: Floats) -> Floats:
    """Return the covariance of centred rows, drawn to a multiple of the identity (Ledoit and Wolf 2004)."""
    n, d = residuals.shape
    covariance = residuals.T @ residuals / max(n, 1)
    scale = max(np.trace(covariance) / d, 1e-12)
    share = min(max(_shrinkage(residuals, covariance), 1e-6), 1.0) if n > 1 and d > 1 else 1e-6
    covariance *= 1.0 - share
    covariance[np.diag_indices(d)] += share * scale
    return covariance


def _shrinkage(residuals: Floats, covariance: Floats) -> float:
    """Return Ledoit and Wolf's share of the identity, as scikit-learn does, from a covariance that is known."""
    n, d = residuals.shape
    scale = float(np.trace(covariance)) / d
    squares = float((covariance**2).sum())
    noise = float((((residuals**2).sum(axis=1)) ** 2).sum()) / n - squares
    distance = (squares - d * scale**2) / d
    noise = min(noise / (d * n), distance)
    return noise / distance if noise > 0 else 0.0


def _quadratic_scores(train: Train, test: Floats) -> Floats:
    """Return log densities of Gaussians; covariances are shrunk to the common one where a class has few rows."""
    d = train.X.shape[1]
    means = class_means(train)
    residuals = train.X - means[train.codes]
    common = _shrunken_covariance(residuals)
    scores = []
    for k, count in enumerate(train.counts):
        covariance = common
        if count > 2:
            share = count / (count + 0.5 * d + 2.0)
            covariance = share * _shrunken_covariance(residuals[train.codes == k]) + (1.0 - share) * common
        scores.append(_density(test, means[k], linalg.cholesky(covariance, lower=True)))
    return beside(*scores)


@of_rows
def _density(test: Floats, mean: Floats, factor: Floats) -> Floats:
    """Return log densities of a Gaussian, up to a constant, from its mean and the Cholesky factor of its covariance."""
    rows = linalg.solve_triangular(factor, (test - mean).T, lower=True)
    return np.asarray(-0.5 * (rows**2).sum(axis=0) - np.log(np.diag(factor)).sum())


# --- several Gaussians in each class


def clusters(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return discriminants of classes that are mixtures: of clusters with a common covariance."""
    wanted = [n_clusters for n_clusters in N_CLUSTERS if train.wants(f"{n_clusters} clusters")]
    if not wanted:
        return {}
    train, test = narrow(train, test, WIDE, N_OF_WIDE)
    return {f"{n} clusters": _mixture(train, test, n, np.random.default_rng((seed, n))) for n in wanted}


def _mixture(train: Train, test: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return probabilities of classes that are mixtures of clusters with a common covariance."""
    centres, shares, of_class, residuals = [], [], [], np.empty_like(train.X)
    for k in range(train.n_classes):
        rows = np.flatnonzero(train.codes == k)
        if not len(rows):
            continue
        means, nearest = _k_means(train.X[rows], min(n_clusters, max(1, len(rows) // 5)), rng)
        residuals[rows] = train.X[rows] - means[nearest]
        centres.append(means)
        shares.append(np.bincount(nearest, minlength=len(means)) / len(train.X))
        of_class.append(np.full(len(means), k))
    factor = _shrunken_factor(residuals)
    log_share = np.log(np.maximum(np.concatenate(shares), 1e-300))
    responsibility = shares_of(_linear_scores(factor, np.concatenate(centres), test) + log_share)
    return responsibility @ np.eye(train.n_classes)[np.concatenate(of_class)]


def _k_means(X: Floats, n_clusters: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Return centres of clusters and the nearest of them to each row, by Lloyd's method from k-means++ starts."""
    centres = X[rng.integers(len(X), size=1)]
    distance = squared_distances(X, centres)[:, 0]
    for _ in range(n_clusters - 1):
        total = distance.sum()
        p = distance / total if total > 0 else None
        centres = np.concatenate([centres, X[rng.choice(len(X), size=1, p=p)]])
        distance = np.minimum(distance, squared_distances(X, centres[-1:])[:, 0])
    nearest = squared_distances(X, centres).argmin(axis=1)
    for _ in range(10):
        members = np.eye(n_clusters)[nearest]
        counts = members.sum(axis=0)
        centres = np.where(counts[:, None] > 0, members.T @ X / np.maximum(counts, 1)[:, None], centres)
        before, nearest = nearest, squared_distances(X, centres).argmin(axis=1)
        if np.array_equal(before, nearest):  # and so they stay
            break
    return centres, nearest


#: Most steps of logistic regression, the fewest, and the numbers that all steps may look at.
MOST_ITERATIONS, FEWEST_ITERATIONS, NUMBERS_SEEN = 60, 40, 60_000_000


def logistic(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return multinomial logistic regression with a ridge penalty."""
    return train.asked_for({"logistic": lambda: fit_logistic(train.X, train, test)})


def fit_logistic(X: Floats, train: Train, test: Floats) -> Floats:
    """Regress the classes on features; return probabilities of other rows."""
    n, d = X.shape
    rows, labels = np.ascontiguousarray(X, np.float32), (np.arange(n), train.codes)
    start = np.zeros((d + 1, train.n_classes))
    start[-1] = np.log(train.prior)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(start.shape)
        scores = rows @ coefficients[:-1].astype(np.float32) + coefficients[-1].astype(np.float32)
        scores -= scores.max(axis=1, keepdims=True)
        at_label = float(scores[labels].sum(dtype=np.float64))
        error = np.exp(scores, out=scores)
        total = error.sum(axis=1, keepdims=True)
        value = 0.5 * (coefficients[:-1] ** 2).sum() + float(np.log(total).sum(dtype=np.float64)) - at_label
        error /= total
        error[labels] -= 1.0
        gradient = np.concatenate([rows.T @ error + coefficients[:-1], error.sum(axis=0, keepdims=True)])
        return value / n, gradient.ravel() / n

    n_iterations = max(FEWEST_ITERATIONS, min(MOST_ITERATIONS, NUMBERS_SEEN // max(X.size, 1)))
    found = optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": n_iterations, "ftol": 3e-6, "gtol": 1e-5}
    )
    coefficients = found.x.reshape(start.shape)
    return shares_of(linear_targets(test, coefficients[:-1], coefficients[-1]))
