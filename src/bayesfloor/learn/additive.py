"""Linear and additive learners of numbers: few parameters, or functions of one or two features that add up."""

import numpy as np
from scipy import linalg

from bayesfloor.learn.lasso_kernels import lasso_path
from bayesfloor.learn.learner import Fitted, InSpace, Learner, OfCodes, Output, Rows, Together
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.ridge import RidgeFit, fit_ridge, landmark_factor
from bayesfloor.learn.training_rows import Codes, Scaled, Singles, Space, Train, most_telling, product, single
from bayesfloor.runtime.arrays import Floats, Ints

#: Most rows of models with few parameters: they gain little from more.
SAMPLE_ROWS = 20_000
#: Most columns of features that ridge regression is fitted to: the cost grows with their cube.
MOST_COLUMNS = 400
#: Landmarks of a column in additive models, and their widths in standard deviations: smooth and rough.
SMOOTH, ROUGH = (8, 1.0), (16, 0.25)
#: Added to the diagonal of the kernel of a column's landmarks.
BUMP_JITTER = 1e-4
#: Features of which pairs are taken, the landmarks of each, and their width.
PAIRED, PAIR_BUMPS, PAIR_WIDTH = 7, 4, 1.0
#: Features of which squares and products are taken.
MULTIPLIED = 24
#: Standard deviations beyond which additive models are constant.
FARTHEST_BUMP = 4.0
#: Penalties that the lasso is fitted with, sweeps for each, and its most features.
N_LASSO, LASSO_SWEEPS, MOST_LASSO = 30, 50, 1000

#: A sum of nothing: the mean of standardised numbers.
NOTHING = RidgeFit(np.zeros((0, 1)), np.zeros(1), 0.0)


@record
class FittedRidge(Fitted):
    """Ridge regression of a number on the first of the columns, as an output."""

    name: str
    fit: RidgeFit

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the numbers."""
        return {self.name: self.fit.predict(rows.X[:, : len(self.fit.coefficients)])[:, 0]}


def _ridge_in(space: Space, name: str, train: Train) -> Fitted:
    """Regress numbers on the features that a space makes of rows."""
    return InSpace(space, FittedRidge(name, fit_ridge(space.of(train.X), train)))


class Linear(Learner):
    """The mean, and linear models, also of squares and products."""

    name = "linear"
    outputs = (Output("mean"), Output("ridge"), Output("lasso"), Output("quadratic ridge"))
    takes_weights = True

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Regress the numbers on features."""
        train = train.first(SAMPLE_ROWS)
        parts: list[Fitted] = []
        if "mean" in requested:
            parts.append(FittedRidge("mean", NOTHING))
        if "ridge" in requested:
            parts.append(FittedRidge("ridge", fit_ridge(train.X, train)))
        if "lasso" in requested:
            kept = _lasso_columns(train)
            space = Scaled(kept, np.ones(len(kept)))
            parts.append(_ridge_in(space, "lasso", train) if len(kept) else FittedRidge("lasso", NOTHING))
        if "quadratic ridge" in requested:
            parts.append(_ridge_in(Products.of_train(train), "quadratic ridge", train))
        return Together(tuple(parts))


@record
class Products(Space):
    """Columns, and products of some of them; what grows faster than a line goes astray beyond the training rows.

    Attributes
    ----------
    low, high : ndarray of shape (d,)
        Range of the training rows, which rows are held within.
    kept : ndarray or None
        Columns that stand for themselves; None for all.
    first, second : ndarray of shape (n_products,)
        Columns that are multiplied.
    """

    low: Floats
    high: Floats
    kept: Ints | None
    first: Ints
    second: Ints

    @classmethod
    def of_train(cls, train: Train) -> "Products":
        """Choose columns."""
        d = train.X.shape[1]
        used = np.arange(d) if d <= MULTIPLIED else most_telling(train)[:MULTIPLIED]
        i, j = np.triu_indices(len(used))
        kept = used if d + len(i) > MOST_COLUMNS else None
        return cls(train.X.min(axis=0), train.X.max(axis=0), kept, used[i], used[j])

    def check(self) -> None:
        """No column is counted from the end."""
        require(all((each >= 0).all() for each in (self.kept, self.first, self.second) if each is not None))

    def of(self, rows: Floats) -> Floats:
        """Return the features."""
        rows = np.clip(rows, self.low, self.high)
        kept = rows if self.kept is None else rows[:, self.kept]
        return np.column_stack([kept, rows[:, self.first] * rows[:, self.second]])


