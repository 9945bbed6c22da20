"""Representations of the same rows whose floors are known: rotations, projections, codes, noise, embeddings.

Most rows are normal given their class, with means that differ and the identity as covariance. What a linear map A and
independent noise of covariance N leave is then normal too, and the floor of two classes that are equally likely is
Φ(-δ/2) with δ² = Δ' A' (A A' + N)⁻¹ A Δ. A map that can be undone, such as a rotation or a wide network of tanh units,
leaves the floor as it is, and so does a column that says nothing. What cuts values into codes leaves the floor of the
codes, the sum over all cells of the smaller of two products. For numbers the figure is R², by the same formulas or by
integrals over the normal distribution.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

Array = NDArray[np.float64]
Made = dict[str, tuple[Array, float]]


@dataclass(frozen=True)
class RepresentationProblem:
    """Rows in several representations.

    Attributes
    ----------
    name : str
        What is compared.
    task : {"classes", "numbers"}
        What is predicted.
    draw : callable
        From a number of rows and a random generator: the target, and each representation with its floor of the error
        or its ceiling of R².
    """

    name: str
    task: str
    draw: Callable[[int, np.random.Generator], tuple[Array, Made]]


def error_of(gap: Array, covariance: Array) -> float:
    """Return the floor of two normal classes that are equally likely."""
    return float(norm.cdf(-0.5 * np.sqrt(gap @ np.linalg.solve(covariance, gap))))


def two_normals(gap: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw classes, and rows whose mean is plus or minus half of the gap."""
    y = rng.integers(0, 2, n)
    return y, (y[:, None] - 0.5) * gap + rng.standard_normal((n, len(gap)))


def linear(Z: Array, gap: Array, A: Array, noise: float = 0.0, rng: np.random.Generator | None = None) -> tuple:
    """Return A z, with noise of some standard deviation, and its floor."""
    made = Z @ A.T
    if noise:
        assert rng is not None
        made = made + noise * rng.standard_normal(made.shape)
    return made, error_of(A @ gap, A @ A.T + noise**2 * np.eye(len(A)))


