"""Regression problems whose noise is known, to judge estimators of the best R² that any model can reach.

    python -m benchmarks.problems.regression_problems    print the table MOMENTS below (a minute)

A problem draws rows x, and y = f(x) + σ(x) ε with ε of mean 0 and variance 1:

    X, y, f, sigma2 = problem("friedman1-10")(2000, np.random.default_rng(0))

σ(x) is a scale times a known function, the spread. The scale is chosen so that the best R², Var f / (Var f + E σ²),
is the figure that stands in the list; it needs Var f and E spread², in closed form or over a million draws.
Estimators are chosen on the half "design" and judged on the half "held-out". Each family is in both.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Rng = np.random.Generator
Draw = Callable[[int, Rng], Any]
Function = Callable[[Any], Array]
TURN = 2 * np.pi
NORMAL = stats.norm()


def generator(name: str) -> Rng:
    return np.random.default_rng(zlib.crc32(name.encode()))


# --- rows


def box(d: int, low: float = 0.0, high: float = 1.0) -> Draw:
    return lambda n, rng: rng.uniform(low, high, (n, d))


def normal(d: int, correlation: float = 0.0) -> Draw:
    """Normal features; neighbouring ones are correlated as in an autoregression."""
    root = np.linalg.cholesky(correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    return lambda n, rng: rng.standard_normal((n, d)) @ root.T


def circuits(n: int, rng: Rng) -> Array:
    """Rows of Friedman's second and third problem: resistance, frequency, inductance, capacitance."""
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    return low + (high - low) * rng.random((n, 4))


def repeated(draw: Draw, times: int) -> Draw:
    """Each row so often, in a random order; y is measured anew each time."""
    return lambda n, rng: rng.permutation(np.repeat(draw(-(-n // times), rng), times, axis=0)[:n])


@dataclass(frozen=True)
class Sheet:
    """Few variables on [0, 1], bent into d dimensions without noise; `unfold` is the way back."""

    k: int
    d: int
    name: str

    def __call__(self, n: int, rng: Rng) -> Array:
        """Draw rows."""
        Z = rng.random((n, self.k))
        bent = np.hstack([2 * Z, np.sin(TURN * Z) / np.pi, np.cos(TURN * Z) / np.pi])
        return bent @ self.axes.T

    @cached_property
    def axes(self) -> Array:
        """Directions in d dimensions; the first k hold the variables themselves."""
        return np.linalg.qr(generator(self.name).standard_normal((self.d, 3 * self.k)))[0]

    def of(self, function: Function) -> Function:
        """Return a function of x for a function of the variables."""
        return lambda X: function((X @ self.axes[:, : self.k]) / 2)


@dataclass(frozen=True)
class Columns:
    """A data frame: nominal columns of so many levels, unevenly frequent, then uniform numbers."""

    levels: tuple[int, ...]
    n_numbers: int

    def __call__(self, n: int, rng: Rng) -> pd.DataFrame:
        """Draw rows."""
        columns: dict[str, Any] = {}
        for place, count in enumerate(self.levels):
            shares = 1 / (np.arange(count) + 0.25 * count + 1)
            codes = rng.choice(count, n, p=shares / shares.sum())
            columns[f"kind{place}"] = np.array([f"level {code:03d}" for code in range(count)])[codes]
        columns |= {f"number{place}": rng.random(n) for place in range(self.n_numbers)}
        return pd.DataFrame(columns)

    def effect(self, place: int, strength: float, name: str) -> Function:
        """Each level of a column adds a number of its own."""
        effects = strength * generator(name).standard_normal(self.levels[place])
        return lambda frame: effects[self.codes(frame, place)]

    def codes(self, frame: pd.DataFrame, place: int) -> NDArray[np.int64]:
        """Return the levels of a nominal column as numbers."""
        return frame[f"kind{place}"].str[-3:].to_numpy().astype(np.int64)


# --- what is known of y


def linear(d: int, name: str, n_used: int | None = None) -> Function:
    weights = generator(name).standard_normal(d)
    weights[d if n_used is None else n_used :] = 0
    return lambda X: X @ weights


def friedman1(X: Array, first: int = 0) -> Array:
    a, b, c, d, e = X[:, first : first + 5].T
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def friedman2(X: Array) -> Array:
    return np.hypot(X[:, 0], X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]))


def friedman3(X: Array) -> Array:
    return np.arctan2(X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]), X[:, 0])


