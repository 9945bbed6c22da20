"""Problems whose floor is known exactly: the numbers that estimates are held against in tests, figures and docs.

`known_mixture` holds any densities at the nodes of a quadrature rule: floors, divergences and bounds are sums over
them. `GaussianPair` has the closed forms of two Gaussian classes. With parameters fitted to data (`GaussianPair.fit`)
they are the plug-in estimates that the paper's estimator is compared with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class KnownMixture:
    """Classes with known densities, held at the nodes of a quadrature rule.

    Attributes
    ----------
    joint : ndarray of shape (K, m)
        p_k f_k at each node.
    weights : ndarray of shape (m,)
        Weight of each node; ``joint @ weights`` are the priors.
    """

    joint: Floats
    weights: Floats

    def bayes_error(self) -> float:
        """The floor: ∫ Σ_k p_k f_k − max_k p_k f_k, equation (1) for two classes."""
        return self._integral(self.joint.sum(axis=0) - self.joint.max(axis=0))

    def nearest_neighbour_error(self) -> float:
        """∫ Σ_{k≠l} p_k f_k p_l f_l / Σ_m p_m f_m: what R/n tends to."""
        total = self.joint.sum(axis=0)
        return self._integral(total - _ratio(np.sum(self.joint**2, axis=0), total))

    def pair_error(self, first: int, second: int) -> float:
        """∫ min(p_k f_k, p_l f_l): the error between two classes as a share of the whole."""
        return self._integral(np.minimum(self.joint[first], self.joint[second]))

    def one_vs_rest_error(self, label: int) -> float:
        """The one-vs-rest floor P_{e,k} of equation (11): errors of the Bayes rule about class k."""
        own = self.joint[label]
        others = np.delete(self.joint, label, axis=0)
        is_chosen = own > others.max(axis=0)
        return self._integral(np.where(is_chosen, others.sum(axis=0), own))

    def mixture_error(self, label: int) -> float:
        """∫ min(p_k f_k, p_g g_k): the floor of class k and the mixture of all others (Q_{e,k})."""
        own = self.joint[label]
        return self._integral(np.minimum(own, self.joint.sum(axis=0) - own))

    def one_vs_rest(self, label: int) -> "KnownMixture":
        """Class k and the mixture of all others, as a problem of two classes."""
        own = self.joint[label]
        return KnownMixture(np.stack([own, self.joint.sum(axis=0) - own]), self.weights)

    def pair(self, first: int, second: int) -> "KnownMixture":
        """Two classes on their own, as a problem whose priors sum to one."""
        joint = self.joint[[first, second]]
        return KnownMixture(joint / (joint @ self.weights).sum(), self.weights)

    def henze_penrose_divergence(self) -> float:
        """D_HP of two classes, equation (2)."""
        first, second, p = self._two()
        integral = self._integral(_ratio((first - second) ** 2, first + second))
        return (integral - (2.0 * p - 1.0) ** 2) / (4.0 * p * (1.0 - p))

    def u(self) -> float:
        """u_HP = 4 p1 p2 D_HP + (p1 − p2)² of two classes, equation (5)."""
        p = self._two()[2]
        return float(4.0 * p * (1.0 - p) * self.henze_penrose_divergence() + (2.0 * p - 1.0) ** 2)

    def henze_penrose_bounds(self) -> tuple[float, float]:
        """Lower and upper bound on the floor of two classes, equation (4)."""
        u = self.u()
        return float(hp.lower_bound(u)), float(hp.upper_bound(u))

    def chernoff_bound(self, alpha: float = 0.5) -> float:
        """∫ (p1 f1)^α (p2 f2)^(1−α), an upper bound on the floor of two classes."""
        first, second, _ = self._two()
        return self._integral(first**alpha * second ** (1.0 - alpha))

    def bhattacharyya_bound(self) -> float:
        """√(p1 p2) ∫ √(f1 f2), the Chernoff bound at α = ½."""
        return self.chernoff_bound(0.5)

    def jensen_shannon_divergence(self) -> float:
        """JS(f1, f2) = p1 KL(f1 ‖ M) + p2 KL(f2 ‖ M) in bits, M the mixture."""
        first, second, p = self._two()
        mixture = first + second
        gain = sum(
            self._integral(joint * np.log2(_ratio(joint, mixture), where=joint > 0, out=joint * 0))
            for joint in (first, second)
        )
        return gain + _entropy(p)  # log f/M = log (p f)/M − log p

    def jensen_shannon_bounds(self) -> tuple[float, float]:
        """Lin's bounds on the floor of two classes: ¼J² and ½J, J = H(p1) − JS(f1, f2)."""
        J = _entropy(self._two()[2]) - self.jensen_shannon_divergence()
        return 0.25 * J**2, 0.5 * J

    def _two(self) -> tuple[Floats, Floats, float]:
        if len(self.joint) != 2:
            raise ValueError(f"needs two classes, got {len(self.joint)}")
        return self.joint[0], self.joint[1], self._integral(self.joint[0])

    def _integral(self, values: Floats) -> float:
        return float(values @ self.weights)


