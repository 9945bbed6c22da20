"""Classification problems whose Bayes error is known, to judge estimators of it.

    python -m benchmarks.problems.truth_scenarios    print the table BAYES_ERROR below (a few minutes)

A scenario is a *problem* in few variables, where the posterior is known, seen through a *view*, a map that can be
undone, or that adds only noise which tells nothing about the class:

    problem (Densities, Labelled or Table)  --draw-->  z, y  --view-->  x, y
    posterior(x)  =  the problem's posterior at z = view.backward(x)

So P(y | x) is exact for all of them, and the Bayes error is the mean of 1 − max P(y | x): in closed form where there
is one, else over two million draws. Estimators are chosen on the half "design" and judged on the half "held-out".
"""

import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc, expit, ndtr, stdtr

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Rng = np.random.Generator
TURN = 2 * np.pi


# ruff: noqa: D102 - draw, posterior and log_density (which leaves out what all classes share) mean the same throughout
class Mixture:
    """Equal parts of Gaussians with diagonal covariances, or of multivariate t with `df` degrees of freedom."""

    def __init__(self, means: Any, scales: Any = 1.0, df: float = np.inf) -> None:
        self.means = np.atleast_2d(np.asarray(means, dtype=float))
        self.scales = np.broadcast_to(np.asarray(scales, dtype=float), self.means.shape)
        self.df = df

    def draw(self, n: int, rng: Rng) -> Array:
        part = rng.integers(len(self.means), size=n)
        noise = rng.standard_normal((n, self.means.shape[1]))
        if np.isfinite(self.df):
            noise *= np.sqrt(self.df / rng.chisquare(self.df, (n, 1)))
        return self.means[part] + self.scales[part] * noise

    def log_density(self, Z: Array) -> Array:
        precision = self.scales**-2
        square = (Z**2) @ precision.T - 2 * Z @ (self.means * precision).T + (self.means**2 * precision).sum(axis=1)
        if np.isfinite(self.df):
            square = (self.df + Z.shape[1]) * np.log1p(np.maximum(square, 0) / self.df)
        parts = -square / 2 - np.log(self.scales).sum(axis=1) - np.log(len(self.means))
        top = parts.max(axis=1)
        parts -= top[:, None]
        return top + np.log(np.exp(parts, out=parts).sum(axis=1))


class Counts:
    """Independent Poisson counts, or negative binomial ones where the rates vary as a gamma variable of this shape."""

    def __init__(self, rates: Any, shape: float = np.inf) -> None:
        self.rates, self.shape = np.asarray(rates, dtype=float), shape

    def draw(self, n: int, rng: Rng) -> Array:
        size = (n, len(self.rates))
        vary = rng.gamma(self.shape, 1 / self.shape, size) if np.isfinite(self.shape) else 1.0
        return rng.poisson(self.rates * vary, size).astype(float)

    def log_density(self, Z: Array) -> Array:
        if np.isfinite(self.shape):
            total = self.rates + self.shape
            return Z @ np.log(self.rates / total) - self.shape * np.log(total).sum()
        return Z @ np.log(self.rates) - self.rates.sum()


class Densities:
    """A class drawn from the priors (equal by default), then z from its law: a Mixture where only means are given."""

    def __init__(self, laws: Any, priors: Any = None, scales: Any = 1.0, df: float = np.inf) -> None:
        self.laws = [law if hasattr(law, "draw") else Mixture(law, scales, df) for law in laws]
        weights = np.ones(len(self.laws)) if priors is None else np.asarray(priors, dtype=float)
        self.priors = weights / weights.sum()

    def draw(self, n: int, rng: Rng) -> tuple[Array, Labels]:
        y = rng.choice(len(self.laws), n, p=self.priors).astype(np.int64)
        by_class = np.concatenate([law.draw(int(np.sum(y == k)), rng) for k, law in enumerate(self.laws)])
        return by_class[np.argsort(np.argsort(y, kind="stable"))], y

    def posterior(self, Z: Array) -> Array:
        joint = np.column_stack([law.log_density(Z) for law in self.laws]) + np.log(self.priors)
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)


