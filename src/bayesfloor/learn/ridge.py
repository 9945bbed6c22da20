"""Ridge regression of a matrix of targets, on any features and on Gaussian kernels of landmarks.

All of it starts from the eigenvalues s of the products of features, and the targets' products m with their axes. One
decomposition then serves every penalty p, and one of two criteria chooses it:

- *generalised cross-validation*, from sums alone. A penalty leaves the residual sum of squares
  t't - Σ (2 - s/(s+p)) m²/(s+p) and has Σ s/(s+p) degrees of freedom, which may be bounded.
- *leave-one-out*, exactly, where the rows are at hand and their residuals are of use.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesfloor.learn.landmarks.feature_kernels import fill_gaussians
from bayesfloor.learn.learner import Fitted, Rows
from bayesfloor.learn.records import Record, record
from bayesfloor.learn.training_rows import (
    F,
    Singles,
    Train,
    by_blocks,
    distances_between,
    product,
    single,
    squared_distances,
    within,
)
from bayesfloor.runtime.arrays import Floats

#: Ridge penalties to choose from, as multiples of the rows.
PENALTIES = np.geomspace(1e-7, 10.0, 25)
#: Features from which the spectrum is computed in single precision.
MANY_FEATURES = 100
#: Penalties below so many rounding errors of the largest eigenvalue, or a score of one of them within this share of the
#: best, take double precision: which of them is chosen, and what it predicts, is left to rounding otherwise.
_ROUNDING_ERRORS, _NEAR_BEST = 10.0, 0.01
#: What each effective parameter counts in generalised cross-validation, for numbers and for classes. Of numbers, 1
#: follows noise where features are many; of classes, more than that costs log-loss.
COST_OF_NUMBERS, COST_OF_CLASSES = 1.2, 1.0
#: Most degrees of freedom, as a share of the rows.
MOST_FREEDOM = 0.95
#: Largest leverage of a row in leave-one-out residuals.
MOST_LEVERAGE = 0.99
#: A smaller penalty has to lower the error by this share: along a plateau, rounding would choose.
PLATEAU = 1e-5
#: Added to the diagonal of the landmarks' kernel.
JITTER = 1e-6
#: Landmarks that choose the penalty, as a share of all, and at the least.
SHARE_CHOOSING, CHOOSING = 0.5, 100
#: Penalties below so many rows are added to whitened products: beside those of the kernels they would be rounded off.
LEAST_DIRECT = 1e-5
#: Rows in a block of kernels, and distances between rows and landmarks that are kept from width to width.
BLOCK, MOST_KEPT = 4096, 8_000_000


@record
class RidgeFit(Record):
    """Ridge regression of centred targets.

    Attributes
    ----------
    coefficients : ndarray of shape (p, n_targets)
        Of the features.
    offset : ndarray of shape (n_targets,)
        Added to the products of features and coefficients.
    score : float
        Squared error by generalised cross-validation, summed over targets.
    """

    coefficients: Floats
    offset: Floats
    score: float

    def predict(self, features: NDArray[Any]) -> Floats:
        """Return the targets of rows, from their features."""
        return linear_targets(features, self.coefficients, self.offset)


def linear_targets(features: NDArray[Any], coefficients: Floats, offset: Floats) -> Floats:
    """Return the targets of rows, from their features."""
    return product(features, coefficients) + offset


def fit_ridge(features: NDArray[np.floating], train: Train) -> RidgeFit:
    """Fit ridge regression; generalised cross-validation chooses the penalty.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Features of the rows. They are centred here.
    train : Train
        Whose targets and weights are used.

    Returns
    -------
    RidgeFit
    """
    n, p = features.shape
    weight = train.weights
    centre, mean = weight @ features / weight.sum(), train.mean
    root = np.sqrt(weight)[:, np.newaxis]
    scaled, targets = (features - centre) * root, (train.targets() - mean) * root
    total = float((targets**2).sum())
    if p <= n:
        solution, score = solve_by_gcv(_products(scaled), scaled.T @ targets, total, n, _cost_of(train))
    else:  # the same from the products of rows: the non-zero part of the spectrum is shared
        s, axes = eigenpairs(scaled @ scaled.T)
        moments = axes.T @ targets
        scores, penalties = gcv_scores(s, s * (moments**2).sum(axis=1), total, n, _cost_of(train))
        best = int(scores.argmin())
        score = float(scores[best])
        solution = scaled.T @ (axes @ (moments / (s + penalties[best])[:, np.newaxis]))
    return RidgeFit(solution, mean - centre @ solution, score)


def _products(rows: Floats) -> Floats:
    """Return the products of columns, of which the upper triangle alone is computed."""
    return dsyrk(1.0, np.ascontiguousarray(rows).T)


def _cost_of(train: Train) -> float:
    return COST_OF_CLASSES if train.n_classes else COST_OF_NUMBERS


def solve_by_gcv(products: Floats, moments: Floats, total: float, n: int, cost: float) -> tuple[Floats, float]:
    """Solve (products + penalty I) c = moments with the penalty that generalised cross-validation chooses.

    Parameters
    ----------
    products : ndarray of shape (p, p)
        Products of the features, summed over rows; the upper triangle is read.
    moments : ndarray of shape (p, n_targets)
        Products of features and centred targets.
    total : float
        Sum of squares of the targets.
    n : int
        Rows.
    cost : float
        What each effective parameter counts.

    Returns
    -------
    c : ndarray of shape (p, n_targets)
    score : float
        Squared error by generalised cross-validation.
    """
    penalty, score, s, axes = penalty_by_gcv(products, moments, total, n, cost)
    return axes @ ((axes.T @ moments) / (s + penalty)[:, np.newaxis]), score


def penalty_by_gcv(
    products: Floats, moments: Floats, total: float, n: int, cost: float
) -> tuple[float, float, Floats, Floats]:
    """Return the penalty that generalised cross-validation chooses, its score, and the eigenpairs of the products.

    Parameters are those of `solve_by_gcv`.
    """
    kinds: tuple[Any, ...] = (np.float32, np.float64) if len(products) >= MANY_FEATURES else (np.float64,)
    for kind in kinds:
        s, axes = eigenpairs(products.astype(kind))
        scores, penalties = gcv_scores(s, ((axes.T @ moments) ** 2).sum(axis=1), total, n, cost)
        best = int(scores.argmin())
        is_rounded = penalties < _ROUNDING_ERRORS * np.finfo(kind).eps * s[-1]
        if scores[is_rounded].min(initial=np.inf) > (1.0 + _NEAR_BEST) * scores[best]:
            break
    return float(penalties[best]), float(scores[best]), s, axes


def eigenpairs(products: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return eigenvalues, none below 0, and eigenvectors of products, whose upper triangle is read and overwritten."""
    s, axes = linalg.eigh(products, lower=False, driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(s.astype(np.float64, copy=False), 0.0), axes.astype(np.float64, copy=False)


def gcv_scores(s: Floats, power: Floats, total: float, n: int, cost: float) -> tuple[Floats, Floats]:
    """Return n RSS / (n - f)², f = 1 + cost tr H, at each penalty, and the penalties.

    Where f is more than a share of the rows, `MOST_FREEDOM`, the score is infinite, but for the largest penalty.

    Parameters
    ----------
    s, power : ndarray of shape (p,)
        Eigenvalues of the products of features, and squared products of targets with the axes, summed over targets.
    total : float
        Sum of squares of the targets.
    n : int
        Rows.
    cost : float
        What each effective parameter counts.

    Returns
    -------
    scores, penalties : ndarray of shape (n_penalties,)
    """
    penalties = PENALTIES * n
    shares = s[:, np.newaxis] / (s[:, np.newaxis] + penalties)
    explained = ((2.0 - shares) * power[:, np.newaxis] / (s[:, np.newaxis] + penalties)).sum(axis=0)
    used = 1.0 + cost * shares.sum(axis=0)
    left, freedom = np.maximum(total - explained, 0.0), np.maximum(n - used, 1e-9)
    return np.where(used <= max(MOST_FREEDOM * n, used[-1]), n * left / freedom**2, np.inf), penalties


class LeaveOneOut(NamedTuple):
    """Ridge regression whose penalty has the smallest leave-one-out error.

    Attributes
    ----------
    error : float
        Mean squared residual, summed over targets.
    penalty : float
        The best of those tried.
    residuals : ndarray of shape (n, n_targets), float32
        Of each row, by the regression on the other rows.
    coefficients : ndarray of shape (n_features, n_targets), float32
        Of the features.
    """

    error: float
    penalty: float
    residuals: Singles
    coefficients: Singles


def fit_leaving_one_out(features: Singles, targets: Singles, penalties: Floats) -> LeaveOneOut:
    """Fit ridge regression; exact leave-one-out residuals choose the penalty.

    Parameters
    ----------
    features : ndarray of shape (n, n_features), float32
        Features of the rows, times the roots of their weights; one of them may be constant.
    targets : ndarray of shape (n, n_targets), float32
        Targets, times the same roots.
    penalties : ndarray of shape (n_penalties,)
        Penalties to try, rising.

    Returns
    -------
    LeaveOneOut
    """
    s, axes = eigenpairs((features.T @ features).astype(np.float64))
    along: Singles = features @ axes.astype(np.float32)
    moments = (along.T @ targets).astype(np.float64)
    shrinkage = 1.0 / (s[:, np.newaxis] + penalties)
    leverage = np.minimum((along * along) @ shrinkage.astype(np.float32), np.float32(MOST_LEVERAGE))
    best, lowest, residuals = len(penalties) - 1, np.inf, targets
    for number in reversed(range(len(penalties))):
        left = targets - along @ (moments * shrinkage[:, [number]]).astype(np.float32)
        left /= 1 - leverage[:, [number]]
        error = float(np.vdot(left, left)) / len(targets)
        if error < (1.0 - PLATEAU) * lowest:
            best, lowest, residuals = number, error, left
    coefficients = axes @ (moments * shrinkage[:, [best]])
    return LeaveOneOut(lowest, float(penalties[best]), residuals, coefficients.astype(np.float32))


# --- Gaussian kernels of landmarks


@record
class LandmarkFit(Record):
    """Ridge regression on Gaussian kernels of landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (m, d)
        The landmarks.
    scale : float
        Of squared distances in the exponent.
    fit : RidgeFit
        From kernels to targets.
    """

    landmarks: Singles
    scale: float
    fit: RidgeFit

    def predict(self, points: NDArray[Any]) -> Floats:
        """Return the targets of points in the space of the landmarks."""
        landmarks, scale = self.landmarks, self.scale
        return by_blocks(
            lambda part: self.fit.predict(gaussian_kernel(squared_distances(part, landmarks), scale)), single(points)
        )

    def gradients(self, points: NDArray[Any]) -> Floats:
        """Return the gradients of the first target at points."""
        kernels = gaussian_kernel(squared_distances(single(points), self.landmarks), self.scale)
        return gaussian_slopes(points, self.landmarks, kernels * self.fit.coefficients[:, 0], self.scale)


def gaussian_kernel(distances: Singles, scale: float) -> Singles:
    """Return exp(scale · d²)."""
    with np.errstate(over="ignore", under="ignore"):  # what is farther than float32 holds has a kernel of 0
        kernels: Singles = np.float32(scale) * distances
    fill_gaussians(kernels, np.zeros(len(kernels), np.float32), np.zeros(kernels.shape[1], np.float32), 0, kernels)
    return kernels


def gaussian_slopes(points: NDArray[F], landmarks: NDArray[F], weighted: NDArray[F], scale: float) -> NDArray[F]:
    """Return the gradients of a sum of Gaussians at points, given each Gaussian times its coefficient there."""
    slopes: NDArray[F] = points * weighted.sum(axis=1, keepdims=True) - weighted @ landmarks
    slopes *= 2.0 * scale
    return slopes


def landmark_factor(between: Floats, scale: float, jitter: float = JITTER) -> Floats:
    """Return the Cholesky factor of the landmarks' kernel, from their squared distances.

    Kernels of rows times its inverse are features of which a ridge penalty is that of the kernel's own space
    (Nyström's method).
    """
    return linalg.cholesky(_kernel_of(between, scale, jitter), lower=True, overwrite_a=True, check_finite=False)


def _kernel_of(between: Floats, scale: float, jitter: float) -> Floats:
    """Return the kernel of landmarks, with a jitter on its diagonal."""
    kernel: Floats = np.exp(scale * between)
    kernel[np.diag_indices(len(kernel))] += jitter
    return kernel


class _Sums(NamedTuple):
    """What ridge regression on the kernels of landmarks needs to know of rows.

    Attributes
    ----------
    scale : float
        Of squared distances in the exponent.
    products : ndarray of shape (m, m)
        Products of centred kernels; the upper triangle is read.
    moments : ndarray of shape (m, n_targets)
        Products of kernels and centred targets.
    centre : ndarray of shape (m,)
        Mean kernels.
    total : float
        Sum of squares of the targets.
    """

    scale: float
    products: Floats
    moments: Floats
    centre: Floats
    total: float

    def of_first(self, m: int) -> "_Sums":
        """Return those of the first landmarks."""
        return self._replace(products=self.products[:m, :m], moments=self.moments[:m], centre=self.centre[:m])


class Landmarks:
    """Random landmarks among rows, and ridge regression of all rows on Gaussian kernels of them (Nyström's method).

    The first of the landmarks choose the penalty, and the width where there are several: it takes a decomposition that
    costs as much as all else. All of them then have one system of equations.

    Parameters
    ----------
    train : Train
        The rows.
    seed : int
        Draws the landmarks.
    n_landmarks : int
        How many, at the most: half of the rows where that is 50 or more.
    """

    def __init__(self, train: Train, seed: int, n_landmarks: int) -> None:
        n = len(train.X)
        chosen = np.random.default_rng(seed).permutation(n)[: min(n_landmarks, max(n // 2, 50))]
        self.train, self.landmarks = train, single(train.X[chosen])
        self.between, self.typical = distances_between(train.X[chosen].astype(np.float64))
        self.kept = [*self._blocks()] if n * len(chosen) <= MOST_KEPT else None

    def _blocks(self) -> Any:
        """Give the distances from rows to landmarks, block by block."""
        for first in range(0, len(self.train.X), BLOCK):
            yield squared_distances(single(self.train.X[first : first + BLOCK]), self.landmarks)

    def _sums(self, width: float, m: int) -> _Sums:
        """Go through the rows once, for the kernels of the first m landmarks."""
        train = self.train
        scale = -0.5 / (width**2 * self.typical)
        mean, weight = train.mean, train.weight
        products, moments, sums = np.zeros((m, m)), np.zeros((m, len(mean))), np.zeros(m)
        total = 0.0
        for number, distances in enumerate(self._blocks() if self.kept is None else self.kept):
            train.check()
            rows = slice(number * BLOCK, number * BLOCK + len(distances))
            kernels, targets = gaussian_kernel(distances[:, :m], scale).astype(np.float64), train.targets(rows) - mean
            if weight is not None:
                root = np.sqrt(weight[rows])[:, np.newaxis]
                sums += weight[rows] @ kernels
                kernels *= root
                targets *= root
            else:
                sums += kernels.sum(axis=0)
            products += _products(kernels)
            moments += kernels.T @ targets
            total += float((targets**2).sum())
        centre = sums / train.weights.sum()
        products -= centre[:, np.newaxis] * sums
        return _Sums(scale, products, moments, centre, total)

    def _chosen(self, sums: _Sums) -> tuple[float, float]:
        """Return the penalty that generalised cross-validation chooses by the first landmarks, and its score."""
        some = sums.of_first(_n_choosing(len(sums.centre)))
        whitened, moments, _ = self._whitened(some)
        return penalty_by_gcv(whitened, moments, some.total, len(self.train.X), _cost_of(self.train))[:2]

    def _whitened(self, sums: _Sums) -> tuple[Floats, Floats, Floats]:
        """Return products and moments of features whose penalty is that of the kernel's own space, and their factor."""
        m = len(sums.centre)
        factor = landmark_factor(self.between[:m, :m], sums.scale)
        products = np.triu(sums.products) + np.triu(sums.products, 1).T
        for _ in range(2):
            products = linalg.solve_triangular(factor, products.T, lower=True, check_finite=False)
        return products, linalg.solve_triangular(factor, sums.moments, lower=True, check_finite=False), factor

    def fit(self, width: float, n_landmarks: int | None = None) -> LandmarkFit:
        """Fit ridge regression at a width, a share of the median distance; on the first of the landmarks, or on all."""
        sums = self._sums(width, len(self.landmarks[:n_landmarks]))
        penalty, score = self._chosen(sums)
        m = len(sums.centre)
        if penalty < LEAST_DIRECT * len(self.train.X):
            products, moments, factor = self._whitened(sums)
            products[np.diag_indices(m)] += penalty
            solution = _solved(products, moments)
            solution = linalg.solve_triangular(factor, solution, lower=True, trans="T", check_finite=False)
        else:
            system = _kernel_of(self.between[:m, :m], sums.scale, JITTER)
            system *= penalty
            system += sums.products
            solution = _solved(system, sums.moments)
        fit = RidgeFit(solution, self.train.mean - sums.centre @ solution, score)
        return LandmarkFit(self.landmarks[:m], sums.scale, fit)

    def best(self, widths: tuple[float, ...]) -> LandmarkFit:
        """Return the fit at the best of several widths, by generalised cross-validation."""
        if len(widths) == 1:
            return self.fit(widths[0])
        m = _n_choosing(len(self.landmarks))
        return self.fit(min(widths, key=lambda width: self._chosen(self._sums(width, m))[1]))


def _solved(system: Floats, moments: Floats) -> Floats:
    """Solve a positive definite system, whose upper triangle is read; rounding errors may call for some damping."""
    damped, damping = system, float(np.finfo(np.float64).eps * np.trace(system))
    while True:
        factor, failed = dpotrf(damped, clean=0)
        if not failed:
            return np.asarray(dpotrs(factor, moments)[0])
        if not np.isfinite(damping):
            raise linalg.LinAlgError("the products of features are not finite")
        damped = system + damping * np.eye(len(system))
        damping *= 10.0


def _n_choosing(m: int) -> int:
    """Return how many of m landmarks choose."""
    return min(m, max(CHOOSING, round(SHARE_CHOOSING * m)))


@record
class KernelRidge(Fitted):
    """Ridge regression on Gaussian kernels of landmarks, as an output.

    Attributes
    ----------
    name : str
        Of the output.
    fit : LandmarkFit
        From rows to targets.
    least : float
        Smallest probability of a class.
    are_classes : bool
        Whether targets are classes.
    """

    name: str
    fit: LandmarkFit
    least: float
    are_classes: bool

    @classmethod
    def of_fit(cls, name: str, train: Train, fit: LandmarkFit) -> "KernelRidge":
        """Name a fit of training rows."""
        return cls(name, fit, 0.5 / (len(train.X) + 1.0), train.n_classes > 0)

    @classmethod
    def of_train(cls, name: str, train: Train, seed: int, widths: tuple[float, ...], n_landmarks: int) -> "KernelRidge":
        """Fit training rows, at the best of several widths."""
        return cls.of_fit(name, train, Landmarks(train, seed, n_landmarks).best(widths))

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return probabilities, or numbers."""
        return {self.name: within(self.fit.predict(rows.X), self.least, self.are_classes)}


def kernel_ridge(train: Train, test: NDArray[Any], seed: int, widths: tuple[float, ...], n_landmarks: int) -> Floats:
    """Return predictions by Gaussian kernels of landmarks, at the best of several widths."""
    return KernelRidge.of_train("", train, seed, widths, n_landmarks).predict(Rows(test))[""]