SHAPES: tuple[Callable[[Array], Array], ...] = (
    lambda x: np.sin(TURN * x),
    lambda x: 4 * (x - 0.5) ** 2,
    lambda x: np.abs(2 * x - 1),
    lambda x: np.exp(2 * x) / 4,
    lambda x: np.tanh(6 * x - 3),
    lambda x: 2 * x,
)


def additive(columns: int, strengths: Any = 1.0) -> Function:
    """Sum a shape of each of the first columns of [0, 1]."""
    weights = np.broadcast_to(strengths, columns)
    return lambda X: sum(weights[j] * SHAPES[j % len(SHAPES)](X[:, j]) for j in range(columns))


def products(sets: list[tuple[int, ...]], single: tuple[int, ...] = ()) -> Function:
    return lambda X: sum(X[:, list(each)].prod(axis=1) for each in sets) + sum(X[:, column] for column in single)


def wave(direction: Any, frequency: float) -> Function:
    direction = np.asarray(direction, float)
    return lambda X: np.sin(TURN * frequency * (X[:, : len(direction)] @ direction))


def rule_tree(depth: int, d: int, name: str) -> Function:
    """Levels in the leaves of a random tree of cuts of [0, 1]^d."""
    rng = generator(name)

    def grow(level: int, bounds: Array) -> Any:
        if level == depth:
            return rng.standard_normal()
        column = int(rng.integers(d))
        a, b = bounds[column]
        cut = rng.uniform(a + 0.3 * (b - a), b - 0.3 * (b - a))
        left, right = bounds.copy(), bounds.copy()
        left[column, 1], right[column, 0] = cut, cut
        return column, cut, grow(level + 1, left), grow(level + 1, right)

    tree = grow(0, np.tile([0.0, 1.0], (d, 1)))

    def value(X: Array) -> Array:
        def walk(node: Any, rows: NDArray[np.int64]) -> None:
            if not isinstance(node, tuple):
                result[rows] = node
                return
            column, cut, left, right = node
            below = X[rows, column] <= cut
            walk(left, rows[below])
            walk(right, rows[~below])

        result = np.empty(len(X))
        walk(tree, np.arange(len(X)))
        return result

    return value


def total(*functions: Function) -> Function:
    return lambda X: sum(function(X) for function in functions)


def even(X: Any) -> Array:
    """Spread of noise that is the same everywhere."""
    return np.ones(len(X))


def of_column(column: int, low: float, high: float) -> Function:
    """Spread that grows along a column of [0, 1]."""
    return lambda X: low + (high - low) * X[:, column]


