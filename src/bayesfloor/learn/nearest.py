"""Nearest rows: the search, the mean of their targets, and kernel ridge regression of them alone."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.learner import Fitted, Output, Rows
from bayesfloor.learn.nearest_kernels import fit_nearest, keep_nearest
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.training_rows import Singles, Train, never_stop, single, typical_distance, within
from bayesfloor.runtime.arrays import Floats, Ints

#: Width of local ridge regression, as a share of the median distance, and its penalty.
LOCAL_WIDTH, LOCAL_PENALTY = 0.5, 0.01
#: Of many rows or classes: numbers of neighbours that vote.
N_NEIGHBORS = (1, 5, 15)
#: Nearest rows that local ridge regression is fitted to there; its widths, as shares of the median distance, and
#: penalties.
LOCAL_ROWS, LOCAL_FITS = 64, ((0.25, 0.3), (0.5, 0.01))
#: Least probability that local ridge regression gives a class, before all are divided by their sum.
LEAST = 1e-3
#: Least weight of a row in local ridge regression.
LIGHTEST = 1e-6
#: Rows whose distances tell the median, and test rows between two checks for cancellation.
LOCAL_SAMPLE, LOCAL_BLOCK = 500, 1024
#: Test rows and training rows in a block of distances, which stays in the cache.
NEAR_TESTS, NEAR_ROWS = 256, 2048
#: Test rows and training rows of a block where rows that lie together are in one, and how many directions of equal
#: variance rows may spread along for that: with more of them, nearly all blocks are near each other.
CLOSE_TESTS, CLOSE_ROWS, FEW_DIRECTIONS = 64, 256, 6.0
#: What single precision may change in a squared distance, as a share of the squared lengths of the rows.
ROUNDED = 1e-5


def nearest_rows(X: NDArray[Any], test: NDArray[Any], k: int, check: Callable[[], None] = never_stop) -> Ints:
    """Return the numbers of the k nearest rows of X for each test row, the nearest first; `check` as in `Train`.

    Of equal distances, the first row is nearer. Where rows spread along few directions, they are cut into boxes, and
    boxes that are farther away than the nearest rows so far are passed over.
    """
    k = min(k, len(X))
    known, others = single(X), single(test)
    distance, nearest = np.full((len(test), k), np.inf, np.float32), np.zeros((len(test), k), np.int64)
    is_boxed = len(X) > 2 * NEAR_ROWS and _n_directions(known) <= FEW_DIRECTIONS
    tests, blocks = (
        _boxes(rows, n) if is_boxed else _blocks(len(rows), many)
        for rows, n, many in ((others, CLOSE_TESTS, NEAR_TESTS), (known, CLOSE_ROWS, NEAR_ROWS))
    )
    squares, of_tests = (np.einsum("ij,ij->i", rows, rows) for rows in (known, others))
    low, high = (np.array([ends(known[own], axis=0) for own in blocks]) for ends in (np.min, np.max))
    slack = ROUNDED * float(squares.max(initial=0.0) + of_tests.max(initial=0.0))
    # The product of (-2x, 1) and (y, y'y) is a squared distance up to x'x, which all rows share.
    points = np.column_stack([-2.0 * others, np.ones(len(test), np.float32)])
    prepared = [_prepared(known[own], squares[own]) for own in blocks]
    for rows in tests:
        check()
        near, numbers = distance[rows], nearest[rows]
        own = points[np.resize(rows, CLOSE_TESTS if is_boxed else NEAR_TESTS)]  # as many rows as in all blocks
        apart = np.zeros(len(blocks))
        if is_boxed:
            gap = np.maximum(low - others[rows].max(axis=0), others[rows].min(axis=0) - high)
            apart = (np.maximum(gap, 0.0) ** 2).sum(axis=1) - slack
        for block in np.argsort(apart, kind="stable"):
            if apart[block] > (near[:, -1] + of_tests[rows]).max():
                break
            products = (own @ prepared[block])[: len(rows)]
            keep_nearest(products, np.resize(blocks[block], products.shape[1]), near, numbers)
        distance[rows], nearest[rows] = near, numbers
    return nearest


def _prepared(rows: Singles, squares: Singles) -> Singles:
    """Return (y, y'y) of rows as columns: a multiple of eight as in `product`, with rows that are infinitely far."""
    n = len(rows)
    prepared = np.zeros((rows.shape[1] + 1, n + -n % 8), np.float32)
    prepared[:-1, :n], prepared[-1] = rows.T, np.inf
    prepared[-1, :n] = squares
    return prepared


def _n_directions(X: Singles) -> float:
    """Return how many columns of equal variance vary as much as these: the square of their sum by that of squares."""
    variance = X.var(axis=0, dtype=np.float64)
    return float(variance.sum() ** 2 / max((variance**2).sum(), 1e-300))


def _blocks(n_rows: int, most: int) -> list[Ints]:
    """Cut rows into blocks of at most so many, as they come."""
    return [np.arange(first, min(first + most, n_rows)) for first in range(0, n_rows, most)]


def _boxes(X: Singles, most: int) -> list[Ints]:
    """Cut rows into blocks of rows that lie together, by halves along the column that varies the most."""
    waiting, found = [np.arange(len(X))], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            found.append(np.sort(rows))
            continue
        half = len(rows) // 2
        order = np.argpartition(X[rows, X[rows].var(axis=0).argmax()], half)
        waiting += [rows[order[:half]], rows[order[half:]]]
    return found


@record
class MeanOfNearest(Record):
    """The mean target of nearest rows, with the prior as one row more.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Targets of the rows.
    weight : ndarray of shape (n,) or None
        What they count.
    prior : ndarray
        As `Train.prior`.
    are_classes : bool
        Whether targets are classes.
    """

    y: NDArray[Any]
    weight: Floats | None
    prior: Floats
    are_classes: bool

    @classmethod
    def of_train(cls, train: Train, prior: Floats | None = None) -> "MeanOfNearest":
        """Take the targets of rows; a prior where the rows are some of many."""
        return cls(train.y, train.weight, train.prior if prior is None else prior, train.n_classes > 0)

    def of(self, nearest: Ints) -> Floats:
        """Return the mean of nearest rows, (n_test, k): (n_test, n_classes), or (n_test,) for numbers."""
        weight = np.ones(nearest.shape) if self.weight is None else self.weight[nearest]
        mass = 1.0 + weight.sum(axis=1)
        if not self.are_classes:
            return (self.prior[0] + np.einsum("ij,ij->i", weight, self.y[nearest])) / mass
        totals, numbers = np.tile(self.prior, (len(nearest), 1)), np.arange(len(nearest))
        for column, rows in enumerate(nearest.T):
            totals[numbers, self.y[rows]] += weight[:, column]
        return totals / mass[:, np.newaxis]


def outputs_nearby(space: str, *names: str) -> tuple[Output, ...]:
    """Return outputs that look for nearest rows in a space."""
    return tuple(Output(name, "local ridge" if "ridge" in name else "neighbours", space) for name in names)


def near_names(space: str) -> tuple[dict[str, int], dict[str, tuple[float, float]]]:
    """Return the votes of nearest rows, and kernel ridge regressions of them, by their names in a space."""
    means = {f"{k} neighbours, {space}": k for k in N_NEIGHBORS}
    return means, {f"local ridge {width}, {space}": (width, penalty) for width, penalty in LOCAL_FITS}


@record
class LocalRidge(Record):
    """Kernel ridge regression for each row, fitted to its nearest rows alone.

    Far rows have small weights in kernel ridge regression, so this comes close to that of all rows.

    Attributes
    ----------
    scale : float
        What squared distances are multiplied by in the kernel.
    penalties : ndarray of shape (n,), float32
        Added to the diagonal for each row.
    codes, values : ndarray of shape (n,)
        The column of the target that each row has a value in, and the value.
    prior : ndarray of shape (n_targets,), float32
        What is predicted far from all rows.
    are_classes : bool
        Whether targets are classes.
    """

    scale: float
    penalties: Singles
    codes: NDArray[np.int32]
    values: Singles
    prior: Singles
    are_classes: bool

    @classmethod
    def of_train(
        cls, train: Train, width: float = LOCAL_WIDTH, penalty: float = LOCAL_PENALTY, prior: Floats | None = None
    ) -> "LocalRidge":
        """Prepare rows.

        Parameters
        ----------
        train : Train
            Rows with targets.
        width, penalty : float
            Width of the kernel, as a share of the median distance between rows, and what is added to its diagonal for
            a row of weight 1.
        prior : ndarray or None, default=None
            As `Train.prior`, where the rows are some of many; None for that of the rows.
        """
        codes = train.y.astype(np.int32) if train.n_classes else np.zeros(len(train.y), np.int32)
        return cls(
            scale=-0.5 / (width**2 * typical_distance(single(train.X)[:LOCAL_SAMPLE])),
            penalties=single(penalty / np.maximum(train.weights, LIGHTEST)),
            codes=codes,
            values=np.ones(len(codes), np.float32) if train.n_classes else single(train.y),
            prior=single(train.prior if prior is None else prior),
            are_classes=train.n_classes > 0,
        )

    def check(self) -> None:
        """Every row has a target that is there."""
        require(len(self.penalties) == len(self.codes) == len(self.values))
        require((self.codes >= 0).all() and (self.codes < len(self.prior)).all())

    def of(self, known: Singles, test: NDArray[Any], nearest: Ints, check: Callable[[], None] = never_stop) -> Floats:
        """Return what it predicts for rows, from all known rows and the numbers of the nearest of them."""
        others, nearest = single(test), np.ascontiguousarray(nearest)
        if others.shape[1] != known.shape[1] or nearest.max(initial=0) >= len(known):
            raise ValueError("nearest rows are looked for among other rows than these")
        predicted = np.empty((len(test), len(self.prior)), np.float32)
        for first in range(0, len(test), LOCAL_BLOCK):
            check()
            rows = slice(first, first + LOCAL_BLOCK)
            of_block = others[rows], nearest[rows], np.float32(self.scale)
            of_rows = self.penalties, self.codes, self.values, self.prior
            fit_nearest(known, *of_block, *of_rows, predicted[rows])
        return within(np.asarray(predicted + self.prior, np.float64), LEAST, self.are_classes)


@record
class FittedNearest(Fitted):
    """Means of nearest rows, and kernel ridge regressions of them.

    Attributes
    ----------
    known : ndarray of shape (n, d), float32
        The rows that are looked among.
    mean : MeanOfNearest
        Their targets.
    means : dict of str to int
        How many nearest rows there are in a mean, for each output.
    ridges : dict of str to LocalRidge
        Of each output.
    n_local : int
        Nearest rows that these are fitted to.
    """

    known: Singles
    mean: MeanOfNearest
    means: dict[str, int]
    ridges: dict[str, LocalRidge]
    n_local: int

    @classmethod
    def of_train(
        cls,
        train: Train,
        requested: frozenset[str],
        means: dict[str, int],
        ridges: dict[str, tuple[float, float]],
        n_local: int,
    ) -> "FittedNearest":
        """Keep rows for what is requested; `ridges` have a width and a penalty each."""
        return cls(
            known=single(train.X),
            mean=MeanOfNearest.of_train(train),
            means={name: k for name, k in means.items() if name in requested},
            ridges={name: LocalRidge.of_train(train, *fit) for name, fit in ridges.items() if name in requested},
            n_local=n_local,
        )

    def check(self) -> None:
        """Every row has a target, and there are rows."""
        require(self.known.ndim == 2 and len(self.known) > 0 and self.n_local > 0)
        require(all(k > 0 for k in self.means.values()))
        require(all(len(ridge.codes) == len(self.known) for ridge in self.ridges.values()))

    def only(self, names: Collection[str]) -> Fitted:
        """Return what some of the outputs need."""
        means = {name: k for name, k in self.means.items() if name in names}
        return replace(self, means=means, ridges={name: each for name, each in self.ridges.items() if name in names})

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Look for the nearest rows once, and return what they say."""
        n_nearest = min(max([0, *self.means.values(), *(self.n_local for _ in self.ridges)]), len(self.known))
        if not n_nearest:
            return {}
        nearest = nearest_rows(self.known, rows.X, n_nearest, check=rows.check)
        found = {name: self.mean.of(nearest[:, :k]) for name, k in self.means.items()}
        for name, ridge in self.ridges.items():
            found[name] = ridge.of(self.known, rows.X, nearest[:, : self.n_local], rows.check)
        return found
