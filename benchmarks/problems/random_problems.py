"""Random problems of known truth: laws of columns, functions of them and noise, drawn from a seed.

    problem = draw_problem("classes", np.random.default_rng(0))
    X, y = problem.sample(500, np.random.default_rng(1))
    problem.truth       # the best error, or the best R²

They are a broad prior over what users may have, to learn from many of them how far what was reached lies from the best
possible (`benchmarks/truth/random_problems.py`). Laws of columns are in `LAWS`, functions of them in `FUNCTIONS`.
Labels follow a softmax of random functions, one for each class, numbers follow one function; noise is even or depends
on the row. Truths are means over many rows of the law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator
Draw = Callable[[int, Rng], Array]
Function = Callable[[Array], Array]
#: Rows that columns and functions are standardised by, and that the truth is a mean of.
N_SCALED, N_TRUTH = 3000, 30_000
#: Columns of a problem, evenly on a logarithmic scale; and of one with many.
COLUMNS, MANY_COLUMNS = (2, 60), (40, 300)


# --- laws of columns: each takes their number and a generator


def factors(d: int, rng: Rng) -> Draw:
    """Few common factors and noise of each column's own."""
    rank = int(rng.integers(1, d // 2 + 2))
    loadings, own = rng.standard_normal((rank, d)) / rank**0.5, rng.uniform(0.1, 1.2, d)
    return lambda n, rng: rng.standard_normal((n, rank)) @ loadings + own * rng.standard_normal((n, d))


def groups(d: int, rng: Rng) -> Draw:
    """Clusters of unequal size."""
    n_groups = int(rng.integers(2, 25))
    centres = rng.standard_normal((n_groups, d)) * rng.uniform(0.5, 3.0)
    share, own = rng.dirichlet(np.ones(n_groups)), rng.uniform(0.2, 1.2, d)
    return lambda n, rng: centres[rng.choice(n_groups, n, p=share)] + own * rng.standard_normal((n, d))


def boxes(d: int, rng: Rng) -> Draw:
    """Independent and even."""
    return lambda n, rng: rng.random((n, d))


def long_tails(d: int, rng: Rng) -> Draw:
    """Factors, with Student's tails or as logarithms."""
    normal, freedom, is_log = factors(d, rng), rng.uniform(2.5, 6.0), rng.random(d) < 0.3

    def draw(n: int, rng: Rng) -> Array:
        X = normal(n, rng) / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom)
        return np.where(is_log, np.exp(np.clip(X, -5.0, 5.0)), X)

    return draw


def answers(d: int, rng: Rng) -> Draw:
    """Yes or no, of common factors."""
    normal, cut = factors(d, rng), rng.normal(0.0, 0.7, d)
    return lambda n, rng: (normal(n, rng) > cut).astype(float)


def scales(d: int, rng: Rng) -> Draw:
    """Some columns rounded to few values, the others as they are."""
    normal, step = factors(d, rng), np.where(rng.random(d) < 0.6, rng.uniform(0.3, 1.5, d), 1e-9)
    return lambda n, rng: np.round(normal(n, rng) / step) * step


def sheet(d: int, rng: Rng) -> Draw:
    """Few variables, bent into all columns, with a little noise."""
    rank, noise = int(rng.integers(1, 5)), rng.choice([0.01, 0.05, 0.2])
    inner, outer = rng.standard_normal((rank, 8)) * 1.5, rng.standard_normal((8, d)) / 8**0.5
    shift = rng.uniform(0.0, 2 * np.pi, 8)
    return lambda n, rng: (
        np.sin(rng.standard_normal((n, rank)) @ inner + shift) @ outer + noise * rng.standard_normal((n, d))
    )


LAWS = (factors, factors, groups, groups, boxes, long_tails, answers, scales, sheet)


# --- functions of standardised columns: each takes the columns that count, how many functions, rows of the law


def linear(s: int, k: int, rng: Rng, known: Array) -> Function:
    weights = rng.standard_normal((s, k)) * rng.gamma(0.7, 1.0, (s, 1))
    return lambda Z: Z @ weights


def squares(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Quadratic forms beside a linear one."""
    forms, weights = rng.standard_normal((k, s, s)) / s, rng.standard_normal((s, k)) * rng.choice([0.0, 0.5])
    return lambda Z: Z @ weights + np.einsum("ni,kij,nj->nk", Z, forms, Z, optimize=True)


def layers(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A random network of one to three layers."""
    bend = (np.tanh, np.sin, lambda V: np.maximum(V, 0.0))[int(rng.integers(3))]
    sizes = [s, *rng.integers(4, 33, int(rng.integers(1, 4)))]
    steps = [
        (rng.standard_normal((a, b)) * rng.uniform(1.0, 2.5) / a**0.5, rng.standard_normal(b))
        for a, b in pairwise(sizes)
    ]
    out = rng.standard_normal((sizes[-1], k))

    def function(Z: Array) -> Array:
        for weights, shift in steps:
            Z = bend(Z @ weights + shift)
        return Z @ out

    return function


def rules(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A sum of a few trees, each of which asks the same questions in all branches."""
    trees = []
    for _ in range(int(rng.integers(1, 6))):
        depth = int(rng.integers(2, 7))
        columns = rng.integers(0, s, depth)
        cuts = known[rng.integers(0, len(known), depth), columns]
        trees.append((columns, cuts, rng.standard_normal((2**depth, k))))

    def function(Z: Array) -> Array:
        return sum(leaves[(Z[:, columns] > cuts) @ 2 ** np.arange(len(cuts))] for columns, cuts, leaves in trees)

    return function


def cosines(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Waves along random directions."""
    n_waves = int(rng.integers(3, 60))
    directions = rng.standard_normal((s, n_waves)) * rng.uniform(0.5, 3.0) / s**0.5
    shift, out = rng.uniform(0.0, 2 * np.pi, n_waves), rng.standard_normal((n_waves, k))
    return lambda Z: np.cos(Z @ directions + shift) @ out


def board(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Fields of a chessboard over two to four columns; each function has a board of its own."""
    width, order = rng.uniform(0.6, 2.5, k), [rng.permutation(s)[: int(rng.integers(2, 5))] for _ in range(k)]
    return lambda Z: np.column_stack(
        [np.floor(Z[:, columns] / w).sum(axis=1) % 2 for columns, w in zip(order, width, strict=True)]
    )


def bumps(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A soft nearest of some rows, each with a value of its own."""
    n_bumps, sharp = int(rng.integers(k + 2, 50)), rng.uniform(0.3, 3.0)
    centres, values = known[rng.choice(len(known), n_bumps)], rng.standard_normal((n_bumps, k))

    def function(Z: Array) -> Array:
        distances = (Z**2).sum(axis=1)[:, None] - 2 * Z @ centres.T + (centres**2).sum(axis=1)
        weights = np.exp(-sharp * (distances - distances.min(axis=1, keepdims=True)))
        return weights / weights.sum(axis=1, keepdims=True) @ values

    return function


def sums(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A sum of functions of single columns, each with a few steps or bends."""
    places = np.sort(known[rng.integers(0, len(known), (4, s)), np.arange(s)], axis=0)
    heights, steep = rng.standard_normal((4, s, k)), rng.choice([1.0, 4.0, 50.0])
    return lambda Z: sum(np.tanh(steep * (Z - place)) @ height for place, height in zip(places, heights, strict=True))


def products(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Products of two or three columns, beside a linear function or alone."""
    sets = [rng.integers(0, s, int(rng.integers(2, 4))) for _ in range(int(rng.integers(1, 6)))]
    weights, alone = rng.standard_normal((len(sets), k)), rng.standard_normal((s, k)) * rng.choice([0.0, 0.3])
    return lambda Z: np.column_stack([Z[:, columns].prod(axis=1) for columns in sets]) @ weights + Z @ alone


def cross_table(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A value for each cell of a table of one or two columns."""
    columns = rng.permutation(s)[: int(rng.integers(1, 3))]
    n_cells = int(rng.integers(3, 13))
    cuts = np.quantile(known[:, columns], np.linspace(0, 1, n_cells + 1)[1:-1], axis=0)
    values = rng.standard_normal((n_cells,) * len(columns) + (k,))
    return lambda Z: values[tuple(np.searchsorted(cut, Z[:, j]) for cut, j in zip(cuts.T, columns, strict=True))]


def distances(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Shells about random points."""
    centres, width = rng.standard_normal((k, s)) * 0.7, rng.uniform(0.5, 2.0)
    return lambda Z: np.column_stack([np.sin(np.sqrt(((Z - c) ** 2).sum(axis=1)) / width) for c in centres])


def densities(s: int, k: int, rng: Rng, known: Array) -> Function:
    """Logarithms of mixtures of normal densities."""
    n_parts = int(rng.integers(1, 5))
    centres, width = rng.standard_normal((k, n_parts, s)) * rng.uniform(0.5, 2.0), rng.uniform(0.5, 1.5, (k, n_parts))

    def function(Z: Array) -> Array:
        logs = -0.5 * ((Z[:, None, None] - centres) ** 2).sum(axis=3) / width**2 - s * np.log(width)
        return np.logaddexp.reduce(np.clip(logs, -60.0, None), axis=2)

    return function


def partition(s: int, k: int, rng: Rng, known: Array) -> Function:
    """A value for each of some cells: the rows nearest to a centre."""
    n_cells = int(rng.integers(5, 60))
    centres, values = known[rng.choice(len(known), n_cells)], rng.standard_normal((n_cells, k))
    return lambda Z: values[((Z**2).sum(axis=1)[:, None] - 2 * Z @ centres.T + (centres**2).sum(axis=1)).argmin(axis=1)]


FUNCTIONS = (
    *(linear, squares, layers, layers, rules, rules, cosines, board, bumps, sums, products, cross_table),
    *(distances, densities, partition),
)


# --- problems


@dataclass(frozen=True)
class RandomProblem:
    """A law of rows, their posterior or mean and standard deviation of noise, and the truth."""

    about: str
    draw: Draw
    known: Callable[[Array], tuple[Array, Array]]  #: rows -> posterior, or mean; and standard deviation of numbers
    tails: float  #: degrees of freedom of the noise of numbers
    truth: float

    def sample(self, n: int, rng: Rng) -> tuple[Array, NDArray[Any]]:
        """Draw rows, and labels or numbers for them."""
        X = self.draw(n, rng)
        means, deviation = self.known(X)
        if means.shape[1] > 1:
            return X, (1 - rng.random((n, 1)) > np.cumsum(means, axis=1)[:, :-1]).sum(axis=1)
        noise = rng.standard_t(self.tails, n) / (self.tails / (self.tails - 2)) ** 0.5
        return X, means[:, 0] + deviation * noise


def draw_problem(task: str, rng: Rng, n_columns: tuple[int, int] = COLUMNS) -> RandomProblem:
    """Draw a problem of classes or numbers."""
    d = int(np.exp(rng.uniform(*np.log(n_columns))))
    k = int(rng.choice([2, 3, 4, 6, 10], p=[0.5, 0.2, 0.12, 0.1, 0.08])) if task == "classes" else 1
    law, kind = LAWS[int(rng.integers(len(LAWS)))], FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    draw = law(d, rng)
    rows = draw(N_SCALED, rng)
    centre, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    columns = rng.permutation(d)[: int(rng.integers(1, 16))]
    if len(columns) == 1 and kind in (board, products):
        kind = sums

    def standard(X: Array) -> Array:
        return np.clip((X - centre) / spread, -5.0, 5.0)[:, columns]

    function = kind(len(columns), k, rng, standard(rows))
    values = function(standard(rows))
    middle, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
    uneven = np.where(rng.random(d) < 0.5, rng.standard_normal(d), 0.0) * float(rng.random() < 0.4)
    kind_of_noise = _labels(k, rng) if task == "classes" else _numbers(rng)

    def known(X: Array) -> tuple[Array, Array]:
        side = np.clip((X - centre) / spread, -5.0, 5.0) @ uneven
        return kind_of_noise((function(standard(X)) - middle) / scale, np.tanh(side))

    means, deviation = known(draw(N_TRUTH, rng))
    variance = float(means.var()) if task == "numbers" else 0.0
    truth = (
        float(1 - means.max(axis=1).mean())
        if task == "classes"
        else variance / (variance + float((deviation**2).mean()))
    )
    return RandomProblem(f"{law.__name__}, {kind.__name__}", draw, known, float(rng.choice([4.0, 8.0, 1e6])), truth)


def _labels(k: int, rng: Rng) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return what turns scores into a posterior: a softmax, and labels that are wrong at random, or so on one side."""
    strength, shift = (
        np.exp(rng.uniform(np.log(0.4), np.log(25.0))),
        rng.standard_normal(k) * rng.choice([0, 0, 0.5, 1.5]),
    )
    wrong = float(rng.choice([0.0, 1.0])) * rng.uniform(0.02, 0.6)

    def posterior(scores: Array, side: Array) -> tuple[Array, Array]:
        scores = strength * scores + shift
        q = np.exp(scores - scores.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        share = (wrong * (1 + side) / 2)[:, None]
        return (1 - share) * q + share / k, side

    return posterior


def _numbers(rng: Rng) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return what turns a function into a mean and the standard deviation of its noise."""
    best = rng.uniform(0.15, 0.98)
    deviation = np.sqrt((1 - best) / best)
    return lambda values, side: (values, deviation * (1 + 0.9 * side))
