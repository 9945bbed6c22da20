"""The folds on which the stack was judged, so that another model can be trained and judged on the same rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.metrics import Metric, one_hot
from bayesfloor.floor.learned.paired import Difference, compare, compare_values
from bayesfloor.floor.learned.regression.residuals import TestedRows
from bayesfloor.floor.learned.regression.summary import from_medians, level_of
from bayesfloor.floor.learned.summary import RowLosses
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.training_rows import Train, safe
from bayesfloor.runtime.arrays import Floats, Ints, Range


class TrainingSet(NamedTuple):
    """Rows to train on and to predict, standardised alike.

    Attributes
    ----------
    train : Train
        The rows to train on.
    groups : ndarray or None
        Which of them belong together.
    others : ndarray of shape (n, d)
        The rows to predict.
    places : ndarray of shape (n,)
        Where these are among the tested rows.
    """

    train: Train
    groups: Ints | None
    others: Floats
    places: Ints


class Judged(NamedTuple):
    """A model beside the stack, by what both lose: smaller is better.

    Attributes
    ----------
    difference : Difference
        The model, the first, and the stack, the second.
    interval : (float, float)
        Where the loss of the model lies.
    limit : float
        Its upper end where only half as much may go wrong.
    """

    difference: Difference
    interval: Range
    limit: float


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Training sets of the largest size and the rows that each predicts.

    Attributes
    ----------
    learned : Learned
        Who is trained on what.
    splits : tuple of (ndarray, ndarray)
        Which rows to train on, and the places among the tested ones to predict.
    """

    learned: Learned
    splits: tuple[tuple[Ints, Ints], ...]

    @property
    def used(self) -> Problem:
        """The rows that are trained on and tested."""
        return self.learned.used

    @property
    def tested(self) -> Ints:
        """Which of these are tested."""
        return self.learned.plan.tested

    @property
    def clusters(self) -> Ints | None:
        """Which of the tested rows may err alike, numbered from 0."""
        clusters = self.learned.plan.clusters
        return None if clusters is None else np.unique(clusters, return_inverse=True)[1]

    def training_sets(self) -> Iterator[TrainingSet]:
        """Give the rows of each split; features that hold labels are computed from those to train on alone."""
        groups = self.used.groups
        for train, places in self.splits:
            rows, others = training_set(self.used, train, self.tested[places], is_many=True)
            yield TrainingSet(rows, None if groups is None else groups[train], others.X, places)

    def judge(self, predicted: Any, metric: str, confidence: float, own: Ints | None = None) -> Judged:
        """Hold what a model predicts for the tested rows, or for some of them, against what the stack does."""
        raise NotImplementedError

    def row_losses(self, metric: str) -> Floats:
        """Return values of the tested rows whose mean is what the stack loses, the means over repeats."""
        raise NotImplementedError

    def compare(self, other: "HeldOut", metric: str, confidence: float) -> Difference:
        """Compare what the stack loses with what that of other features loses on the same rows."""
        return compare_values(self.row_losses(metric), other.row_losses(metric), self.clusters, confidence)