def rotation_of(d: int, rng: np.random.Generator) -> Array:
    """Return a random rotation."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def code_error(gap: Array, cuts: Array) -> float:
    """Return the floor of two normal classes whose columns are cut into codes at the same places."""
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    chances = [[np.diff(norm.cdf(ends - sign * 0.5 * shift)) for sign in (-1, 1)] for shift in gap]
    cells = product(range(len(cuts) + 1), repeat=len(gap))
    total = 0.0
    for cell in cells:
        both = [np.prod([chances[j][k][code] for j, code in enumerate(cell)]) for k in (0, 1)]
        total += 0.5 * min(both)
    return total


def rotation(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.5, 1.0, 0.5, 0.0, 0.0, 0.0])
    y, Z = two_normals(gap, n, rng)
    fixed = np.random.default_rng(11)
    first, second = rotation_of(6, fixed), rotation_of(6, fixed)
    return y, {
        "as it is": linear(Z, gap, np.eye(6)),
        "rotated": linear(Z, gap, first),
        "rotated otherwise": linear(Z, gap, second),
    }


def lossy_projection(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.2, 1.0, 0.8, 0.6, 0.4])
    y, Z = two_normals(gap, n, rng)
    return y, {f"{d} of 5 columns": linear(Z, gap, np.eye(5)[:d]) for d in (5, 3, 1)}


def noise_columns(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.5, 1.5])
    y, Z = two_normals(gap, n, rng)
    floor = error_of(gap, np.eye(2))
    wide = rng.standard_normal((n, 30))
    return y, {
        "plain": (Z, floor),
        "8 more": (np.hstack([Z, wide[:, :8]]), floor),
        "30 more": (np.hstack([Z, wide]), floor),
    }


def coarse_coding(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.4, 1.2, 0.8])
    y, Z = two_normals(gap, n, rng)
    made: Made = {"exact": (Z, error_of(gap, np.eye(3)))}
    for cuts in (np.array([-0.6, 0.6]), np.array([0.0])):
        made[f"{len(cuts) + 1} codes"] = np.digitize(Z, cuts).astype(np.float64), code_error(gap, cuts)
    return y, made


def embedding(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.0, 1.0, 1.0, 0.5])
    y, Z = two_normals(gap, n, rng)
    fixed = np.random.default_rng(12)
    units = fixed.standard_normal((32, 4)) / 2.0
    other = fixed.standard_normal((2, 4))
    return y, {
        "as it is": linear(Z, gap, np.eye(4)),
        "32 tanh units": (np.tanh(Z @ units.T), error_of(gap, np.eye(4))),
        "trained to 1 unit": linear(Z, gap, gap[np.newaxis]),
        "trained on other labels": linear(Z, gap, other),
    }


def random_projection(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.full(12, 0.7)
    y, Z = two_normals(gap, n, rng)
    fixed = np.random.default_rng(13)
    return y, {
        "12 columns": linear(Z, gap, np.eye(12)),
        "6 random": linear(Z, gap, fixed.standard_normal((6, 12))),
        "3 random": linear(Z, gap, fixed.standard_normal((3, 12))),
    }


def measurement_noise(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.5, 1.0, 1.0])
    y, Z = two_normals(gap, n, rng)
    return y, {f"noise of {sd}": linear(Z, gap, np.eye(3), sd, rng) for sd in (0.0, 0.3, 1.0)}


def checkerboard(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    Z = rng.standard_normal((n, 2))
    y = (Z[:, 0] * Z[:, 1] > 0).astype(np.int64) ^ (rng.random(n) < 0.1)
    turned = Z @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / 2.0**0.5
    return y, {"both": (Z, 0.1), "turned": (turned, 0.1), "product": (Z[:, :1] * Z[:, 1:], 0.1), "one": (Z[:, :1], 0.5)}


#: Centres of five classes in the plane, and rows by which the truth is computed.
CENTRES = 2.0 * np.array([[np.cos(a), np.sin(a)] for a in 2.0 * np.pi * np.arange(5) / 5.0])
_MANY = 400_000


def five_error(A: Array) -> float:
    """Return the floor of five normal classes of which A z is seen; to about .0005."""
    rng = np.random.default_rng(99)
    y = rng.integers(0, 5, _MANY)
    seen = (CENTRES[y] + rng.standard_normal((_MANY, 2))) @ A.T
    inverse = np.linalg.inv(A @ A.T)
    away = seen[:, None, :] - CENTRES @ A.T
    posterior = np.exp(-0.5 * np.einsum("nki,ij,nkj->nk", away, inverse, away))
    posterior /= posterior.sum(axis=1, keepdims=True)
    return float(1.0 - posterior.max(axis=1).mean())


def five_classes(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    y = rng.integers(0, 5, n)
    Z = CENTRES[y] + rng.standard_normal((n, 2))
    units = np.random.default_rng(14).standard_normal((10, 2))
    floor = five_error(np.eye(2))
    line = np.array([[1.0, 0.0]])
    return y, {
        "plane": (Z, floor),
        "10 tanh units": (np.tanh(Z @ units.T / 2.0), floor),
        "line": (Z @ line.T, five_error(line)),
    }


def two_views(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    gap = np.array([1.2, 0.6, 1.0, 0.6])
    y, Z = two_normals(gap, n, rng)
    return y, {
        "first": linear(Z, gap, np.eye(4)[:2]),
        "second": linear(Z, gap, np.eye(4)[2:]),
        "side by side": linear(Z, gap, np.eye(4)),
        "first, twice": (np.hstack([Z[:, :2], Z[:, :2]]), error_of(gap[:2], np.eye(2))),
    }


def linear_numbers(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    weights = np.array([1.0, 0.7, 0.5, 0.3])
    Z = rng.standard_normal((n, 4))
    y = Z @ weights + 0.7 * rng.standard_normal(n)
    total = float(weights @ weights) + 0.49
    turned = rotation_of(4, np.random.default_rng(15))
    seen = Z + 0.5 * rng.standard_normal((n, 4))
    return y, {
        "as it is": (Z, float(weights @ weights) / total),
        "rotated": (Z @ turned.T, float(weights @ weights) / total),
        "2 of 4 columns": (Z[:, :2], float(weights[:2] @ weights[:2]) / total),
        "with noise": (seen, float(weights @ weights) / 1.25 / total),
    }


def curved_numbers(n: int, rng: np.random.Generator) -> tuple[Array, Made]:
    Z = rng.standard_normal((n, 2))
    y = np.sin(2.0 * Z[:, 0]) + 0.7 * Z[:, 1] ** 2 + 0.5 * rng.standard_normal(n)
    of_first = 0.5 * (1.0 - np.exp(-8.0))  # variance of sin(2 z)
    of_second = 0.49 * 2.0
    total = of_first + of_second + 0.25
    cuts = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    coded = code_variance(lambda z: np.sin(2.0 * z), cuts) + code_variance(lambda z: 0.7 * z**2, cuts)
    turned = Z @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / 2.0**0.5
    return y, {
        "as it is": (Z, (of_first + of_second) / total),
        "turned": (turned, (of_first + of_second) / total),
        "6 codes": (np.digitize(Z, cuts).astype(np.float64), coded / total),
        "second alone": (Z[:, 1:], of_second / total),
    }


def code_variance(function: Callable[[float], float], cuts: Array) -> float:
    """Return the variance of the mean of a function of a normal number, given its code."""
    ends = np.concatenate([[-12.0], cuts, [12.0]])
    weights = np.diff(norm.cdf(ends))
    pairs = pairwise(ends)
    sums = np.array([quad(lambda z: function(z) * norm.pdf(z), low, high)[0] for low, high in pairs])
    return float((sums**2 / weights).sum() - sums.sum() ** 2)


PROBLEMS = tuple(
    RepresentationProblem(draw.__name__.replace("_", " "), "numbers" if "numbers" in draw.__name__ else "classes", draw)
    for draw in (
        rotation,
        lossy_projection,
        noise_columns,
        coarse_coding,
        embedding,
        random_projection,
        measurement_noise,
        checkerboard,
        five_classes,
        two_views,
        linear_numbers,
        curved_numbers,
    )
)
BY_NAME = {problem.name: problem for problem in PROBLEMS}
