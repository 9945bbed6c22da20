"""Kinds of problems that a learner has to be made for, with their Bayes errors, to judge estimators of it.

    python -m benchmarks.problems.truth_families    print the table BAYES_ERROR below (a few minutes)

The problems of truth_scenarios.py are smooth, or in few features. Those here are neither: labels that follow two or
three of many features together, parities, trees of rules, nominal columns, motifs that may stand anywhere, boundaries
that come again and again, embeddings in hundreds of dimensions, and rows that were copied. The posterior is known for
each, as there. Two families, "logic" and "needle", are in the held-out half alone.
"""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problems.truth_scenarios import (
    BENT,
    TURN,
    Array,
    Densities,
    Labelled,
    Labels,
    Mixture,
    Rng,
    Scenario,
    View,
    as_entries,
    blurred,
    box,
    chain,
    cloud,
    flipped,
    isometry,
    make,
)

Draw = Callable[[int, Rng], Array]
Score = Callable[[Array], Array]


def normal(d: int) -> Draw:
    return lambda n, rng: rng.standard_normal((n, d))


def bits(d: int, share: float = 0.5) -> Draw:
    return lambda n, rng: (rng.random((n, d)) < share).astype(float)


def levels(*counts: int) -> Draw:
    """Integer codes, each column with its number of levels, none more frequent than the others."""
    return lambda n, rng: np.column_stack([rng.integers(0, count, n) for count in counts]).astype(float)


def beside(first: Draw, second: Draw) -> Draw:
    return lambda n, rng: np.hstack([first(n, rng), second(n, rng)])


def generator(name: str) -> Rng:
    return np.random.default_rng(zlib.crc32(name.encode()))


# --- labels that follow several features together


def products(sets: list[tuple[int, ...]], strength: float, single: tuple[int, ...] = ()) -> Score:
    """Log odds of products of features, and of single ones."""

    def log_odds(Z: Array) -> Array:
        together = sum(Z[:, list(columns)].prod(axis=1) for columns in sets)
        return strength * together + sum(Z[:, column] for column in single)

    return log_odds


def signs(columns: list[int]) -> Score:
    """Whether an even number of features is positive."""
    return lambda Z: (Z[:, columns] > 0).sum(axis=1) % 2


def parity_of(columns: list[int]) -> Score:
    return lambda Z: Z[:, columns].sum(axis=1) % 2


def rule_tree(depth: int, d: int, leaves: Any, name: str, low: float = 0.0, high: float = 1.0) -> Score:
    """Probabilities in the leaves of a random tree of cuts, of rows in [low, high]^d; `leaves(rng)` draws a leaf."""
    rng = generator(name)

    def grow(level: int, bounds: Array) -> Any:
        if level == depth:
            return leaves(rng)
        column = int(rng.integers(d))
        a, b = bounds[column]
        cut = rng.uniform(a + 0.3 * (b - a), b - 0.3 * (b - a))
        left, right = bounds.copy(), bounds.copy()
        left[column, 1], right[column, 0] = cut, cut
        return column, cut, grow(level + 1, left), grow(level + 1, right)

    tree = grow(0, np.tile([low, high], (d, 1)))

    def posterior(Z: Array) -> Array:
        def walk(node: Any, rows: Labels) -> None:
            if isinstance(node, tuple):
                column, cut, left, right = node
                below = Z[rows, column] <= cut
                walk(left, rows[below])
                walk(right, rows[~below])
            else:
                result[rows] = node

        result = np.empty((len(Z), len(leaves(np.random.default_rng(0)))))
        walk(tree, np.arange(len(Z)))
        return result

    return posterior


def pure_leaves(n_classes: int, flip: float) -> Callable[[Rng], Array]:
    return lambda rng: np.where(np.arange(n_classes) == rng.integers(n_classes), 1 - flip, flip / (n_classes - 1))


def mixed_leaves(n_classes: int, concentration: float) -> Callable[[Rng], Array]:
    return lambda rng: rng.dirichlet(np.full(n_classes, concentration))


# --- nominal columns