@dataclass(frozen=True, eq=False)
class HeldOutClasses(HeldOut):
    """Rows of classes.

    Attributes
    ----------
    counted : PlainRows
        Classes of the rows that count, and what each counts.
    metrics : tuple of Metric
        What predictions are judged by.
    reached_by : mapping of str to ndarray of shape (n_repeats, n_counted, n_classes)
        The probabilities by which each metric was reached.
    """

    counted: PlainRows
    metrics: tuple[Metric, ...]
    reached_by: Mapping[str, Floats]

    @property
    def stack(self) -> Ints:
        """Classes that the stack names for the rows, in each repeat: an array of shape (n_repeats, n_counted)."""
        return self.reached_by["error"].argmax(axis=-1)

    def judge(self, predicted: Any, metric: str, confidence: float, own: Ints | None = None) -> Judged:
        """Hold probabilities against those of the stack; of the error, by exact tests."""
        rows, clusters, of_stack = self.counted, self.clusters, self.reached_by[metric]
        if own is not None:
            rows, predicted, of_stack = rows.part(own), predicted[own], of_stack[:, own]
            clusters = None if clusters is None else np.unique(clusters[own], return_inverse=True)[1]
        if metric == "error":
            return judge_errors(predicted.argmax(axis=1), of_stack.argmax(axis=-1), rows, clusters, confidence)
        losses = RowLosses(rows, next(each for each in self.metrics if each.name == metric), clusters, confidence)
        of_model = losses.lost(losses.targets, predicted)
        of_other = np.mean([losses.lost(losses.targets, q) for q in of_stack], axis=0)
        mean, known = float(of_model.mean()), losses.sampled(of_model, predicted[np.newaxis])
        levels = confidence, half_as_wrong(confidence)
        ends, wider = (known.interval(mean, losses.top, level) for level in levels)
        return Judged(
            compare_values(losses.unscaled(of_model), losses.unscaled(of_other), clusters, confidence),
            (losses.unscaled(ends[0]), losses.unscaled(ends[1])),
            losses.unscaled(wider[1]),
        )

    def row_losses(self, metric: str) -> Floats:
        """Return values of the tested rows whose mean is what the stack loses, the means over repeats."""
        if metric == "error":
            return self.counted.weighted((self.stack != self.counted.codes).mean(axis=0))
        asked = next(each for each in self.metrics if each.name == metric)
        losses = RowLosses(self.counted, asked, self.clusters, 0.95)
        lost = np.mean([losses.lost(losses.targets, q) for q in self.reached_by[metric]], axis=0)
        return np.asarray(losses.unscaled(lost))

    def compare(self, other: HeldOut, metric: str, confidence: float) -> Difference:
        """Compare what the stack loses with what that of other features does; of the error, by exact tests."""
        if metric != "error":
            return super().compare(other, metric, confidence)
        assert isinstance(other, HeldOutClasses)
        first, second = ((each.stack != self.counted.codes).mean(axis=0) for each in (self, other))
        return compare(first, second, self.counted, self.clusters, confidence)

    def values(self, log_p: Floats) -> dict[str, float]:
        """Return the value of each metric.

        Parameters
        ----------
        log_p : ndarray of shape (n_tested, n_classes)
            Logarithms of probabilities, at the shares that the classes have among the rows trained on.

        Returns
        -------
        dict of str to float
        """
        counted, n_classes = self.counted, len(self.used.classes)
        q = np.exp(self.at_shares_of_all(log_p))
        targets = one_hot(counted.codes, n_classes)
        return {
            metric.name: float(metric.value(counted.weighted(metric.losses(targets, q, counted.weights)).mean()))
            for metric in self.metrics
        }

    def at_shares_of_all(self, log_p: Floats) -> Floats:
        """Move probabilities from the shares of classes among the rows trained on to those among all rows.

        Parameters
        ----------
        log_p : ndarray of shape (n_tested, n_classes)
            Logarithms of probabilities.

        Returns
        -------
        ndarray of shape (n_tested, n_classes)
            The same.
        """
        n_classes = len(self.used.classes)
        moved = np.zeros(n_classes)
        if self.used.groups is None and self.used.time is None:
            of_tested = np.broadcast_to(self.counted.sample_weight, len(self.tested))
            moved = np.log(np.bincount(self.counted.codes, of_tested, n_classes) / self.used.class_totals)
        return self.counted.at_shares_of_all(log_softmax(log_p + moved, axis=1))


def half_as_wrong(confidence: float) -> float:
    """Return the level at which half as much goes wrong: where the better of two models is taken, each has half."""
    return 0.5 + 0.5 * confidence


def judge_errors(named: Ints, by_stack: Ints, rows: PlainRows, clusters: Ints | None, confidence: float) -> Judged:
    """Compare the classes that a model names for the rows with those that the stack names in each repeat."""
    of_model, of_stack = (named != rows.codes).astype(np.float64), (by_stack != rows.codes).mean(axis=0)
    difference = compare(of_model, of_stack, rows, clusters, confidence)
    n = rows.n_equivalent(of_model, clusters, confidence)
    ends, wider = (
        proportion_interval(round(difference.first * n, 6), n, level)
        for level in (confidence, half_as_wrong(confidence))
    )
    return Judged(difference, ends, wider[1])


