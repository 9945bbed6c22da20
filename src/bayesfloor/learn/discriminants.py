"""Discriminants: classes that are Gaussian, or made of Gaussian clusters, and logistic regression."""

from collections.abc import Callable

import numpy as np
from scipy import linalg, optimize
from scipy.special import softmax

from bayesfloor.learn.learner import Constant, Fitted, InSpace, Learner, Output, Rows, Together
from bayesfloor.learn.records import record
from bayesfloor.learn.ridge import linear_targets
from bayesfloor.learn.training_rows import Projected, Train, by_blocks, product, squared_distances
from bayesfloor.runtime.arrays import Floats, Ints

#: Clusters of each class, for a coarse and a fine mixture.
N_CLUSTERS = (4, 12)
#: Features above which QDA and clusters take random combinations, and how many. Each class has a covariance of its own
#: to factorise, or rows to compare with every centre ten times.
WIDE, N_OF_WIDE = 256, 128


class Gaussians(Learner):
    """The prior, LDA, QDA and naive Bayes."""

    name = "gaussian"
    outputs = tuple(Output(name) for name in ("prior", "LDA", "QDA", "Gaussian naive Bayes"))

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Estimate means and covariances."""
        learned: dict[str, Callable[[], Fitted]] = {
            "prior": lambda: Constant(("prior",), train.prior, True),
            "LDA": lambda: linear_discriminant("LDA", train),
            "QDA": lambda: in_fewer(train, QuadraticShares.of_train, WIDE, N_OF_WIDE),
            "Gaussian naive Bayes": lambda: NaiveShares.of_train(train),
        }
        return Together(tuple(learn() for name, learn in learned.items() if name in requested))


def in_fewer(train: Train, learn: Callable[[Train], Fitted], *most: int) -> Fitted:
    """Learn from random combinations of features where these are very many; `most` as in `Projected.to_fewer`."""
    space = Projected.to_fewer(train.X.shape[1], *most)
    return InSpace(space, learn(train._replace(X=space.of(train.X), table=None)))


def shares_of(scores: Floats) -> Floats:
    """Return probabilities from their logarithms, up to a term of each row."""
    return np.asarray(softmax(scores, axis=1))


@record
class NaiveShares(Fitted):
    """Probabilities of Gaussian classes whose features are independent.

    Attributes
    ----------
    log_prior : ndarray of shape (n_classes,)
        Logarithms of the classes' shares.
    means, variances : ndarray of shape (n_classes, d)
        Of the features in each class.
    """

    log_prior: Floats
    means: Floats
    variances: Floats

    @classmethod
    def of_train(cls, train: Train) -> "NaiveShares":
        """Estimate variances, drawn towards 1."""
        counts, n_features = train.counts, train.X.shape[1]
        means = class_means(train)
        residuals = train.X - means[train.codes]
        variances = (train.one_hot.T @ residuals**2 + 1e-3 * n_features) / (counts + 1e-3 * n_features)[:, None]
        return cls(np.log(train.prior), means, variances)

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        scores = np.empty((len(rows.X), len(self.means)))
        for k, (mean, variance) in enumerate(zip(self.means, self.variances, strict=True)):
            scores[:, k] = -0.5 * (((rows.X - mean) ** 2) / variance + np.log(variance)).sum(axis=1)
        return {"Gaussian naive Bayes": shares_of(self.log_prior + scores)}


def class_means(train: Train) -> Floats:
    """Return mean rows of the classes; that of a class without rows is the mean of all."""
    sums = train.one_hot.T @ train.X
    counts = train.counts[:, None]
    return np.where(counts > 0, sums / np.maximum(counts, 1), train.X.mean(axis=0))


@record
class ClusterShares(Fitted):
    """Probabilities of classes that are mixtures of Gaussians with a common covariance.

    Attributes
    ----------
    name : str
        Of the output.
    weights : ndarray of shape (n_clusters, d)
        Of the features, in the log density of each Gaussian; a line for each, as files keep lines.
    offset : ndarray of shape (n_clusters,)
        Added to their products.
    log_share : ndarray of shape (n_clusters,)
        Logarithms of the Gaussians' shares.
    members : ndarray of shape (n_clusters, n_classes)
        Indicator of the class of each.
    """

    name: str
    weights: Floats
    offset: Floats
    log_share: Floats
    members: Floats

    @classmethod
    def of_centres(
        cls, name: str, centres: Floats, residuals: Floats, log_share: Floats, members: Floats
    ) -> "ClusterShares":
        """Take a Ledoit-Wolf covariance of what rows differ from their centres by."""
        factor = linalg.cholesky(_shrunken_covariance(residuals), lower=True)
        weights = linalg.cho_solve((factor, True), centres.T)
        return cls(name, weights.T, -0.5 * (centres.T * weights).sum(axis=0), log_share, members)

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        shares = shares_of(linear_targets(rows.X, self.weights.T, self.offset) + self.log_share)
        return {self.name: product(shares, self.members)}


def linear_discriminant(name: str, train: Train) -> Fitted:
    """Learn Gaussian classes with a common covariance."""

    def learn(train: Train) -> Fitted:
        means = class_means(train)
        residuals, members = train.X - means[train.codes], np.eye(train.n_classes)
        return ClusterShares.of_centres(name, means, residuals, np.log(train.prior), members)

    return in_fewer(train, learn)


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


@record
class QuadraticShares(Fitted):
    """Probabilities of Gaussian classes.

    Attributes
    ----------
    log_prior : ndarray of shape (n_classes,)
        Logarithms of the classes' shares.
    means : ndarray of shape (n_classes, d)
        Of the classes.
    factors : ndarray of shape (n_classes, d, d)
        Transposed Cholesky factors of their covariances.
    """

    log_prior: Floats
    means: Floats
    factors: Floats

    @classmethod
    def of_train(cls, train: Train) -> "QuadraticShares":
        """Estimate covariances, shrunk to the common one where a class has few rows."""
        d = train.X.shape[1]
        means = class_means(train)
        residuals = train.X - means[train.codes]
        common = _shrunken_covariance(residuals)
        factors = np.empty((train.n_classes, d, d))
        for k, count in enumerate(train.counts):
            covariance = common
            if count > 2:
                share = count / (count + 0.5 * d + 2.0)
                covariance = share * _shrunken_covariance(residuals[train.codes == k]) + (1.0 - share) * common
            factors[k] = linalg.cholesky(covariance, lower=True).T
        return cls(np.log(train.prior), means, factors)

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        return {"QDA": shares_of(self.log_prior + by_blocks(self._scores, rows.X))}

    def _scores(self, X: Floats) -> Floats:
        scores = np.empty((len(X), len(self.means)))
        for k, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            residuals = linalg.solve_triangular(factor.T, (X - mean).T, lower=True)
            scores[:, k] = -0.5 * (residuals**2).sum(axis=0) - np.log(np.diag(factor)).sum()
        return scores


# --- several Gaussians in each class


class Clusters(Learner):
    """Discriminants of classes that are mixtures: of clusters with a common covariance."""

    name = "clusters"
    outputs = tuple(Output(f"{n_clusters} clusters") for n_clusters in N_CLUSTERS)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Find the clusters."""
        wanted = [n for n in N_CLUSTERS if f"{n} clusters" in requested]

        def learn(train: Train) -> Fitted:
            return Together(tuple(_mixture(train, n, np.random.default_rng((seed, n))) for n in wanted))

        return in_fewer(train, learn, WIDE, N_OF_WIDE)