def level_effects(counts: tuple[int, ...], strength: float, name: str, n_classes: int = 2) -> Callable[[Array], Array]:
    """Each level of each of the first columns adds to the scores of the classes, at random."""
    rng = generator(name)
    effects = [strength * rng.standard_normal((count, n_classes)) for count in counts]

    def posterior(Z: Array) -> Array:
        scores = sum(effect[Z[:, column].astype(int)] for column, effect in enumerate(effects))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    return posterior


def level_pairs(first: int, second: int, flip: float, name: str) -> Callable[[Array], Array]:
    """Every pair of levels of the first two columns has a class of its own."""
    table = generator(name).integers(0, 2, (first, second))
    return flipped(lambda Z: table[Z[:, 0].astype(int), Z[:, 1].astype(int)], flip)


# --- motifs and waves


def motifs(n_classes: int, length: int, width: int, size: float, name: str) -> Densities:
    """A motif of its own for each class, anywhere in a series, in white noise: a mixture over the places."""
    rng = generator(name)
    laws = []
    for _ in range(n_classes):
        motif = rng.standard_normal(width)
        motif *= size / np.linalg.norm(motif)
        places = np.zeros((length - width + 1, length))
        for start in range(len(places)):
            places[start, start : start + width] = motif
        laws.append(Mixture(places))
    return Densities(laws)


def waves(direction: Any, frequency: float) -> Score:
    """The side of a wave that a row is on, along a direction."""
    unit = np.asarray(direction, float) / np.linalg.norm(direction)
    return lambda Z: np.sin(TURN * frequency * (Z[:, : len(unit)] @ unit))


def stretched(k: int, d: int, noise: float, seed: int) -> View:
    """z of k dimensions bent, then in d of them: no direction of x shows one of z alone."""
    return chain(BENT, isometry(k, d, noise, seed))


