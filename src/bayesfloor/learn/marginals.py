"""Learners that look at one column at a time: as numbers in order, or as values without one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy

from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.learn.decision_trees import TableNumbers, grow_ensemble
from bayesfloor.learn.discriminants import LinearShares, fit_logistic, linear_discriminant, shares_of
from bayesfloor.learn.learner import Constant, Fitted, InSpace, Learner, Look, OfCodes, Output, Rows, Together
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.training_rows import Codes, Scaling, Space, Train, is_nominal, standardised_with
from bayesfloor.runtime.arrays import Floats, Ints

#: Names say so much of the classes, as a z-score, and neighbouring ones differ by this share of what distant ones do.
NAMES_Z, NEIGHBOURS_SHARE = 2.0, 0.6
#: What stands for a gap among the values of a column: no number that is read is as large.
GAP = np.finfo(np.float64).max
#: Most indicators of values in the logistic regression.
MOST_INDICATORS = 600
#: Trees of shares, fewest rows in their leaves, and most of their features that are shares of the classes.
N_TREES, MIN_LEAF, MOST_SHARES = 100, 2, 64


class Marginals(Learner):
    """LDA of normal scores."""

    name = "marginals"
    outputs = (Output("LDA of ranks"),)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Take the scores of ranks."""
        points, space = NormalScores.of_rows(train.X)
        return InSpace(space, linear_discriminant("LDA of ranks", train._replace(X=points, table=None)))


