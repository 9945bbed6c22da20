"""What models confuse: how many rows of each class they took for each other one, on rows that they had not seen.

Classes and pairs of a report come hardest first. What models confuse decides what is hard.
"""

from dataclasses import dataclass

import numpy as np

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.held_out import HeldOutClasses
from bayesfloor.floor.learned.stack_errors import confusion_matrix, errors_of_pairs
from bayesfloor.runtime.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Confusions:
    """Rows by their class and by the class that the stack named for them while they were held out.

    Attributes
    ----------
    n_rows : ndarray of shape (n_classes, n_classes)
        Rows of the class of a line that were taken for the class of a column; the diagonal is right. Where classes were
        sampled at different shares, rows count so that all have their share of the whole table.
    confidence : float
        Level of the ranges that the orders rest on.
    """

    n_rows: Floats
    confidence: float = 0.95

    @property
    def missed(self) -> Floats:
        """Share of the rows of each class that were taken for another one."""
        return _share(self.n_rows.sum(axis=1) - self.n_rows.diagonal(), self.n_rows.sum(axis=1))

    @property
    def false_alarms(self) -> Floats:
        """Share of the rows taken for each class that are of another one."""
        return _share(self.n_rows.sum(axis=0) - self.n_rows.diagonal(), self.n_rows.sum(axis=0))

    @property
    def of_pairs(self) -> Floats:
        """Share of the rows of each two classes that were taken for the other one of them."""
        return errors_of_pairs(self.n_rows)

    def taken_for(self, code: int) -> int | None:
        """Return the class that rows of a class are most often taken for; None where all were right."""
        others = self.n_rows[code].copy()
        others[code] = 0.0
        return int(others.argmax()) if others.any() else None

    def classes_by_hardness(self, order: Ints) -> Ints:
        """Sort classes by the share that is surely missed or taken for them wrongly; ties stay in the given order."""
        named, of_class, right = self.n_rows.sum(axis=0), self.n_rows.sum(axis=1), self.n_rows.diagonal()
        surely = self._surely(np.maximum(of_class + named - 2.0 * right, 0.0), of_class + named)
        return order[np.argsort(-surely[order], kind="stable")]

    def pairs_by_hardness(self, order: Ints) -> Ints:
        """Sort pairs, a row of two codes each, by the share of their rows that is surely confused; ties stay."""
        (a, b), of_class = order.T, self.n_rows.sum(axis=1)
        surely = self._surely(self.n_rows[a, b] + self.n_rows[b, a], of_class[a] + of_class[b])
        return order[np.argsort(-surely, kind="stable")]

    def _surely(self, wrong: Floats, of_all: Floats) -> Floats:
        """Return the lower end of the range of each share: of a few rows, none is large by chance."""
        ends = np.zeros(len(wrong))
        for place in np.flatnonzero(wrong).tolist():
            ends[place] = proportion_interval(float(wrong[place]), float(of_all[place]), self.confidence)[0]
        return ends


def confusions_of(held_out: HeldOutClasses, confidence: float) -> Confusions:
    """Count what the stack took each row for that counts, by models that were not trained on it; the mean over repeats.

    Parameters
    ----------
    held_out : HeldOutClasses
        The rows, and what the stack predicts for them.
    confidence : float
        Level of ranges.

    Returns
    -------
    Confusions
    """
    rows, n_classes = held_out.counted, len(held_out.used.classes)
    return Confusions(confusion_matrix(held_out.stack, rows.codes, rows.weights, n_classes), confidence)


def _share(part: Floats, whole: Floats) -> Floats:
    return part / np.where(whole > 0, whole, 1.0)
