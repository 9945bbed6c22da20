"""Rows in which each class has its own share, and rows in which rare classes were given more.

A sample keeps more rows of rare classes than their share (`stratified_rows`). Whatever is then said of all rows is a
weighted mean, of probabilities that were moved back to the shares of all rows.
"""

import numpy as np
from scipy.special import log_softmax

from bayesfloor.data.problem import Problem
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Share of an equal part of the rows below which a class is rare: 5% of two classes, 1% of ten.
RARE = 0.1
#: Share of rows outside of the largest class below which the error is as good as that of never naming the others.
FEW_OTHERS = 0.05


class PlainRows:
    """Rows that each count the same."""

    def __init__(self, codes: Ints, class_counts: Ints) -> None:
        self.codes = codes
        self.class_counts = class_counts
        self.class_weights = np.ones(len(class_counts))

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean estimates that of all rows; their variance, divided by n, is that mean's.

        Where the shares of classes were fixed, what these vary by is left to `between_classes`.
        """
        return values

    def between_classes(self, values: Floats) -> float:
        """Return the variance of the mean of values that the shares of the classes add."""
        return 0.0

    def variance(self, is_wrong: Bools) -> float:
        """Return the variance of an error, which is not 0 when nothing was counted."""
        n = len(self.codes)
        share = (float(is_wrong.mean()) * n + 0.5) / (n + 1.0)
        return share * (1.0 - share) / n

    def n_equivalent(self, is_wrong: Bools) -> float:
        """Return how many rows, drawn at random, show an error as surely as these do."""
        return len(self.codes)

    def n_equivalent_of_difference(self, only_first: Bools, only_second: Bools) -> float:
        """Return how many rows, drawn at random, show a difference of two errors as surely as these do."""
        return len(self.codes)

    def at_shares_of_all(self, log_q: Floats) -> Floats:
        """Move probabilities from the shares of classes in these rows to those in all rows."""
        return log_q

    def in_proportion(self) -> Ints:
        """Choose rows in which the classes have their shares of all rows."""
        return np.arange(len(self.codes))


class StratifiedRows(PlainRows):
    """Rows of which some classes have more than their share.

    The number of rows of each class was fixed when they were chosen, so that errors vary within classes only, and the
    shares of the classes as those of all rows do.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes of the rows, in random order.
    class_counts : ndarray of shape (n_classes,)
        Rows of each class among all rows.
    class_weights : ndarray of shape (n_classes,)
        What a row of each class counts, as from `bayesfloor.data.sampling.class_weights`.
    """

    def __init__(self, codes: Ints, class_counts: Ints, class_weights: Floats) -> None:
        super().__init__(codes, class_counts)
        self.class_weights = class_weights
        self._n_of_class = np.bincount(codes, minlength=len(class_counts))
        self._share = class_counts / class_counts.sum()

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean estimates that of all rows; their variance, divided by n, is that mean's."""
        mean_of_class = np.bincount(self.codes, weights=values) / self._n_of_class
        within = self.class_weights[self.codes] * (values - mean_of_class[self.codes])
        return float(self._share @ mean_of_class) + within

    def between_classes(self, values: Floats) -> float:
        """Return the variance of the mean of values that the shares of the classes add."""
        mean_of_class = np.bincount(self.codes, weights=values) / self._n_of_class
        away = mean_of_class - self._share @ mean_of_class
        return float(self._share @ away**2 / self.class_counts.sum())

    def variance(self, is_wrong: Bools) -> float:
        """Return the variance of an error, which is not 0 when nothing was counted."""
        error = self._smoothed(is_wrong)
        within = self._share**2 * error * (1.0 - error) / self._n_of_class
        between = self._share * (error - self._share @ error) ** 2
        return float(within.sum() + between.sum() / self.class_counts.sum())

    def n_equivalent(self, is_wrong: Bools) -> float:
        """Return how many rows, drawn at random, show an error as surely as these do."""
        error = float(self._share @ self._smoothed(is_wrong))
        return error * (1.0 - error) / self.variance(is_wrong)

    def n_equivalent_of_difference(self, only_first: Bools, only_second: Bools) -> float:
        """Return how many rows, drawn at random, show a difference of two errors as surely as these do."""
        first, second = self._smoothed(only_first), self._smoothed(only_second)
        difference = first - second
        within = self._share**2 * (first + second - difference**2) / self._n_of_class
        between = self._share * (difference - self._share @ difference) ** 2 / self.class_counts.sum()
        of_one_row = self._share @ (first + second) - (self._share @ difference) ** 2
        return float(of_one_row / (within.sum() + between.sum()))

    def at_shares_of_all(self, log_q: Floats) -> Floats:
        """Move probabilities from the shares of classes in these rows to those in all rows."""
        return log_softmax(log_q + np.log(self.class_weights), axis=-1)

    def in_proportion(self) -> Ints:
        """Choose rows in which the classes have their shares of all rows, at least one of each."""
        quota = np.maximum(self._n_of_class * self.class_weights / self.class_weights.max(), 1.0).round()
        order = np.argsort(self.codes, kind="stable")
        first = np.cumsum(self._n_of_class) - self._n_of_class
        place = np.arange(len(order)) - np.repeat(first, self._n_of_class)
        return np.sort(order[place < np.repeat(quota, self._n_of_class)])

    def _smoothed(self, is_wrong: Bools) -> Floats:
        """Return the errors of the classes, none of which is 0 or 1 because few rows were seen."""
        return (np.bincount(self.codes, weights=is_wrong) + 0.5) / (self._n_of_class + 1.0)


def classes_in_one_group(problem: Problem) -> Ints:
    """Return the classes that are in one group only, as codes; none without groups."""
    if problem.groups is None:
        return np.empty(0, np.int64)
    pairs = np.unique(np.column_stack([problem.codes, problem.groups]), axis=0)
    return np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(problem.classes)) == 1)


def is_rare(counts: Ints | Floats) -> Bools:
    """Tell which classes have less than a tenth of an equal share of the rows, from their counts or shares."""
    return counts < RARE * counts.sum() / len(counts)


def leads_with_ranking(counts: Ints) -> bool:
    """Tell whether nearly all rows are of one class, so that its ranking says more of a rare one than any error."""
    return bool(is_rare(counts).any()) and counts.sum() - counts.max() < FEW_OTHERS * counts.sum()