@record
class NormalScores(Space):
    """Features whose ranks are those of normal variables.

    Attributes
    ----------
    values, scores : tuple of ndarray
        Values of each column, and their scores; other values lie between them. Columns without any stay as they are.
    scaling : Scaling
        Of the scores.
    """

    values: tuple[Floats, ...]
    scores: tuple[Floats, ...]
    scaling: Scaling

    @classmethod
    def of_rows(cls, X: Floats) -> tuple[Floats, "NormalScores"]:
        """Return the scores of training rows, and how to get those of others."""
        n = len(X)
        values, scores = [], []
        ranks = ndtri((np.arange(n) + 0.5) / n)
        for line in np.sort(np.ascontiguousarray(X.T), axis=1):
            first = np.flatnonzero(np.append(True, line[1:] > line[:-1]))
            if len(first) <= 2:  # scores of two values are those values, standardised
                first = first[:0]
            count = np.diff(first, append=n)
            values.append(line[first])
            scores.append(ranks[np.minimum(first + count // 2, n - 1)])
        points, scaling = standardised_with(_interpolated(X, tuple(values), tuple(scores)))
        return points, cls(tuple(values), tuple(scores), scaling)

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of rows."""
        return self.scaling.alike(_interpolated(rows, self.values, self.scores))


def _interpolated(rows: Floats, values: tuple[Floats, ...], scores: tuple[Floats, ...]) -> Floats:
    """Return the score of each value, from those of known ones."""
    columns = np.array(rows.T, order="C")
    for j, known in enumerate(values):
        if len(known):
            columns[j] = np.interp(columns[j], known, scores[j])
    return columns.T


def log_ratios(bins: Ints, n_bins: int, train: Train) -> Floats:
    """Return the logarithm of how much more probable each bin is in a class than in all."""
    counts = np.bincount(bins * train.n_classes + train.codes, minlength=n_bins * train.n_classes)
    table = counts.reshape(n_bins, train.n_classes)
    of_all = (table.sum(axis=1, keepdims=True) + 1.0) / (len(bins) + n_bins)
    return np.log((table + 2.0 * of_all) / (train.counts + 2.0) / of_all)


# --- values without an order


@record
class Values(Record):
    """A column whose values are taken for names.

    Attributes
    ----------
    column : int
        Which one.
    of_table : bool
        Whether it is one of a table's; otherwise it is a feature.
    known : ndarray of shape (n_values,)
        The values of training rows, sorted.
    """

    column: int
    of_table: bool
    known: Floats

    @classmethod
    def of_column(cls, column: int, of_table: bool, rows: Rows) -> "Values":
        """List the values of training rows."""
        return cls(column, of_table, np.unique(_filled(column, of_table, rows)))

    def of(self, rows: Rows) -> Ints:
        """Return the number of each row's value; that behind all of them where no training row has it."""
        others = _filled(self.column, self.of_table, rows)
        place = np.minimum(np.searchsorted(self.known, others), len(self.known) - 1)
        return np.where(self.known[place] == others, place, len(self.known))


def _filled(column: int, of_table: bool, rows: Rows) -> Floats:
    """Return a column, in which a gap is a value as well."""
    columns: Any = rows.codes if of_table else rows.X
    return np.where(np.isnan(columns[:, column]), GAP, columns[:, column])


class Nominal(Learner):
    """Naive Bayes and logistic regression of values, and randomised trees of the classes' shares in each."""

    name = "nominal"
    outputs = Output("value naive Bayes"), Output("value logistic"), Output("trees of shares", "tree")
    learns_slowly = True

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for values that may be names."""
        return self if look.has_names else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Tell names from numbers, and learn what each says; without any there is the prior."""
        table = train.table
        known = Rows(train.X, None if table is None else table.values)
        is_value = is_nominal(train.X) if table is None else table.is_category
        columns = [Values.of_column(j, table is not None, known) for j in np.flatnonzero(is_value).tolist()]
        numbers = {column: column.of(known) for column in columns}
        scores = {column: _score_of_names(numbers[column], train) for column in columns}
        if table is None:
            columns = [column for column in columns if scores[column] > 0]
            if not columns:
                return Constant(tuple(name for name in self.names if name in requested), train.prior, True)
        by_score = sorted(columns, key=lambda column: -scores[column])
        learned: dict[str, Callable[[], Fitted]] = {
            "value naive Bayes": lambda: BayesOfValues.of_train(columns, numbers, train),
            "value logistic": lambda: LogisticOfValues.of_train(by_score, train, known),
            "trees of shares": lambda: _trees_of_values(by_score, train, known, seed, rows),
        }
        return Together(tuple(learn() for name, learn in learned.items() if name in requested))


@record
class BayesOfValues(Fitted):
    """Naive Bayes of values; one that no training row has says nothing.

    Attributes
    ----------
    columns : tuple of Values
        The values.
    tables : tuple of ndarray of shape (n_values + 1, n_classes)
        What each says, and the last that no training row has.
    log_prior : ndarray of shape (n_classes,)
        Logarithms of the classes' shares.
    """

    columns: tuple[Values, ...]
    tables: tuple[Floats, ...]
    log_prior: Floats

    @classmethod
    def of_train(cls, columns: list[Values], numbers: dict[Values, Ints], train: Train) -> "BayesOfValues":
        """Count classes in the values."""
        ratios = [log_ratios(numbers[column], len(column.known), train) for column in columns]
        tables = [np.vstack([of_column, np.zeros(train.n_classes)]) for of_column in ratios]
        return cls(tuple(columns), tuple(tables), np.log(train.prior))

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        log_p = np.tile(self.log_prior, (len(rows.X), 1))
        for column, table in zip(self.columns, self.tables, strict=True):
            log_p += table[column.of(rows)]
        return {"value naive Bayes": shares_of(log_p)}


def _score_of_names(numbers: Ints, train: Train) -> float:
    """Return how much values say of the classes beyond their order, as a z-score; 0 for numbers, and for noise.

    Values are taken together two by two, once neighbours and once values that are far apart. Where order matters,
    neighbours are alike, and less is lost by the former.
    """
    half = int(numbers.max()) // 2 + 1
    dof = max(half - 1, 1) * max(int((train.counts > 0).sum()) - 1, 1)
    whole = _information(numbers, train)
    near, far = (2.0 * (whole - _information(merged, train)) - dof for merged in (numbers // 2, numbers % half))
    z = far / np.sqrt(2.0 * dof)
    return float(z) if z > NAMES_Z and near > NEIGHBOURS_SHARE * far else 0.0


def _information(cells: Ints, train: Train) -> float:
    """Return the sum of n log(n / N) over cells and classes, of n rows of a class among N in a cell."""
    counts = np.bincount(cells * train.n_classes + train.codes, minlength=(cells.max() + 1) * train.n_classes)
    counts = counts.reshape(-1, train.n_classes)
    totals = counts.sum(axis=1)
    return float(xlogy(counts, counts).sum() - xlogy(totals, totals).sum())


@record
class LogisticOfValues(Fitted):
    """Logistic regression of the features and of indicators of values."""

    columns: tuple[Values, ...]
    shares: LinearShares

    @classmethod
    def of_train(cls, columns: list[Values], train: Train, known: Rows) -> "LogisticOfValues":
        """Regress the classes on them, from the column that says most on."""
        taken: tuple[Values, ...] = ()
        for column in columns:  # one that is too wide leaves the others their room
            if _n_values((*taken, column)) <= MOST_INDICATORS:
                taken = *taken, column
        return cls(taken, LinearShares("value logistic", *fit_logistic(_with_indicators(taken, known), train)))

    def check(self) -> None:
        """Indicators take no more memory than in training."""
        require(_n_values(self.columns) <= MOST_INDICATORS)

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        return self.shares.predict(rows.at(_with_indicators(self.columns, rows)))


def _n_values(columns: tuple[Values, ...]) -> int:
    return sum(len(column.known) for column in columns)


def _with_indicators(columns: tuple[Values, ...], rows: Rows) -> Floats:
    """Return the features, and a column of 0 and 1 for each value; all 0 for one that no training row has."""
    return np.column_stack([rows.X, *(np.eye(len(each.known) + 1)[each.of(rows), :-1] for each in columns)])


@record
class BesideValues(Fitted):
    """What was learned from the features and, as categories beside them, columns whose values say most."""

    columns: tuple[Values, ...]
    fitted: Fitted

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Put the columns beside the features, and predict them."""
        return self.fitted.predict(_with_values(self.columns, rows))


def _with_values(columns: tuple[Values, ...], rows: Rows) -> Rows:
    """Return rows whose codes are the features and, beside them, the numbers of values."""
    return Rows(rows.X, np.column_stack([rows.X, *(column.of(rows) for column in columns)]), rows.check)


def _trees_of_values(columns: list[Values], train: Train, known: Rows, seed: int, rows: Rows | None) -> Fitted:
    """Grow trees of the classes' shares in values: of a table, or of the columns that say most."""
    if train.table is not None:
        return _trees_of_shares(train, seed, rows)
    taken = tuple(columns[: MOST_SHARES // len(classes_to_encode(train.codes, train.n_classes))])
    codes: Any = _with_values(taken, known).codes
    train = train._replace(table=Codes(codes, np.arange(codes.shape[1]) >= train.X.shape[1]))
    return BesideValues(taken, _trees_of_shares(train, seed, None if rows is None else _with_values(taken, rows)))


def _trees_of_shares(train: Train, seed: int, rows: Rows | None) -> Fitted:
    """Grow randomised trees of the classes' shares in categories."""
    X, numbers = TableNumbers.of_train(train)
    test = None if rows is None else rows.of_codes(numbers)
    grown = grow_ensemble(train._replace(X=X), test, seed, N_TREES, MIN_LEAF)
    return OfCodes(numbers, grown.fitted(train, {"trees of shares": 0}))
