"""The folds on which the stack was judged, so that another model can be trained and judged on the same rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.metrics import Metric, one_hot
from bayesfloor.floor.learned.strata import PlainRows
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.training_rows import Train, safe
from bayesfloor.runtime.arrays import Floats, Ints


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


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Training sets of the largest size and the rows that each predicts.

    Attributes
    ----------
    learned : Learned
        Who is trained on what.
    splits : tuple of (ndarray, ndarray)
        Which rows to train on, and the places among the tested ones to predict.
    counted : PlainRows
        Classes of the rows that count, and what each counts.
    metrics : tuple of Metric
        What predictions are judged by.
    stack : ndarray of shape (n_counted,)
        Classes that the stack names for these rows.
    """

    learned: Learned
    splits: tuple[tuple[Ints, Ints], ...]
    counted: PlainRows
    metrics: tuple[Metric, ...]
    stack: Ints

    @property
    def used(self) -> Problem:
        """The rows that are trained on and tested."""
        return self.learned.used

    @property
    def tested(self) -> Ints:
        """Which of these are tested."""
        return self.learned.plan.tested

    def training_sets(self) -> Iterator[TrainingSet]:
        """Give the rows of each split; features that hold labels are computed from those to train on alone."""
        groups = self.used.groups
        for train, places in self.splits:
            rows, others = training_set(self.used, train, self.tested[places], is_many=True)
            yield TrainingSet(rows, None if groups is None else groups[train], others, places)

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
