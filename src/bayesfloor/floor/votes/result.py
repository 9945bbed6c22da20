"""What `vote_floor` and `soft_label_floor` return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import VoteFloorDisplay
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.votes.annotators import AnnotatorAgreement
from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.text import percent


@dataclass(frozen=True, eq=False, repr=False)
class _Measured(Result, ABC):
    """Figures with their intervals, as a table and a picture."""

    confidence: float

    @abstractmethod
    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        """Return each error rate by its name, with its interval where there is one."""

    def _columns(self) -> dict[str, Any]:
        measures = self._measures()
        ends = [(np.nan, np.nan) if interval is None else interval for _, interval in measures.values()]
        return {
            "measure": list(measures),
            "value": np.array([value for value, _ in measures.values()]),
            "interval_low": np.array([low for low, _ in ends]),
            "interval_high": np.array([high for _, high in ends]),
        }

    def frame(self) -> Any:
        """Return a data frame with a row for each error rate."""
        return self._frame_of(self._columns())

    def plot(self, ax: Any = None) -> VoteFloorDisplay:
        """Draw the error rates with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        VoteFloorDisplay
        """
        return VoteFloorDisplay(self._columns(), confidence=self.confidence).plot(ax)


def _of_columns(learned: LearnedFloor | None, estimate: float, interval: Range) -> tuple[float, Range] | None:
    """Return the floor of models that see the columns of X: never below that of whoever sees the rows themselves."""
    if learned is None:
        return None
    low, high = learned.interval
    low = min(max(low, interval[0]), high)
    return min(max(learned.estimate, estimate, low), high), (low, high)


@dataclass(frozen=True, eq=False, repr=False)
class VoteFloor(_Measured):
    """The floor from the votes of several annotators.

    Attributes
    ----------
    confidence : float
        Level of the intervals.
    estimate : float
        The error of the best prediction of one more annotator's label: the mean of 1 - max p over rows, p being the
        probabilities of the labels by an annotator at random.
    interval : (float, float)
        Where it lies. It allows for other rows, for other annotators where it is known who voted, and for rows that
        differ more or less in how hard they are, as far as the votes do not tell.
    bounds : (float, float)
        The smallest and the largest floor that go together with the agreement, whatever the rows are like.
    reached : float
        The error of predicting a vote from the other votes at its row: an error that a prediction attains.
    naive : float
        The share of votes that are not for the most frequent label of their row. It is too low, the more so the fewer
        votes there are at a row.
    agreement : float
        How often two annotators give the same label.
    agreement_interval : (float, float)
        Where that lies.
    majority_ceiling : dict of int to float
        The highest accuracy that can be measured against the majority of so many votes, ties drawn at random; with 1,
        against the label of one annotator.
    hidden_error : float
        If each row has one true class, all rows of a class are equally hard and annotators err independently: how often
        the most probable class given the votes at hand is not the true one (Dawid and Skene).
    annotators : AnnotatorAgreement or None
        Each annotator beside the others; None where nobody says who voted.
    learned : LearnedFloor or None
        With X: the learned floor of predicting one vote, drawn at random at each row, from the columns.
    n_samples, n_rows, n_votes, n_classes : int
        Rows given, rows with a vote, votes, classes.
    classes : ndarray of shape (n_classes,)
        The labels.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    estimate: float
    interval: Range
    bounds: Range
    reached: float
    naive: float
    agreement: float
    agreement_interval: Range
    majority_ceiling: dict[int, float]
    hidden_error: float
    annotators: AnnotatorAgreement | None
    learned: LearnedFloor | None
    n_samples: int
    n_rows: int
    n_votes: int
    n_classes: int
    classes: NDArray[Any]
    findings: tuple[Finding, ...] = field(default=())
    seconds: float = 0.0

    @property
    def column_floor(self) -> tuple[float, Range] | None:
        """With X: the floor of models that see its columns, and its interval.

        It is the learned floor, but never below the floor of the votes: whoever labels the rows sees no less than the
        columns tell.
        """
        return _of_columns(self.learned, self.estimate, self.interval)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        low, high = self.interval
        return (
            f"Two annotators agree on {percent(self.agreement)} of the rows: no model can be measured above "
            f"{percent(1.0 - self.estimate)} against one annotator's label ({100 * self.confidence:g}% interval "
            f"{percent(1.0 - high)} to {percent(1.0 - low)})."
        )

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"VoteFloor({self.estimate:.4f}, {100 * self.confidence:g}% interval {low:.4f} to {high:.4f}, agreement "
            f"{self.agreement:.4f}, {self.n_votes} votes at {self.n_rows} of {self.n_samples} samples, "
            f"{self.n_classes} classes)"
        )

    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        low, high = self.agreement_interval
        measures: dict[str, tuple[float, Range | None]] = {
            "floor": (self.estimate, self.interval),
            "naive: votes outside the majority": (self.naive, None),
            "a vote from the others at its row": (self.reached, None),
            "two annotators disagree": (1.0 - self.agreement, (1.0 - high, 1.0 - low)),
        }
        if self.learned is not None and self.column_floor is not None:
            measures["floor of the columns"] = self.column_floor
            measures["reached from the columns"] = (self.learned.reached, self.learned.reached_interval)
        return measures