@dataclass(frozen=True)
class Problem:
    """A problem: rows, what is known of y, the spread of the noise, and its law."""

    family: str
    name: str
    half: str
    draw: Draw
    signal: Function
    r2: float  #: the best R² that any model can reach
    spread: Function = even
    law: Any = NORMAL

    def __call__(self, n: int, rng: Rng) -> tuple[Any, Array, Array, Array]:
        """Draw X, y, f(x) and σ²(x)."""
        X = self.draw(n, rng)
        f, sd = self.signal(X), self.scale * self.spread(X)
        noise = (self.law.rvs(n, random_state=rng) - self.law.mean()) / self.law.std()
        return X, f + sd * noise, f, sd**2

    @property
    def scale(self) -> float:
        """The factor of the spread that makes the best R² what it is said to be."""
        signal_variance, _, mean_square = MOMENTS[self.name]
        return float(np.sqrt(signal_variance * (1 - self.r2) / (self.r2 * mean_square)))

    @property
    def noise_variance(self) -> float:
        """E Var(y | x)."""
        return self.scale**2 * MOMENTS[self.name][2]

    @property
    def mae(self) -> float:
        """The smallest mean absolute error: that of the conditional median."""
        median = float(self.law.median())
        away = float(self.law.expect(lambda e: np.abs(e - median)) / self.law.std())
        return self.scale * MOMENTS[self.name][1] * away

    def moments(self, n: int = 1_000_000, part: int = 50_000) -> tuple[float, float, float]:
        """Return Var f, E spread and E spread² over many draws."""
        rng, sums = generator(self.name + self.half), np.zeros(4)
        for _ in range(n // part):
            X = self.draw(part, rng)
            f, spread = self.signal(X), self.spread(X)
            sums += f.mean(), (f**2).mean(), spread.mean(), (spread**2).mean()
        mean, square, first, second = sums * part / n
        return square - mean**2, first, second


T3, T4, T5, SKEW = stats.t(3), stats.t(4), stats.t(5), stats.gamma(2)
SHEET2, SHEET3, SHEET_OUT = Sheet(2, 20, "p"), Sheet(3, 60, "q"), Sheet(2, 100, "r")
FEW, MANY = Columns((8, 5), 3), Columns((100,), 4)
FEW_OUT, MANY_OUT = Columns((12, 6, 3), 2), Columns((200, 10), 3)


def number(place: int, shape: int, strength: float) -> Function:
    return lambda frame: strength * SHAPES[shape](frame[f"number{place}"].to_numpy())


# family, name, rows, signal, best R², spread (even where left out), law (normal where left out)
DESIGN: list[tuple[Any, ...]] = [
    ("linear", "linear-10", normal(10), linear(10, "a"), 0.8),
    ("linear", "linear-20-correlated", normal(20, 0.7), linear(20, "b"), 0.5),
    ("friedman", "friedman1-10", box(10), friedman1, 0.9),
    ("friedman", "friedman3", circuits, friedman3, 0.75),
    ("additive", "additive-6", box(6), additive(6), 0.85),
    ("additive", "additive-12", box(12), additive(12), 0.6),
    ("interactions", "products-2-of-8", normal(8), products([(0, 1), (2, 3)], (4,)), 0.8),
    ("periodic", "wave-1", box(1), wave([1], 3), 0.9),
    ("periodic", "wave-2-of-4", box(4), wave([1, 0.5], 1.5), 0.7),
    ("steps", "steps-3", box(3), rule_tree(4, 3, "c"), 0.85),
    ("sparse", "sparse-3-of-100", box(100), additive(3, (1.0, 1.0, 1.5)), 0.8),
    ("manifold", "sheet-2-in-20", SHEET2, SHEET2.of(lambda Z: wave([1], 1)(Z) + 2 * Z[:, 0] * Z[:, 1]), 0.9),
    ("manifold", "sheet-3-in-60", SHEET3, SHEET3.of(additive(3)), 0.7),
    (
        "categories",
        "levels-8-5",
        FEW,
        total(FEW.effect(0, 1, "d"), FEW.effect(1, 1, "e"), number(0, 0, 1.0), number(1, 5, 1.0)),
        0.8,
    ),
    ("categories", "levels-100", MANY, total(MANY.effect(0, 1, "f"), number(0, 4, 0.7), number(1, 1, 0.7)), 0.6),
    ("heteroscedastic", "uneven-linear-3", box(3), linear(3, "g"), 0.8, of_column(0, 0.2, 2.0)),
    ("heteroscedastic", "uneven-friedman1-5", box(5), friedman1, 0.85, of_column(3, 0.3, 1.5)),
    ("t-noise", "t3-additive-4", box(4), additive(4), 0.7, even, T3),
    ("replicated", "friedman1-5-measured-4", repeated(box(5), 4), friedman1, 0.8),
    ("replicated", "linear-8-measured-2", repeated(normal(8), 2), linear(8, "h"), 0.9),
]

HELD_OUT: list[tuple[Any, ...]] = [
    ("linear", "linear-30", normal(30, 0.3), linear(30, "i"), 0.9),
    ("friedman", "friedman2", circuits, friedman2, 0.8),
    ("friedman", "friedman1-20", box(20), friedman1, 0.6),
    ("additive", "additive-8", box(8), additive(8, (1, 0.5, 1, 2, 1, 1, 0.5, 1)), 0.95),
    ("interactions", "product-3-of-12", normal(12), products([(0, 1, 2), (3, 4)], (5, 6)), 0.7),
    ("interactions", "bump-4", box(4, -1), lambda X: np.exp(-2 * (X**2).sum(axis=1)) + X[:, 0] * X[:, 1], 0.85),
    ("periodic", "wave-2", box(2), total(wave([1, 1], 1), wave([1, -0.5], 2)), 0.85),
    ("steps", "steps-6", box(6), rule_tree(5, 6, "j"), 0.7),
    ("steps", "staircase", box(1), lambda X: np.floor(7 * X[:, 0]) % 3, 0.9),
    ("sparse", "friedman1-of-100", box(100), friedman1, 0.85),
    ("sparse", "linear-10-of-100", normal(100), linear(100, "k", 10), 0.5),
    ("manifold", "sheet-2-in-100", SHEET_OUT, SHEET_OUT.of(wave([1, 1], 0.8)), 0.8),
    (
        "categories",
        "levels-12-6-3",
        FEW_OUT,
        total(FEW_OUT.effect(0, 1, "l"), FEW_OUT.effect(1, 0.7, "m"), FEW_OUT.effect(2, 0.7, "n"), number(0, 3, 0.5)),
        0.9,
    ),
    (
        "categories",
        "levels-200-10",
        MANY_OUT,
        total(MANY_OUT.effect(0, 1, "o"), MANY_OUT.effect(1, 0.5, "t"), number(0, 2, 1.0), number(1, 5, 0.5)),
        0.7,
    ),
    ("heteroscedastic", "uneven-wave-2", box(2), wave([1, 0.3], 1.5), 0.75, lambda X: 0.3 + np.abs(X[:, 1] - 0.5)),
    ("heteroscedastic", "uneven-steps-4", box(4), rule_tree(3, 4, "u"), 0.8, of_column(1, 1.5, 0.2)),
    ("t-noise", "t4-friedman1-6", box(6), friedman1, 0.8, even, T4),
    ("t-noise", "t5-linear-6", normal(6), linear(6, "v"), 0.6, even, T5),
    ("replicated", "additive-7-measured-3", repeated(box(7), 3), additive(7), 0.85),
    ("replicated", "steps-10-measured-6", repeated(box(10), 6), rule_tree(4, 10, "w"), 0.7, even, SKEW),
]

#: Var f, E spread, E spread² over a million draws.
MOMENTS: dict[str, tuple[float, float, float]] = {
    "linear-10": (5.3442, 1, 1),
    "linear-20-correlated": (7.41687, 1, 1),
    "friedman1-10": (23.8172, 1, 1),
    "friedman3": (0.100664, 1, 1),
    "additive-6": (1.86864, 1, 1),
    "additive-12": (3.74555, 1, 1),
    "products-2-of-8": (2.99826, 1, 1),
    "wave-1": (0.500125, 1, 1),
    "wave-2-of-4": (0.49752, 1, 1),
    "steps-3": (0.561536, 1, 1),
    "sparse-3-of-100": (0.77488, 1, 1),
    "sheet-2-in-20": (0.376347, 1, 1),
    "sheet-3-in-60": (0.672919, 1, 1),
    "levels-8-5": (1.89681, 1, 1),
    "levels-100": (1.42647, 1, 1),
    "uneven-linear-3": (0.367998, 1.10071, 1.48148),
    "uneven-friedman1-5": (23.7672, 0.899356, 0.928716),
    "t3-additive-4": (0.871333, 1, 1),
    "friedman1-5-measured-4": (23.8527, 1, 1),
    "linear-8-measured-2": (4.8423, 1, 1),
    "linear-30": (29.6437, 1, 1),
    "friedman2": (142955, 1, 1),
    "friedman1-20": (23.8466, 1, 1),
    "additive-8": (2.61943, 1, 1),
    "product-3-of-12": (4.00961, 1, 1),
    "bump-4": (0.132484, 1, 1),
    "wave-2": (0.99748, 1, 1),
    "steps-6": (0.871643, 1, 1),
    "staircase": (0.694326, 1, 1),
    "friedman1-of-100": (23.8505, 1, 1),
    "linear-10-of-100": (10.2644, 1, 1),
    "sheet-2-in-100": (0.511798, 1, 1),
    "levels-12-6-3": (1.28314, 1, 1),
    "levels-200-10": (1.38631, 1, 1),
    "uneven-wave-2": (0.498959, 0.549481, 0.322755),
    "uneven-steps-4": (0.638439, 0.850257, 0.863853),
    "t4-friedman1-6": (23.7834, 1, 1),
    "t5-linear-6": (4.88174, 1, 1),
    "additive-7-measured-3": (2.36981, 1, 1),
    "steps-10-measured-6": (1.14333, 1, 1),
}

PROBLEMS: tuple[Problem, ...] = tuple(
    Problem(row[0], row[1], half, *row[2:])
    for half, rows in (("design", DESIGN), ("held-out", HELD_OUT))
    for row in rows
)
BY_NAME = {each.name: each for each in PROBLEMS}


def problem(name: str) -> Problem:
    return BY_NAME[name]


if __name__ == "__main__":
    for each in PROBLEMS:
        variance, first, second = each.moments()
        print(f'    "{each.name}": ({variance:.6g}, {first:.6g}, {second:.6g}),', flush=True)