def _lasso_columns(train: Train) -> Ints:
    """Return the columns that the lasso keeps; generalised cross-validation chooses its penalty."""
    n = len(train.X)
    used = np.arange(train.X.shape[1])
    if len(used) > MOST_LASSO:
        used = np.sort(most_telling(train)[:MOST_LASSO])
    X = train.X[:, used]
    weight = train.weights
    X = (X - weight @ X / weight.sum()) * np.sqrt(weight)[:, np.newaxis]
    y = train.y * np.sqrt(weight)
    gram, moments = X.T @ X, X.T @ y
    train.check()
    penalties = float(np.abs(moments).max(initial=0.0)) * np.geomspace(1.0, 1e-3, N_LASSO)
    paths = np.zeros((N_LASSO, len(used)))
    lasso_path(gram, moments, penalties, LASSO_SWEEPS, 1e-3 * float(y @ y) ** 0.5, paths)
    n_kept = np.count_nonzero(paths, axis=1)
    left = y @ y - 2.0 * paths @ moments + np.einsum("pj,jk,pk->p", paths, gram, paths, optimize=True)
    scores = np.where(n_kept < 0.5 * n, left / np.maximum(n - 1.0 - 1.5 * n_kept, 1.0) ** 2, np.inf)
    return used[paths[int(scores.argmin())] != 0]


# --- sums of functions of one or two features