class Labelled:
    """z from a law that all classes share, then the label from a given posterior."""

    def __init__(self, marginal: Callable[[int, Rng], Array], posterior: Callable[[Array], Array]) -> None:
        self.marginal, self.posterior = marginal, posterior

    def draw(self, n: int, rng: Rng) -> tuple[Array, Labels]:
        Z = self.marginal(n, rng)
        below = np.cumsum(self.posterior(Z), axis=1)[:, :-1]
        # 1 - random() is never 0, so that a class of probability 0 is never drawn
        return Z, (1 - rng.random((n, 1)) > below).sum(axis=1)


class Table:
    """Categorical variables with a joint table of shape (classes, levels, levels, …), coded as k − 1 dummies each."""

    def __init__(self, joint: Array) -> None:
        self.joint = joint / joint.sum()
        self.bayes_error = float(1 - self.joint.max(axis=0).sum())

    def draw(self, n: int, rng: Rng) -> tuple[Array, Labels]:
        y, *codes = np.unravel_index(rng.choice(self.joint.size, n, p=self.joint.ravel()), self.joint.shape)
        return np.hstack([np.eye(k)[code][:, 1:] for code, k in zip(codes, self.joint.shape[1:], strict=True)]), y

    def posterior(self, Z: Array) -> Array:
        dummies = np.split(Z, np.cumsum(np.array(self.joint.shape[1:-1]) - 1), axis=1)
        codes = [(part @ np.arange(1, part.shape[1] + 1)).astype(int) for part in dummies]
        cells = self.joint[(slice(None), *codes)].T
        return cells / cells.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class View:
    """How z is seen as x: `forward` may add noise that is independent of z, `backward` gets z again."""

    forward: Callable[[Array, Rng], Array]
    backward: Callable[[Array], Array]


def linear(matrix: Any) -> View:
    inverse = np.linalg.inv(matrix)
    return View(lambda Z, rng: Z @ np.transpose(matrix), lambda X: X @ inverse.T)


def padded(k: int, d: int) -> View:
    """d − k features of standard normal noise behind the k of z."""
    return View(lambda Z, rng: np.hstack([Z, rng.standard_normal((len(Z), d - k))]), lambda X: X[:, :k])


def isometry(k: int, d: int, noise: float, seed: int) -> View:
    """z on a random k-plane, with isotropic noise around it; the noise within the plane is already part of z."""
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, k)))[0]

    def forward(Z: Array, rng: Rng) -> Array:
        off = noise * rng.standard_normal((len(Z), d))
        return off + (Z - off @ basis) @ basis.T

    return View(forward, lambda X: X @ basis)


def chain(a: View, b: View) -> View:
    return View(lambda Z, rng: b.forward(a.forward(Z, rng), rng), lambda X: a.backward(b.backward(X)))


AS_IT_IS = View(lambda Z, rng: Z, lambda X: X)
EXPONENTIAL = View(lambda Z, rng: np.exp(Z), np.log)
TANH = View(lambda Z, rng: np.tanh(4 * Z), lambda X: np.arctanh(X) / 4)
SLANTED = linear([[1, 0.5], [0, 1]])
THOUSANDFOLD = linear(np.diag([1, 1, 1, 1e3]))
GAP = View(lambda Z, rng: Z + (Z[:, :1] > 0.5), lambda X: X - (X[:, :1] > 1))
XOR = 1.5 * np.array([[[-1, -1], [1, 1]], [[-1, 1], [1, -1]]])


def bend(Z: Array) -> Array:
    """A shift of the other two coordinates by a function of the first, which stays: so it can be taken back."""
    return np.column_stack([np.zeros(len(Z)), 0.5 * Z[:, 0] ** 2, np.sin(2 * Z[:, 0])])


BENT = View(lambda Z, rng: Z + bend(Z), lambda X: X - bend(X))


@dataclass(frozen=True)
class Scenario:
    """One classification problem; `exact` is its Bayes error where there is a formula, `errors` a table of them."""

    name: str
    half: str
    family: str
    n_classes: int
    n_features: int
    problem: Densities | Labelled | Table
    view: View
    exact: float | None
    errors: Mapping[str, float]

    def sample(self, n: int, seed: int) -> tuple[Array, Labels]:
        """Draw n independent rows; the same seed gives the same rows, and other ones in another scenario."""
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        Z, y = self.problem.draw(n, rng)
        return self.view.forward(Z, rng), y

    def posterior(self, X: Array) -> Array:
        """P(y | x), exactly, as an array of shape (n, n_classes)."""
        return self.problem.posterior(self.view.backward(X))

    @property
    def bayes_error(self) -> float:
        """The Bayes error, from the table."""
        return self.errors[self.name]