def _mixture(train: Train, n_clusters: int, rng: np.random.Generator) -> ClusterShares:
    """Learn classes that are mixtures of clusters with a common covariance."""
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
    log_share = np.log(np.maximum(np.concatenate(shares), 1e-300))
    members = np.eye(train.n_classes)[np.concatenate(of_class)]
    return ClusterShares.of_centres(f"{n_clusters} clusters", np.concatenate(centres), residuals, log_share, members)


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


class Logistic(Learner):
    """Multinomial logistic regression with a ridge penalty."""

    name = "logistic"
    outputs = (Output("logistic"),)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Regress the classes on the features."""
        return LinearShares("logistic", *fit_logistic(train.X, train))


@record
class LinearShares(Fitted):
    """Probabilities whose logarithms are linear, up to a term of each row.

    Attributes
    ----------
    name : str
        Of the output.
    coefficients : ndarray of shape (d, n_classes)
        Of the features.
    offset : ndarray of shape (n_classes,)
        Added to their products.
    """

    name: str
    coefficients: Floats
    offset: Floats

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        return {self.name: shares_of(linear_targets(rows.X, self.coefficients, self.offset))}


def fit_logistic(X: Floats, train: Train) -> tuple[Floats, Floats]:
    """Regress the classes on features; return their coefficients, and offsets."""
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
    return coefficients[:-1], coefficients[-1]