@dataclass(frozen=True, eq=False)
class HeldOutNumbers(HeldOut):
    """Rows of numbers.

    Attributes
    ----------
    rows : TestedRows
        The rows that count, and what the stack predicts for them.
    """

    rows: TestedRows

    @property
    def stack(self) -> Floats:
        """Numbers that the stack predicts for the rows, in each repeat: an array of shape (n_repeats, n_tested)."""
        return self.rows.centre + self.rows.scale * self.rows.predicted[0][:, 0]

    def judge(self, predicted: Any, metric: str, confidence: float, own: Ints | None = None) -> Judged:
        """Hold predicted numbers against those of the stack."""
        rows, clusters = self.rows, self.clusters
        y, weight = rows.y, rows.weight
        residuals = [(predicted[np.newaxis] - rows.centre) / rows.scale - y, self._residuals(metric)]
        if own is not None:
            y, weight, residuals = y[own], weight[own] / weight[own].mean(), [each[:, own] for each in residuals]
            clusters = None if clusters is None else np.unique(clusters[own], return_inverse=True)[1]
        of_model, of_stack = (_number_losses(each, y, weight, metric, rows.scale) for each in residuals)
        # the root is taken of the ends of the squared error, which is what varies
        level = level_of(
            _squares(residuals[0], weight, rows.scale) if metric == "rmse" else of_model, clusters, confidence
        )
        power = 0.5 if metric == "rmse" else 1.0
        low, high = (end**power for end in level.interval(confidence))
        limit = level.interval(half_as_wrong(confidence))[1] ** power
        return Judged(compare_values(of_model, of_stack, clusters, confidence), (low, high), limit)

    def row_losses(self, metric: str) -> Floats:
        """Return values of the tested rows whose mean is what the stack loses, the means over repeats."""
        return _number_losses(self._residuals(metric), self.rows.y, self.rows.weight, metric, self.rows.scale)

    def _residuals(self, metric: str) -> Floats:
        """Return what the stack's predictions are above the numbers, in each repeat."""
        residuals = (self.stack - self.rows.centre) / self.rows.scale - self.rows.y
        # the stack predicts means, and is judged by its distance from medians
        return from_medians(-residuals, self.rows) if metric == "mae" else residuals


def _squares(residuals: Floats, weight: Floats, scale: float) -> Floats:
    """Return what rows count times their squared residuals, the mean over repeats."""
    return np.asarray(weight * ((scale * residuals) ** 2).mean(axis=0))


def _number_losses(residuals: Floats, y: Floats, weight: Floats, metric: str, scale: float) -> Floats:
    """Return values whose mean is what a metric loses, and whose variance, divided by n, is that mean's."""
    if metric == "mae":
        return np.asarray(scale * weight * np.abs(residuals).mean(axis=0))
    squares = _squares(residuals, weight, scale)
    mean = float(squares.mean())
    if metric == "rmse":
        root = max(mean, 1e-300) ** 0.5
        return np.asarray(root + (squares - mean) / (2.0 * root))
    away = _squares((y - float(weight @ y / len(y)))[np.newaxis], weight, scale)
    variance = max(float(away.mean()), 1e-300)
    return np.asarray((squares - mean * (away / variance - 1.0)) / variance)


def log_of_known(probability: Floats, classes: Ints, train: Train) -> Floats:
    """Return logarithms of probabilities of all classes from those of the classes that a training set has.

    Parameters
    ----------
    probability : ndarray of shape (n, n_known)
        What a model predicts.
    classes : ndarray of shape (n_known,)
        Codes of the classes that it knows.
    train : Train
        What it was trained on. A little of the shares there is mixed in, as for the learners of the stack.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    of_all = np.zeros((len(probability), train.n_classes))
    of_all[:, classes] = probability
    return np.log(safe(of_all, train))