def compute_bayes_error(scenario: Scenario, n: int = 2_000_000, seed: int = 0) -> tuple[float, float]:
    """Mean of 1 − max P(y | z) over n draws, and its standard error; the view changes neither."""
    rng = np.random.default_rng(seed)
    chunks = (scenario.problem.draw(min(50_000, n - start), rng)[0] for start in range(0, n, 50_000))
    error = np.concatenate([1 - scenario.problem.posterior(Z).max(axis=1) for Z in chunks])
    return float(error.mean()), float(error.std() / np.sqrt(n))


def cloud(shape: tuple[int, ...], size: float, seed: int) -> Array:
    return size * np.random.default_rng(seed).standard_normal(shape)


def correlated(d: int, rho: float) -> View:
    """Neighbouring features correlate by rho, those further apart by its powers."""
    return linear(np.linalg.cholesky(rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))))


def arc(start: float, stop: float, radii: tuple[float, float], noise: float, centre: Any = (0, 0)) -> Mixture:
    """80 round Gaussians along a circle or, where the two radii differ, along a spiral."""
    angle, radius = np.linspace(start, stop, 80), np.linspace(*radii, 80)
    return Mixture(centre + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), noise)


def moons(noise: float) -> list[Mixture]:
    return [arc(0, np.pi, (1, 1), noise), arc(np.pi, TURN, (1, 1), noise, (1, 0.5))]


def box(d: int, side: float) -> Callable[[int, Rng], Array]:
    return lambda n, rng: side * rng.random((n, d))


def ball(n: int, rng: Rng) -> Array:
    """Rows in five dimensions with a radius uniform in [0, 3]."""
    Z = rng.standard_normal((n, 5))
    return Z * (3 * rng.random((n, 1)) / np.linalg.norm(Z, axis=1, keepdims=True))


def links(n: int, rng: Rng) -> Array:
    """Two rings in space, thickened and linked as in a chain."""
    angle, zero = TURN * rng.random(n), np.zeros(n)
    flat, upright = (np.cos(angle), np.sin(angle), zero), (1 + np.cos(angle), zero, np.sin(angle))
    return np.where(rng.random(n) < 0.5, flat, upright).T + rng.uniform(-0.2, 0.2, (n, 3))


def nearer_link(Z: Array) -> Array:
    x, y, z = Z.T
    return np.hypot(np.hypot(x, y) - 1, z) > np.hypot(np.hypot(x - 1, z) - 1, y)


def flipped(label: Callable[[Array], Any], flip: float, n_classes: int = 2) -> Callable[[Array], Array]:
    """The label, or with probability `flip` one of the others."""
    rows = np.where(np.eye(n_classes) > 0, 1 - flip, flip / (n_classes - 1))
    return lambda Z: rows[np.asarray(label(Z)).astype(int)]


