"""Problems whose densities are known: floors, divergences and bounds by quadrature.

These are the exact numbers that estimates are held against in tests, figures and documentation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

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
        """u_HP of two classes, equation (5)."""
        return float(hp.u_from_divergence(self.henze_penrose_divergence(), self._two()[2]))

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