@dataclass(frozen=True, eq=False, repr=False)
class SoftLabelFloor(_Measured):
    """The floor from rows of label probabilities.

    Attributes
    ----------
    confidence : float
        Level of the intervals.
    estimate : float
        The mean of 1 - max p over rows. With labels, the mean of that and of the error of naming the most probable
        class, both of probabilities that were calibrated on other rows.
    interval : (float, float)
        Where it lies, for other rows and, with labels, another calibration. It rests on the probabilities being right.
    uncalibrated : float
        The mean of 1 - max p of the probabilities as they were given.
    agreement : float
        The mean of Σ p²: how often two labels of a row drawn from its probabilities are the same.
    reached : float or None
        With labels: the error of naming the most probable class, by the probabilities given.
    reached_interval : (float, float) or None
        Clopper and Pearson's interval of that.
    calibration_gap : float or None
        With 50 labels or more: the mean distance between probabilities as given and as calibrated, half the sum over
        classes.
    calibration_z : float or None
        With labels: Spiegelhalter's statistic. Beyond 2.58 either way, the probabilities are clearly not those of the
        labels; above zero they are too sure.
    learned : LearnedFloor or None
        With X: the learned floor of predicting the label, or one drawn from the probabilities, from the columns.
    n_samples, n_rows, n_classes : int
        Rows given, rows used, classes.
    classes : ndarray of shape (n_classes,)
        The labels.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    estimate: float
    interval: Range
    uncalibrated: float
    agreement: float
    reached: float | None
    reached_interval: Range | None
    calibration_gap: float | None
    calibration_z: float | None
    learned: LearnedFloor | None
    n_samples: int
    n_rows: int
    n_classes: int
    classes: NDArray[Any]
    findings: tuple[Finding, ...] = field(default=())
    seconds: float = 0.0

    @property
    def column_floor(self) -> tuple[float, Range] | None:
        """With X: the floor of models that see its columns, and its interval; never below that of the soft labels."""
        return _of_columns(self.learned, self.estimate, self.interval)

    def __repr__(self) -> str:
        low, high = self.interval
        calibrated = "" if self.reached is None else f", {self.uncalibrated:.4f} before calibration"
        return (
            f"SoftLabelFloor({self.estimate:.4f}, {100 * self.confidence:g}% interval {low:.4f} to {high:.4f}"
            f"{calibrated}, {self.n_rows} of {self.n_samples} samples, {self.n_classes} classes)"
        )

    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        measures: dict[str, tuple[float, Range | None]] = {"floor": (self.estimate, self.interval)}
        if self.reached is not None:
            measures["before calibration"] = (self.uncalibrated, None)
            measures["naming the most probable class"] = (self.reached, self.reached_interval)
        measures["two labels disagree"] = (1.0 - self.agreement, None)
        if self.learned is not None and self.column_floor is not None:
            measures["floor of the columns"] = self.column_floor
            measures["reached from the columns"] = (self.learned.reached, self.learned.reached_interval)
        return measures