def blurred(log_odds: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda Z: np.column_stack([expit(-log_odds(Z)), expit(log_odds(Z))])


def board(Z: Array, n_classes: int = 2) -> Array:
    return np.floor(Z).sum(axis=1) % n_classes


def factorised(n_classes: int, levels: list[int], seed: int) -> Table:
    """Variables independent within each class."""
    rng, joint = np.random.default_rng(seed), np.ones(n_classes)
    for k in levels:
        joint = np.einsum("c...,ck->c...k", joint, rng.dirichlet(np.full(k, 2.0), n_classes))
    return Table(joint)


def parity(levels: list[int], log_odds: float, seed: int) -> Table:
    """The class follows the parity of the sum of the first two codes; neither tells much alone."""
    cells = np.random.default_rng(seed).dirichlet(np.full(np.prod(levels), 3.0)).reshape(levels)
    odds = log_odds * (-1.0) ** np.add(*np.indices(levels)[:2])
    return Table(np.stack([cells * expit(odds), cells * expit(-odds)]))


def two_gaussians(distance: float, prior: float = 0.5) -> float:
    """π₀Φ(−Δ/2 − t/Δ) + π₁Φ(−Δ/2 + t/Δ) with t = log(π₀/π₁): the optimal cut on the line between the means."""
    shift = np.log(prior / (1 - prior)) / distance
    return prior * ndtr(-distance / 2 - shift) + (1 - prior) * ndtr(-distance / 2 + shift)


def orthogonal_gaussians(size: float, n_classes: int) -> float:
    """1 − ∫ φ(t − a) Φ(t)^(K−1) dt: the own coordinate is the largest of K; means a·e_k, equal priors."""
    t, step = np.linspace(-9, 9 + size, 20_001, retstep=True)
    return 1 - step * (np.exp(-((t - size) ** 2) / 2) * ndtr(t) ** (n_classes - 1)).sum() / np.sqrt(2 * np.pi)


def scaled_spheres(d: int, s: float) -> float:
    """N(0, I) against N(0, s²I), equal priors: they meet at r² = 2d log(s) / (1 − s⁻²), and r² is chi-squared."""
    square = 2 * d * np.log(s) / (1 - s**-2)
    return (chdtrc(d, square) + chdtr(d, square / s**2)) / 2


# Rows: family, name, problem, closed form of the Bayes error (or None), view

DESIGN: list[tuple[Any, ...]] = [
    ("gaussian", "gauss-d2-k2", Densities([[-1, 0], [1, 0]]), two_gaussians(2), correlated(2, 0.5)),
    ("gaussian", "gauss-d8-k3", Densities(2.5 * np.eye(3, 8)), orthogonal_gaussians(2.5, 3)),
    ("gaussian", "gauss-d20-k4-unequal", Densities(cloud((4, 20), 0.45, 1), [4, 3, 2, 1])),
    ("gaussian", "gauss-d64-k10", Densities(3 * np.eye(10, 64)), orthogonal_gaussians(3, 10)),
    ("gaussian", "gauss-d256-k2", Densities(2 * np.eye(2, 256)), two_gaussians(8**0.5), correlated(256, 0.6)),
    ("covariance", "scale-d8", Densities([Mixture(np.zeros(8), s) for s in (1, 1.6)]), scaled_spheres(8, 1.6)),
    ("checkerboard", "board-2x2", Labelled(box(2, 2), flipped(board, 0)), 0),
    ("checkerboard", "board-3x3-flipped", Labelled(box(2, 3), flipped(board, 0.1)), 0.1),
    ("checkerboard", "board-4x4-blurred", Labelled(box(2, 4), blurred(lambda Z: 8 * np.sin(np.pi * Z).prod(axis=1)))),
    ("rings", "rings-k3", Densities([arc(0, TURN, (r, r), 0.3) for r in (1, 2, 3)])),
    ("spiral", "spiral-k2", Densities([arc(t, t + 8, (0.5, 4.5), 0.5) for t in (0, np.pi)])),
    ("moons", "moons", Densities(moons(0.25))),
    ("mixture", "mixture-d2-k2", Densities(cloud((2, 4, 2), 2.5, 3))),
    ("mixture", "mixture-d8-k4", Densities(cloud((4, 5, 8), 1.0, 4))),
    ("tails", "t3-d4", Densities(2 * np.eye(2, 4), df=3), stdtr(3, -(2**0.5))),
    ("noise features", "gauss-2-of-100", Densities([[0, 0], [1.5, 1.5]]), two_gaussians(4.5**0.5), padded(2, 100)),
    ("table", "table-naive", factorised(2, [3, 4, 2, 5, 3], 1)),
    ("table", "table-parity", parity([3, 4, 4], 1.5, 3)),
    ("imbalance", "one-to-20", Densities(2 * np.eye(2, 5), [20, 1]), two_gaussians(8**0.5, 20 / 21)),
    ("separable", "gap-d10", Labelled(box(10, 1), flipped(lambda Z: Z[:, 0] > 0.5, 0)), 0, GAP),
    ("pure noise", "noise-d10", Densities(np.zeros((2, 10))), 0.5),
    ("embedding", "plane-in-256", Densities(cloud((3, 3, 3), 2.0, 7)), None, isometry(3, 256, 0.1, 8)),
    ("embedding", "tanh-in-256", Densities(cloud((2, 2, 3), 1.7, 9)), None, chain(isometry(3, 256, 0.1, 10), TANH)),
    ("scales", "signal-times-1000", Densities([[0] * 4, [1] * 4]), two_gaussians(2), THOUSANDFOLD),
    ("counts", "poisson-d10", Densities([Counts(np.linspace(1, 5, 10)), Counts(np.linspace(2, 4, 10))])),
    ("log-normal", "log-normal-d5", Densities([[0] * 5, [0.6] * 5]), two_gaussians(1.8**0.5), EXPONENTIAL),
]

HELD_OUT: list[tuple[Any, ...]] = [
    ("gaussian", "gauss-d2-k3-unequal", Densities([[0, 0], [2.2, 0], [0.5, 2.5]], [5, 3, 2])),
    ("gaussian", "gauss-d8-unequal", Densities(np.eye(2, 8), [4, 1]), two_gaussians(2**0.5, 0.8), correlated(8, 0.8)),
    ("gaussian", "gauss-d20-k10", Densities(4 * np.eye(10, 20)), orthogonal_gaussians(4, 10), correlated(20, -0.5)),
    ("gaussian", "gauss-d64-k4", Densities(1.3 * np.eye(4, 64)), orthogonal_gaussians(1.3, 4)),
    ("gaussian", "gauss-d256-k3", Densities(cloud((3, 256), 0.13, 2)), None, correlated(256, 0.3)),
    ("covariance", "axes-d6-k3", Densities([Mixture([0] * 6, s) for s in 1 + 1.5 * np.eye(3).repeat(2, axis=1)])),
    ("checkerboard", "cube-2x2x2", Labelled(box(3, 2), flipped(board, 0)), 0),
    ("checkerboard", "board-4x4-k3", Labelled(box(2, 4), flipped(lambda Z: board(Z, 3), 0.2, 3)), 0.2, SLANTED),
    ("checkerboard", "board-3x3-blurred", Labelled(box(2, 3), blurred(lambda Z: 4 * np.sin(np.pi * Z).prod(axis=1)))),
    ("rings", "shells-d5", Labelled(ball, blurred(lambda Z: 3 * np.sin(np.pi * np.linalg.norm(Z, axis=1))))),
    ("spiral", "spiral-k3", Densities([arc(t, t + 9, (0.5, 4.5), 0.3) for t in TURN / 3 * np.arange(3)], [3, 2, 2])),
    ("moons", "moons-unequal-d10", Densities(moons(0.4), [3, 1]), None, padded(2, 10)),
    ("mixture", "mixture-d4-k3", Densities(cloud((3, 3, 4), 1.5, 5), scales=[[0.5], [1], [1.5]])),
    ("mixture", "mixture-d16-k5", Densities(cloud((5, 6, 16), 0.9, 6), [5, 4, 3, 2, 1])),
    ("tails", "t2-d10-k3", Densities([Mixture(3 * e, 1 + e[2], 2) for e in np.eye(3, 10)])),
    ("noise features", "xor-2-of-100", Densities(XOR), 2 * ndtr(-1.5) * ndtr(1.5), padded(2, 100)),
    ("table", "table-naive-k3", factorised(3, [4, 3, 6, 2], 2)),
    ("table", "table-saturated-k3", Table(np.random.default_rng(4).dirichlet(np.full(216, 0.6)).reshape(3, 4, 3, 6))),
    ("imbalance", "one-to-20-ring", Densities([Mixture([0, 0]), arc(0, TURN, (3, 3), 0.3)], [20, 1])),
    ("separable", "linked-rings", Labelled(links, flipped(nearer_link, 0)), 0),
    ("pure noise", "noise-d30-k3", Densities(np.zeros((3, 30)), [12, 5, 3]), 0.4, correlated(30, 0.5)),
    ("embedding", "plane5-in-256", Densities(cloud((4, 2, 5), 1.4, 11)), None, isometry(5, 256, 0.5, 12)),
    ("embedding", "bent-in-256", Densities(cloud((2, 3, 3), 1.5, 13)), None, chain(BENT, isometry(3, 256, 0.2, 14))),
    ("scales", "noise-times-1000", Densities(1.8 * np.eye(4)[:3]), orthogonal_gaussians(1.8, 3), THOUSANDFOLD),
    ("counts", "negative-binomial-d6-k3", Densities([Counts(np.roll([2, 2, 4, 8, 12, 3], k), 3) for k in (0, 2, 4)])),
    ("log-normal", "log-normal-d12-k3", Densities(cloud((3, 12), 0.3, 15), [1, 2, 3]), None, EXPONENTIAL),
]


#: Closed forms, else means over two million draws with standard errors of at most 0.0002.
BAYES_ERROR = {
    "gauss-d2-k2": 0.1587,
    "gauss-d8-k3": 0.0686,
    "gauss-d20-k4-unequal": 0.2319,
    "gauss-d64-k10": 0.0975,
    "gauss-d256-k2": 0.0786,
    "scale-d8": 0.18,
    "board-2x2": 0.0,
    "board-3x3-flipped": 0.1,
    "board-4x4-blurred": 0.1345,
    "rings-k3": 0.0653,
    "spiral-k2": 0.1057,
    "moons": 0.0588,
    "mixture-d2-k2": 0.2399,
    "mixture-d8-k4": 0.247,
    "t3-d4": 0.1261,
    "gauss-2-of-100": 0.1444,
    "table-naive": 0.2925,
    "table-parity": 0.1824,
    "one-to-20": 0.0236,
    "gap-d10": 0.0,
    "noise-d10": 0.5,
    "plane-in-256": 0.176,
    "tanh-in-256": 0.1322,
    "signal-times-1000": 0.1587,
    "poisson-d10": 0.2582,
    "log-normal-d5": 0.2512,
    "gauss-d2-k3-unequal": 0.1716,
    "gauss-d8-unequal": 0.1581,
    "gauss-d20-k10": 0.0168,
    "gauss-d64-k4": 0.3555,
    "gauss-d256-k3": 0.1215,
    "axes-d6-k3": 0.2016,
    "cube-2x2x2": 0.0,
    "board-4x4-k3": 0.2,
    "board-3x3-blurred": 0.2193,
    "shells-d5": 0.1639,
    "spiral-k3": 0.1146,
    "moons-unequal-d10": 0.114,
    "mixture-d4-k3": 0.2008,
    "mixture-d16-k5": 0.1102,
    "t2-d10-k3": 0.1621,
    "xor-2-of-100": 0.1247,
    "table-naive-k3": 0.2552,
    "table-saturated-k3": 0.3232,
    "one-to-20-ring": 0.0297,
    "linked-rings": 0.0,
    "noise-d30-k3": 0.4,
    "plane5-in-256": 0.2033,
    "bent-in-256": 0.1765,
    "noise-times-1000": 0.17,
    "negative-binomial-d6-k3": 0.0613,
    "log-normal-d12-k3": 0.2791,
}


def make(
    errors: Mapping[str, float],
    half: str,
    family: str,
    name: str,
    problem: Any,
    exact: Any = None,
    view: View = AS_IT_IS,
) -> Scenario:
    """Name a problem and its view."""
    X = view.forward(problem.draw(2, np.random.default_rng(0))[0], np.random.default_rng(0))
    exact = problem.bayes_error if isinstance(problem, Table) else exact
    n_classes = problem.posterior(view.backward(X)).shape[1]
    exact = None if exact is None else float(exact)
    return Scenario(name, half, family, n_classes, X.shape[1], problem, view, exact, errors)


SCENARIOS = tuple(
    make(BAYES_ERROR, half, *row) for half, rows in (("design", DESIGN), ("held-out", HELD_OUT)) for row in rows
)


def as_entries(scenarios: tuple[Scenario, ...]) -> str:
    """Compute the Bayes errors, as lines of the table."""
    entries = []
    for scenario in scenarios:
        value, error = compute_bayes_error(scenario) if scenario.exact is None else (scenario.exact, 0.0)
        print(f"{scenario.name} {value:.6f} ± {error:.6f}", file=sys.stderr, flush=True)
        entries.append(f'    "{scenario.name}": {round(value, 4 if value >= 0.01 else 5)},')
    return "\n".join(entries)


if __name__ == "__main__":
    print(as_entries(SCENARIOS))
