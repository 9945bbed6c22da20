"""Other learners beside a landmark model, stacked where held-out rows say that they help.

A landmark model is smooth. What it is bad at, others are good at, at little cost::

    boosting        steps, interactions, columns that do not matter: gradient boosting over histograms
    network         rules over many columns of two values: a small network
    nearest rows    what is finer than the distances of landmarks: means and kernel ridge regressions of them

Each is trained without the held-out rows. The logarithms of its predictions for these and of the landmark model's are
stacked: a multinomial model with one weight for each, none below zero. Members of little weight are dropped.

Numbers have boosting alone beside them, and weights by least squares.

Learners take their time where rows are many. There they are raced first, on a few rows. Where the landmark model makes
hardly any errors, and its held-out loss is next to nothing, there is nothing to add. Of many classes, nearest rows take
the place of boosting, whose time grows with the classes.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls

from bayesfloor.learn.boosting import BRISK, Boosting
from bayesfloor.learn.landmarks.feature_kernels import to_probabilities
from bayesfloor.learn.landmarks.feature_map import F32
from bayesfloor.learn.landmarks.row_sums import Judged, RowSums
from bayesfloor.learn.learner import Fitted, InSpace, Learner, Rows, fit
from bayesfloor.learn.nearest import LOCAL_ROWS, FittedNearest, near_names
from bayesfloor.learn.network import Network
from bayesfloor.learn.records import LARGEST_COEFFICIENT, Record, record, require, require_within
from bayesfloor.learn.training_rows import Scaled, Train, is_mostly_binary
from bayesfloor.runtime.arrays import Floats, Ints

#: The name of the landmark model, and where nearest rows are looked for.
LANDMARKS, SPACE = "landmarks", "scaled"
#: Learners of columns, by the names that efforts and weights have them under.
LEARNERS: dict[str, Learner] = {"boosting": Boosting(BRISK), "network": Network()}
#: Rows that learners of columns are given at the most, and rows that members predict at a time when they are judged.
MOST_ROWS, JUDGED_ROWS = 50_000, 256
#: Maximum number of classes that trees are boosted for: there is one for each of them in every round.
MOST_BOOSTED = 60
#: Minimum weight of a member, and of a learner that few rows train in their stack, for more rows to train it.
LEAST_WEIGHT, LEAST_RACED = 0.1, 0.2
#: Minimum probability in the logarithms.
LEAST = 1e-6
#: Penalty on the squared distance of the stack weights from those of the landmark model alone.
STACK_PENALTY = 1.0


@record
class Members(Record):
    """What is stacked with a landmark model.

    Attributes
    ----------
    weights : dict of str to float
        Of the logarithm of each prediction, by the name of the member; that of the landmark model comes first.
    fitted : tuple of Fitted
        What predicts scaled rows.
    """

    weights: dict[str, float]
    fitted: tuple[Fitted, ...]

    def check(self) -> None:
        """Weights are those of fits."""
        require(LANDMARKS in self.weights)
        require_within(np.array(list(self.weights.values())), 0.0, LARGEST_COEFFICIENT)

    @property
    def n_rows_kept(self) -> int:
        """How many training rows nearest ones are looked for among."""
        inside = [each.fitted for each in self.fitted if isinstance(each, InSpace)]
        return sum(len(each.known) for each in inside if isinstance(each, FittedNearest))

    def scores(self, columns: F32, scores: F32) -> F32:
        """Return the scores of the classes, or a number for each row.

        Parameters
        ----------
        columns : ndarray of shape (n, d), float32
            Scaled rows.
        scores : ndarray of shape (n, n_classes) or (n, 1), float32
            Those of the landmark model.

        Returns
        -------
        ndarray of the shape of the scores, float32
        """
        if scores.shape[1] == 1:
            return weighted_sum(self.numbers(columns, scores), self.weights)
        probabilities = scores.copy()
        to_probabilities(probabilities)
        return weighted_sum(self.logarithms(columns, probabilities), self.weights)

    def numbers(self, columns: F32, predicted: F32) -> dict[str, F32]:
        """Return the numbers that members predict, (n, 1), by their names; those of the landmark model are given."""
        of_learners = self._predicted(columns)
        return {LANDMARKS: predicted} | {name: each[:, np.newaxis] for name, each in of_learners.items()}

    def logarithms(self, columns: F32, probabilities: F32) -> dict[str, F32]:
        """Return the logarithms of probabilities of some rows, by the names of the members; see `scores`."""
        of_learners = self._predicted(columns)
        return {LANDMARKS: _logarithm(probabilities)} | {name: _logarithm(each) for name, each in of_learners.items()}

    def _predicted(self, columns: F32) -> dict[str, F32]:
        rows = Rows(columns.astype(np.float64))
        return {name: found.astype(np.float32) for each in self.fitted for name, found in each.predict(rows).items()}


def _logarithm(values: F32) -> F32:
    values = np.maximum(values, np.float32(LEAST))
    return np.log(values / values.sum(axis=1, keepdims=True))


def weighted_sum(found: Mapping[str, F32], weights: Mapping[str, float]) -> F32:
    """Return the sum of predictions, or of their logarithms, times their weights."""
    total = np.zeros_like(found[LANDMARKS])
    for name, weight in weights.items():
        total += np.float32(weight) * found[name]
    return total


def stacked(found: Mapping[str, F32], weights: Mapping[str, float]) -> F32:
    """Return the probabilities that logarithms of predictions and their weights add up to."""
    scores = weighted_sum(found, weights)
    to_probabilities(scores)
    return scores


@dataclass(frozen=True, eq=False)
class Trained:
    """Members that are trained, and the names of what each predicts."""

    fitted: tuple[tuple[Fitted, tuple[str, ...]], ...]

    def members(self, weights: dict[str, float]) -> Members | None:
        """Return the members that have a weight; None where only the landmark model has."""
        if weights.keys() == {LANDMARKS} and weights[LANDMARKS] == 1.0:
            return None
        used = ((each, weights.keys() & set(names)) for each, names in self.fitted)
        return Members(weights, tuple(each.only(names) for each, names in used if names))

    def judge(self, judged: Judged, sums: RowSums, coefficients: F32) -> dict[str, F32]:
        """Return the logarithms of the predictions of the landmark model and of all members for held-out rows."""
        probabilities: F32 = judged.features @ coefficients.T
        to_probabilities(probabilities)
        every = Members({}, tuple(each for each, _ in self.fitted))
        blocks = [slice(first, first + JUDGED_ROWS) for first in range(0, len(probabilities), JUDGED_ROWS)]
        parts = sums.pool.run(
            lambda rows: every.logarithms(judged.columns[rows], probabilities[rows]),
            [(rows,) for rows in blocks],
        )
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Wanted(NamedTuple):
    """Members that have something to say about rows, and take no longer than they are worth.

    Attributes
    ----------
    learners : tuple of str
        Keys of `LEARNERS`.
    nearby : frozenset of str
        Learners of nearest rows.
    """

    learners: tuple[str, ...]
    nearby: frozenset[str]

    @classmethod
    def of(cls, names: tuple[str, ...], are_columns: bool, columns: F32, n_classes: int) -> "Wanted":
        """Choose among members by name.

        Parameters
        ----------
        names : tuple of str
            Keys of `LEARNERS`; with any, nearest rows come with many classes.
        are_columns : bool
            Whether rows have the columns that were given, and not axes of very many.
        columns : ndarray of shape (n, d), float32
            Scaled rows.
        n_classes : int
            How many classes there are.

        Returns
        -------
        Wanted
        """
        suits: dict[str, Callable[[], bool]] = {
            "boosting": lambda: n_classes <= MOST_BOOSTED,
            "network": lambda: is_mostly_binary(columns),
        }
        learners = tuple(name for name in names if are_columns and suits[name]())
        has_nearby = n_classes > MOST_BOOSTED and len(names) > 0
        return cls(learners, frozenset(name for kind in near_names(SPACE) for name in kind if has_nearby))

    def among(self, used: Container[str]) -> "Wanted":
        """Return those that are used."""
        learners = tuple(name for name in self.learners if name in used)
        return Wanted(learners, frozenset(name for name in self.nearby if name in used))

    def raced(self, few: RowSums, coefficients: F32, judged: Judged, seed: int) -> "Wanted":
        """Return those that have a part in a stack of members that few rows train; nearest rows are never left out.

        Parameters are those of `train`, and held-out rows.
        """
        if not self.learners:
            return self
        found = (
            self._replace(nearby=frozenset())
            .train(few, few.n_rows, coefficients, seed)
            .judge(judged, few, coefficients)
        )
        weights = fit_stack_weights(found, judged.codes, judged.weight)
        used = {name for name, weight in weights.items() if weight >= LEAST_RACED}
        return self._replace(learners=self.among(used).learners)

    def train(self, sums: RowSums, n_rows: int, coefficients: F32, seed: int) -> Trained:
        """Train members, several at a time.

        Parameters
        ----------
        sums : RowSums
            Rows in random order.
        n_rows : int
            The first of these are trained on.
        coefficients : ndarray of shape (n_classes, n_features), float32
            Of the landmark model.
        seed : int
            Of random draws.

        Returns
        -------
        Trained
        """
        n_classes, pool = len(coefficients), sums.pool
        found: list[tuple[Fitted, tuple[str, ...]]] = []
        if self.learners:
            some = slice(0, min(n_rows, MOST_ROWS))
            columns, weight = sums.columns[some].astype(np.float64), sums.weight[some]
            of_rows = None if (weight == 1).all() else weight.astype(np.float64)
            train = Train(columns, sums.codes[some], n_classes, pool.check, weight=of_rows)
            learners = [LEARNERS[name] for name in self.learners]
            fitted = pool.run(lambda learner: fit(learner, train, None, seed), [(each,) for each in learners])
            found += zip(fitted, [learner.names for learner in learners], strict=True)
        if self.nearby:
            rows, distance = slice(0, n_rows), sums.feature_map.weights
            of_rows = sums.weight[rows].astype(np.float64)
            near = Train(sums.columns[rows] * distance, sums.codes[rows], n_classes, pool.check, weight=of_rows)
            fitted_near = FittedNearest.of_train(near, self.nearby, *near_names(SPACE), LOCAL_ROWS)
            found.append((InSpace(Scaled(np.arange(len(distance)), distance), fitted_near), tuple(self.nearby)))
        return Trained(tuple(found))


def fit_stack_weights(found: Mapping[str, F32], codes: Ints, weight: F32) -> dict[str, float]:
    """Fit the weights of predictions, none below zero, to the classes of held-out rows.

    Parameters
    ----------
    found : mapping of str to ndarray of shape (n, n_classes), float32
        Logarithms of the predictions, that of the landmark model first.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights.

    Returns
    -------
    dict of str to float
        Weights of the first and of those that have at least `LEAST_WEIGHT`; 1 for the first where no other has.
    """
    first, *others = found
    while others:
        fitted = _fit_weights([found[name] for name in (first, *others)], codes, weight)
        used = [name for name, value in zip(others, fitted[1:], strict=True) if value >= LEAST_WEIGHT]
        if len(used) == len(others):
            return dict(zip((first, *others), fitted, strict=True))
        others = used
    return {first: 1.0}


def fit_number_weights(found: Mapping[str, F32], target: F32, weight: F32) -> dict[str, float]:
    """Fit the weights of predicted numbers, none below zero, to those of held-out rows by least squares.

    Parameters
    ----------
    found : mapping of str to ndarray of shape (n,), float32
        Predictions, that of the landmark model first; standardised, as the target is.
    target, weight : ndarray of shape (n,), float32
        What is there, and weights.

    Returns
    -------
    dict of str to float
        As from `fit_stack_weights`.
    """
    first, *others = found
    while others:
        root = np.sqrt(weight.astype(np.float64))
        columns = [root * found[name] for name in (first, *others)]
        held = STACK_PENALTY**0.5 * np.eye(len(columns))  # near the weights of the first alone
        fitted = nnls(np.vstack([np.column_stack(columns), held]), np.concatenate([root * target, held[0]]))[0]
        used = [name for name, value in zip(others, fitted[1:], strict=True) if value >= LEAST_WEIGHT]
        if len(used) == len(others):
            return dict(zip((first, *others), fitted.tolist(), strict=True))
        others = used
    return {first: 1.0}


def _fit_weights(logarithms: list[F32], codes: Ints, weight: F32) -> list[float]:
    """Return the weights of predictions with the lowest logarithmic loss, held near those of the first alone."""
    predictions = np.stack(logarithms, axis=2).astype(np.float64)
    own, shares = np.arange(len(codes)), weight.astype(np.float64) / float(weight.sum())
    start, penalty = np.eye(len(logarithms))[0], STACK_PENALTY / len(codes)

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        scores = predictions @ coefficients
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        totals = odds.sum(axis=1)
        value = float(shares @ (np.log(totals) - scores[own, codes]))
        expected = np.einsum("ik,ikj->ij", odds / totals[:, np.newaxis], predictions)
        slope = shares @ (expected - predictions[own, codes])
        apart = coefficients - start
        return value + penalty * float(apart @ apart), slope + 2 * penalty * apart

    reached: Any = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=len(start) * [(0.0, None)])
    weights: list[float] = reached.x.tolist()
    return weights