# ruff: noqa: D102 - draw and posterior mean the same as in truth_scenarios.py
class Copied:
    """Rows of another problem, each copied so often; labels are copied with them, or drawn anew for each copy."""

    def __init__(self, problem: Any, times: int, *, own_labels: bool = False) -> None:
        self.problem, self.times, self.own_labels = problem, times, own_labels
        self.posterior = problem.posterior

    def draw(self, n: int, rng: Rng) -> tuple[Array, Labels]:
        Z, y = self.problem.draw(-(-n // self.times), rng)
        Z, y = np.repeat(Z, self.times, axis=0)[:n], np.repeat(y, self.times)[:n]
        if self.own_labels:
            y = (1 - rng.random((n, 1)) > np.cumsum(self.posterior(Z), axis=1)[:, :-1]).sum(axis=1)
        order = rng.permutation(n)
        return Z[order], y[order]


def formula(terms: list[tuple[int, ...]]) -> Score:
    """Whether all bits of any term are set."""
    return lambda Z: np.any([Z[:, list(term)].all(axis=1) for term in terms], axis=0)


def inside(radius: float, d: int) -> Score:
    return lambda Z: np.linalg.norm(Z[:, :d], axis=1) < radius


TRIANGLE = [[0.0] * 8, [1.6] + [0.0] * 7, [0.0, 1.6] + [0.0] * 6]

# Rows as in truth_scenarios.py: family, name, problem, closed form of the Bayes error (or None), view

DESIGN: list[tuple[Any, ...]] = [
    ("pairs", "product-2-of-15", Labelled(normal(15), blurred(products([(0, 1)], 3)))),
    ("pairs", "signs-2-of-30", Labelled(normal(30), flipped(signs([0, 1]), 0.1)), 0.1),
    ("pairs", "two-products-of-40", Labelled(normal(40), blurred(products([(0, 1), (2, 3)], 3, (4,))))),
    ("triples", "signs-3-of-15", Labelled(normal(15), flipped(signs([0, 1, 2]), 0.1)), 0.1),
    ("triples", "product-3-of-20", Labelled(normal(20), blurred(products([(0, 1, 2)], 4, (3,))))),
    ("parity", "parity-3-of-20-bits", Labelled(bits(20), flipped(parity_of([0, 1, 2]), 0.05)), 0.05),
    ("parity", "parity-2-of-60-bits", Labelled(bits(60), flipped(parity_of([0, 1]), 0.15)), 0.15),
    ("rules", "rules-depth4-d8", Labelled(box(8, 1), rule_tree(4, 8, pure_leaves(2, 0.05), "a")), 0.05),
    ("rules", "rules-depth6-d10-k3", Labelled(box(10, 1), rule_tree(6, 10, mixed_leaves(3, 0.2), "b"))),
    ("nominal", "levels-100-50", Labelled(levels(100, 50), level_effects((100, 50), 1.5, "c"))),
    ("nominal", "levels-400", Labelled(beside(levels(400), normal(3)), level_effects((400,), 1.5, "d"))),
    ("nominal", "level-pairs-12x10", Labelled(levels(12, 10, 5, 5), level_pairs(12, 10, 0.1, "e")), 0.1),
    ("motifs", "motifs-k2-32", motifs(2, 32, 8, 4.0, "f")),
    ("motifs", "motifs-k4-48", motifs(4, 48, 10, 5.0, "g")),
    ("waves", "waves-d2", Labelled(box(2, 4), flipped(lambda Z: waves([1, 1], 0.6)(Z) > 0, 0.1)), 0.1),
    ("waves", "waves-2-of-10", Labelled(box(10, 3), blurred(lambda Z: 4 * waves([1, 0.5], 0.5)(Z)))),
    ("embeddings", "mixture3-in-384", Densities(cloud((4, 4, 3), 2.0, 21)), None, stretched(3, 384, 0.3, 22)),
    ("embeddings", "mixture4-in-768", Densities(cloud((3, 4, 4), 1.6, 23)), None, isometry(4, 768, 0.5, 24)),
    ("copies", "gauss-copied-3", Copied(Densities(1.2 * np.eye(2, 6)), 3)),
    ("copies", "triangle-copied-5", Copied(Densities(TRIANGLE), 5)),
]

HELD_OUT: list[tuple[Any, ...]] = [
    ("pairs", "product-2-of-50", Labelled(normal(50), blurred(products([(3, 7)], 4, (9,))))),
    ("pairs", "three-products-of-25", Labelled(normal(25), blurred(products([(0, 1), (2, 3), (0, 4)], 3)))),
    ("pairs", "board-2-of-20", Labelled(box(20, 2), flipped(lambda Z: np.floor(Z[:, :2]).sum(axis=1) % 2, 0.15)), 0.15),
    ("triples", "signs-3-of-25", Labelled(normal(25), flipped(signs([4, 8, 11]), 0.05)), 0.05),
    ("triples", "product-3-of-30", Labelled(normal(30), blurred(products([(0, 1, 2), (3, 4, 5)], 4)))),
    ("parity", "parity-4-of-12-bits", Labelled(bits(12), flipped(parity_of([0, 1, 2, 3]), 0.1)), 0.1),
    ("parity", "parity-2-of-30-uneven", Labelled(bits(30, 0.3), flipped(parity_of([5, 6]), 0.1)), 0.1),
    ("rules", "rules-depth5-d20", Labelled(box(20, 1), rule_tree(5, 20, pure_leaves(2, 0.1), "h")), 0.1),
    ("rules", "rules-depth7-d6-k5", Labelled(box(6, 1), rule_tree(7, 6, mixed_leaves(5, 0.15), "i"))),
    ("nominal", "levels-200-30-k3", Labelled(levels(200, 30, 8), level_effects((200, 30, 8), 1.5, "j", 3))),
    ("nominal", "levels-60-60", Labelled(levels(60, 60), level_effects((60, 60), 2.0, "k"))),
    ("nominal", "level-pairs-20x8", Labelled(levels(20, 8, 4), level_pairs(20, 8, 0.05, "l")), 0.05),
    ("motifs", "motifs-k3-40", motifs(3, 40, 6, 4.0, "m")),
    ("motifs", "motifs-k2-64", motifs(2, 64, 12, 5.0, "n")),
    ("waves", "waves-d3", Labelled(box(3, 3), flipped(lambda Z: waves([1, 1, 0.3], 0.5)(Z) > 0, 0.05)), 0.05),
    ("waves", "waves-1-of-20", Labelled(box(20, 1), blurred(lambda Z: 5 * waves([1], 3)(Z)))),
    ("embeddings", "mixture5-in-512", Densities(cloud((5, 3, 5), 1.6, 25)), None, isometry(5, 512, 0.3, 26)),
    ("embeddings", "mixture3-in-640", Densities(cloud((2, 6, 3), 1.8, 27)), None, stretched(3, 640, 0.5, 28)),
    ("copies", "gauss-copied-2", Copied(Densities(1.5 * np.eye(3, 10)), 2)),
    ("copies", "copied-4-own-labels", Copied(Densities([[0] * 5, [1.5, 0.5, 0, 0, 0]]), 4, own_labels=True)),
    ("logic", "formula-of-24-bits", Labelled(bits(24), flipped(formula([(0, 1, 2), (3, 4, 5), (6, 7)]), 0.1)), 0.1),
    ("logic", "majority-of-9-of-30", Labelled(bits(30), flipped(lambda Z: Z[:, :9].sum(axis=1) > 4, 0.1)), 0.1),
    ("needle", "ball-in-3-of-8", Labelled(normal(8), flipped(inside(0.9, 3), 0.02)), 0.02),
    ("needle", "band-of-20", Labelled(normal(20), flipped(lambda Z: np.abs(Z[:, 0] - Z[:, 1]) < 0.5, 0.1)), 0.1),
]

#: Closed forms, else means over two million draws with standard errors of at most 0.0002.
BAYES_ERROR = {
    "product-2-of-15": 0.244,
    "signs-2-of-30": 0.1,
    "two-products-of-40": 0.1522,
    "signs-3-of-15": 0.1,
    "product-3-of-20": 0.2208,
    "parity-3-of-20-bits": 0.05,
    "parity-2-of-60-bits": 0.15,
    "rules-depth4-d8": 0.05,
    "rules-depth6-d10-k3": 0.2285,
    "levels-100-50": 0.1591,
    "levels-400": 0.2171,
    "level-pairs-12x10": 0.1,
    "motifs-k2-32": 0.0357,
    "motifs-k4-48": 0.0419,
    "waves-d2": 0.1,
    "waves-2-of-10": 0.1172,
    "mixture3-in-384": 0.2858,
    "mixture4-in-768": 0.1608,
    "gauss-copied-3": 0.198,
    "triangle-copied-5": 0.2958,
    "product-2-of-50": 0.1827,
    "three-products-of-25": 0.1438,
    "board-2-of-20": 0.15,
    "signs-3-of-25": 0.05,
    "product-3-of-30": 0.1837,
    "parity-4-of-12-bits": 0.1,
    "parity-2-of-30-uneven": 0.1,
    "rules-depth5-d20": 0.1,
    "rules-depth7-d6-k5": 0.2663,
    "levels-200-30-k3": 0.2065,
    "levels-60-60": 0.128,
    "level-pairs-20x8": 0.05,
    "motifs-k3-40": 0.1135,
    "motifs-k2-64": 0.0098,
    "waves-d3": 0.05,
    "waves-1-of-20": 0.0941,
    "mixture5-in-512": 0.2015,
    "mixture3-in-640": 0.1333,
    "gauss-copied-2": 0.2346,
    "copied-4-own-labels": 0.2143,
    "formula-of-24-bits": 0.1,
    "majority-of-9-of-30": 0.1,
    "ball-in-3-of-8": 0.02,
    "band-of-20": 0.1,
}

FAMILIES: tuple[Scenario, ...] = tuple(
    make(BAYES_ERROR, half, *row) for half, rows in (("design", DESIGN), ("held-out", HELD_OUT)) for row in rows
)


if __name__ == "__main__":
    print(as_entries(FAMILIES))