def known_mixture(
    densities: Sequence[Callable[[Floats], Floats]],
    priors: ArrayLike,
    bounds: Sequence[tuple[float, float]],
    n_nodes: int = 1001,
) -> KnownMixture:
    """Hold densities at a regular grid over a box outside which they are negligible.

    The trapezoidal rule converges faster than any power for smooth densities that vanish at the
    edge of the box, and quadratically where a minimum or maximum has a kink.

    Parameters
    ----------
    densities : sequence of callables
        Each takes points of shape (m, d) and returns m values.
    priors : array-like of shape (K,)
        Prior of each class.
    bounds : sequence of (low, high)
        The box, one pair per dimension; there should be one to three.
    n_nodes : int, default=1001
        Nodes along each dimension.

    Returns
    -------
    KnownMixture
    """
    axes = [np.linspace(low, high, n_nodes) for low, high in bounds]
    nodes = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    weights = np.ones(1)
    for axis in axes:
        along = np.full(n_nodes, axis[1] - axis[0])
        along[[0, -1]] /= 2.0
        weights = np.multiply.outer(weights, along).ravel()
    p = np.asarray(priors, np.float64)
    joint = np.stack([prior * f(nodes) for prior, f in zip(p, densities, strict=True)])
    return KnownMixture(joint, weights)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with 0 where nothing is left of the denominator."""
    return np.divide(numerator, denominator, where=denominator > 0, out=numerator * 0.0)


def _entropy(p: float) -> float:
    """Entropy of two classes in bits."""
    return float(-sum(q * np.log2(q) for q in (p, 1.0 - p) if q > 0))


@dataclass(frozen=True, eq=False)
class GaussianPair:
    """Two Gaussian densities and the prior of the first.

    Attributes
    ----------
    first_mean, second_mean : ndarray of shape (d,)
        Means.
    first_covariance, second_covariance : ndarray of shape (d, d)
        Covariances.
    prior : float
        Prior of the first class.
    """

    first_mean: Floats
    second_mean: Floats
    first_covariance: Floats
    second_covariance: Floats
    prior: float

    @classmethod
    def with_common_covariance(
        cls, first_mean: ArrayLike, second_mean: ArrayLike, covariance: ArrayLike = 1.0, prior: float = 0.5
    ) -> Self:
        """Two Gaussians of one shape; a number or a vector stands for a diagonal covariance."""
        first = np.atleast_1d(np.asarray(first_mean, np.float64))
        second = np.atleast_1d(np.asarray(second_mean, np.float64))
        shape = np.asarray(covariance, np.float64)
        if shape.ndim < 2:
            shape = np.diag(np.broadcast_to(shape, first.shape))
        return cls(first, second, shape, shape, float(prior))

    @classmethod
    def fit(cls, X: Any, y: Any) -> Self:
        """Estimate the parameters from points of two classes, by maximum likelihood."""
        points = check_points(X)
        classes, codes = check_labels(y, len(points))
        if len(classes) != 2:
            raise ValueError(f"needs two classes, got {len(classes)}")
        means, covariances = [], []
        for code in range(2):
            own = points[codes == code]
            means.append(own.mean(axis=0))
            centred = own - means[-1]
            covariances.append(centred.T @ centred / len(own))
        return cls(means[0], means[1], covariances[0], covariances[1], float(np.mean(codes == 0)))

    def pooled(self) -> Self:
        """The same means with the covariances averaged by prior, as in linear discriminants."""
        shape = self.prior * self.first_covariance + (1.0 - self.prior) * self.second_covariance
        return type(self)(self.first_mean, self.second_mean, shape, shape, self.prior)

    def distance(self) -> float:
        """Mahalanobis distance between the means, for a common covariance."""
        self._check_common()
        return float(np.sqrt(_squared_length(self._gap(), self.first_covariance)))

    def bayes_error(self) -> float:
        """The exact floor for a common covariance and any priors.

        With Δ the Mahalanobis distance and t = log(p1/p2) / Δ it is
        p1 Φ(−Δ/2 − t) + p2 Φ(−Δ/2 + t); the smaller prior for Δ = 0.
        """
        delta, p = self.distance(), self.prior
        if delta == 0.0 or p in (0.0, 1.0):
            return min(p, 1.0 - p)
        shift = (np.log(p) - np.log1p(-p)) / delta
        return float(p * ndtr(-delta / 2 - shift) + (1 - p) * ndtr(-delta / 2 + shift))

    def chernoff_bound(self, alpha: float = 0.5) -> float:
        """p1^α p2^(1−α) ∫ f1^α f2^(1−α) in closed form, an upper bound for every 0 < α < 1.

        The integral is exp(−k) with S = α Σ2 + (1−α) Σ1, m the difference of means and
        k = ½ α (1−α) mᵀ S⁻¹ m + ½ log |S| − ½ (1−α) log |Σ1| − ½ α log |Σ2|.
        """
        mixed = alpha * self.second_covariance + (1.0 - alpha) * self.first_covariance
        log_det, log_first, log_second = (
            np.linalg.slogdet(matrix)[1] for matrix in (mixed, self.first_covariance, self.second_covariance)
        )
        k = 0.5 * alpha * (1.0 - alpha) * _squared_length(self._gap(), mixed)
        k += 0.5 * (log_det - (1.0 - alpha) * log_first - alpha * log_second)
        return float(self.prior**alpha * (1.0 - self.prior) ** (1.0 - alpha) * np.exp(-k))

    def bhattacharyya_bound(self) -> float:
        """The Chernoff bound at α = ½, P_BC of the paper's Figure 1."""
        return self.chernoff_bound(0.5)

    def mixture(self, n_nodes: int | None = None) -> KnownMixture:
        """Return the densities at quadrature nodes, for the divergences and bounds of `KnownMixture`.

        With a common covariance only the direction between the means matters, so one dimension
        is enough for any d. Otherwise d must be at most 3.
        """
        if self._is_common():
            delta = self.distance()
            line = type(self)(np.zeros(1), np.array([delta]), np.eye(1), np.eye(1), self.prior)
            return line._on_grid(n_nodes or 20_001)
        if len(self.first_mean) > 3:
            raise ValueError(
                f"{len(self.first_mean)} dimensions are too many for quadrature with unequal "
                "covariances; the limit is 3. See pooled()."
            )
        return self._on_grid(n_nodes or (20_001, 1001, 161)[len(self.first_mean) - 1])

    def _on_grid(self, n_nodes: int) -> KnownMixture:
        means = np.stack([self.first_mean, self.second_mean])
        shapes = (self.first_covariance, self.second_covariance)
        reach = 9.0 * np.sqrt(np.stack([np.diag(shape) for shape in shapes]))
        low, high = (means - reach).min(axis=0), (means + reach).max(axis=0)
        densities = [
            lambda x, mean=mean, shape=shape: _density(x, mean, shape)
            for mean, shape in zip(means, shapes, strict=True)
        ]
        priors = [self.prior, 1.0 - self.prior]
        return known_mixture(densities, priors, list(zip(low, high, strict=True)), n_nodes)

    def _gap(self) -> Floats:
        return self.second_mean - self.first_mean

    def _is_common(self) -> bool:
        return bool(np.array_equal(self.first_covariance, self.second_covariance))

    def _check_common(self) -> None:
        if not self._is_common():
            raise ValueError(
                "The exact floor is known for a common covariance only; use pooled(), or "
                "mixture().bayes_error() in up to three dimensions."
            )


def _squared_length(gap: Floats, covariance: Floats) -> float:
    return float(gap @ np.linalg.solve(covariance, gap))


def _density(x: Floats, mean: Floats, covariance: Floats) -> Floats:
    centred = x - mean
    exponent = np.einsum("ij,ij->i", centred, np.linalg.solve(covariance, centred.T).T)
    _, log_det = np.linalg.slogdet(2.0 * np.pi * covariance)
    return np.exp(-0.5 * (exponent + log_det))