class Additive(Learner):
    """Sums of functions of one feature, smooth or rough, of two features, and of effects of categories."""

    name = "additive"
    outputs = tuple(Output(f"additive, {kind}") for kind in ("smooth", "pairs", "rough", "levels"))
    takes_weights = True

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Regress the numbers on functions of features."""
        train = train.first(SAMPLE_ROWS)
        parts: list[Fitted] = []
        if not requested.isdisjoint(("additive, smooth", "additive, pairs")):
            parts.append(_smooth_and_pairs(train, requested))
        train.check()
        if "additive, rough" in requested:
            parts.append(_ridge_in(Functions(_bumps_of_all(train.X, *ROUGH)), "additive, rough", train))
        if train.table is not None and "additive, levels" in requested:
            train.check()
            of_table = Functions(_levels_and_bumps(train.table))
            fit = fit_ridge(of_table.of(train.table.values), train)
            parts.append(OfCodes(of_table, FittedRidge("additive, levels", fit)))
        return Together(tuple(parts))


def _smooth_and_pairs(train: Train, requested: frozenset[str]) -> Fitted:
    """Fit a sum of smooth functions, and one of those and functions of pairs of the features that vary them most."""
    bumps, d = _bumps_of_all(train.X, *SMOOTH), train.X.shape[1]
    smooth = Functions(bumps)
    known = smooth.of(train.X)
    fit = fit_ridge(known, train)
    alone = (FittedRidge("additive, smooth", fit),) if "additive, smooth" in requested else ()
    if d < 2 or "additive, pairs" not in requested:
        return InSpace(smooth, Together(alone))
    of_column = np.repeat(np.arange(d), [max(len(each.centres), 1) for each in bumps])
    heights = np.empty(d)
    for j in range(d):
        own = of_column == j
        heights[j] = (known[:, own] @ fit.coefficients[own]).var(axis=0).sum()
    train.check()
    used = np.argsort(-heights, kind="stable")[:PAIRED]
    paired = tuple(Bumps.of_values(train.X[:, j], int(j), PAIR_BUMPS, PAIR_WIDTH) for j in used)
    if len(of_column) > MOST_COLUMNS // 2:
        of_pairs = _ridge_in(Functions((), paired), "additive, pairs", train)
        return Together((*(InSpace(smooth, each) for each in alone), of_pairs))
    both = Functions(bumps, paired)
    return InSpace(both, Together((*alone, FittedRidge("additive, pairs", fit_ridge(both.of(train.X), train)))))


def _bumps_of_all(X: Floats, n_bumps: int, width: float) -> "tuple[Bumps, ...]":
    """Return bumps of all columns, fewer of each where columns are many."""
    n_each = max(min(n_bumps, MOST_COLUMNS // X.shape[1]), 1)
    return tuple(Bumps.of_values(X[:, j], j, n_each, width) for j in range(X.shape[1]))


def _levels_and_bumps(table: Codes) -> "tuple[OfColumn, ...]":
    """Return indicators of the frequent values of categories, and bumps of numbers; gaps are the mean."""
    found: list[OfColumn] = []
    n_columns = table.values.shape[1]
    for column, values in enumerate(table.values.T):
        present = values[~np.isnan(values)]
        if table.is_category[column]:
            levels, counts = np.unique(present, return_counts=True)
            order = np.argsort(-counts, kind="stable")
            found.append(Levels(column, levels[order[: 2 * MOST_COLUMNS // n_columns]]))
            continue
        centre = float(present.mean()) if len(present) else 0.0
        spread = (float(present.std()) if len(present) else 0.0) or 1.0
        found.append(Bumps.of_values(values, column, *SMOOTH, centre, spread))
    return tuple(found)


@record
class OfColumn(Record):
    """Features of a column."""

    column: int

    def check(self) -> None:
        """The column is not counted from the end."""
        require(self.column >= 0)

    def of(self, rows: Floats) -> Singles:
        """Return the features of rows."""
        raise NotImplementedError


@record
class Levels(OfColumn):
    """A feature of 0 and 1 for each of some values."""

    levels: Floats

    def of(self, rows: Floats) -> Singles:
        """Tell which values rows have."""
        return single(rows[:, self.column, np.newaxis] == self.levels)


@record
class Bumps(OfColumn):
    """Nystroem features of a Gaussian kernel of one column; the column itself where it has fewer than three values.

    Attributes
    ----------
    centre, spread : float
        How the column is standardised; gaps are the mean.
    low, high : float
        Range of the training rows then, which others are held within.
    centres : ndarray of shape (m,)
        Landmarks of the kernel, none for the column itself.
    scale : float
        Of squared distances in the exponent.
    root : ndarray of shape (m, m)
        Makes features of the kernels whose penalty is that of the kernel's own space.
    """

    centre: float
    spread: float
    low: float
    high: float
    centres: Floats
    scale: float
    root: Floats

    @classmethod
    def of_values(
        cls, values: Floats, column: int, n_bumps: int, width: float, centre: float = 0.0, spread: float = 1.0
    ) -> "Bumps":
        """Put landmarks at the quantiles of a column."""
        ordered = np.sort(_standardised(values, centre, spread, -FARTHEST_BUMP, FARTHEST_BUMP))
        places = np.rint((len(ordered) - 1) * (np.arange(n_bumps) + 0.5) / n_bumps).astype(np.int64)
        if n_bumps > 1:
            places[[0, -1]] = 0, len(ordered) - 1
        centres, scale = np.unique(ordered[places]), -0.5 / width**2
        centres = centres if len(centres) > 2 else centres[:0]
        root = np.eye(len(centres))
        if len(centres):
            factor = landmark_factor((centres[:, np.newaxis] - centres) ** 2, scale, BUMP_JITTER)
            root = linalg.solve_triangular(factor, root, lower=True).T
        return cls(column, centre, spread, float(ordered[0]), float(ordered[-1]), centres, scale, root)

    def of(self, rows: Floats) -> Singles:
        """Return the features of rows."""
        values = _standardised(rows[:, self.column, np.newaxis], self.centre, self.spread, self.low, self.high)
        return single(
            product(np.exp(self.scale * (values - self.centres) ** 2), self.root) if len(self.centres) else values
        )


def _standardised(values: Floats, centre: float, spread: float, low: float, high: float) -> Floats:
    """Standardise numbers, and hold them within a range; gaps are the mean."""
    values = (values - centre) / spread
    return np.clip(np.where(np.isnan(values), 0.0, values), low, high)


@record
class Functions(Space):
    """Features of columns, and products of those of each two of some columns."""

    alone: tuple[OfColumn, ...]
    paired: tuple[Bumps, ...] = ()

    def of(self, rows: Floats) -> Singles:
        """Return the features of rows."""
        bumps, n = [each.of(rows) for each in self.paired], len(rows)
        products = [
            (a[:, :, np.newaxis] * b[:, np.newaxis]).reshape(n, -1) for i, a in enumerate(bumps) for b in bumps[:i]
        ]
        return np.column_stack([*(each.of(rows) for each in self.alone), *products])
