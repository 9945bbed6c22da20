"""What `vote_floor` and `soft_label_floor` return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.votes.annotators import AnnotatorAgreement
from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result, columns_of
from bayesfloor.runtime.text import percent


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelFloor(PlottedResult, ABC, display="VoteFloorDisplay"):
    """The floor from what is known of the labels of each row, beside other error rates.

    Attributes
    ----------
    estimate : float
        The floor.
    interval : (float, float)
        Where it lies.
    confidence : float
        Level of the intervals.
    agreement : float
        How often two labels of a row are the same.
    n_samples, n_rows : int
        Rows given, rows used.
    classes : ndarray of shape (n_classes,)
        The labels.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    estimate: float
    interval: Range
    confidence: float
    agreement: float
    n_samples: int
    n_rows: int
    classes: NDArray[Any]
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @abstractmethod
    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        """Return each error rate by its name, with its interval where there is one."""

    def _columns(self) -> dict[str, Any]:
        """Return a row for each error rate."""
        measures = self._measures()
        ends = [(np.nan, np.nan) if interval is None else interval for _, interval in measures.values()]
        values = np.array([value for value, _ in measures.values()])
        return columns_of({"measure": list(measures), "value": values, "interval": np.array(ends)})


@dataclass(frozen=True, eq=False, repr=False)
class MajorityVote(Result, says="naive"):
    """What the most frequent label of each row is worth.

    Attributes
    ----------
    naive : float
        The share of votes that are not for the most frequent label of their row. It is too low as an estimate of the
        floor, the more so the fewer votes there are at a row.
    ceiling : dict of int to float
        The highest accuracy that can be measured against the majority of so many votes, ties drawn at random; with 1,
        against the label of one annotator.
    """

    naive: float
    ceiling: dict[int, float]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VoteFloor(LabelFloor, says="estimate agreement n_votes n_samples n_classes"):
    """The floor from the votes of several annotators.

    `frame` has a row for each error rate.

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
    agreement : float
        How often two annotators give the same label.
    agreement_interval : (float, float)
        Where that lies.
    majority : MajorityVote
        What the most frequent label of each row is worth.
    annotators : AnnotatorAgreement or None
        Each annotator beside the others; None where nobody says who voted.
    n_samples, n_rows, n_votes : int
        Rows given, rows with a vote, votes.
    classes : ndarray of shape (n_classes,)
        The labels.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    bounds: Range
    reached: float
    agreement_interval: Range
    majority: MajorityVote
    annotators: AnnotatorAgreement | None
    n_votes: int

    def sentence(self) -> str:
        """Say how far annotators agree, and what that means for models.

        Returns
        -------
        str
        """
        low, high = self.interval
        return (
            f"Two annotators agree on {percent(self.agreement)} of the rows: no model can be measured above "
            f"{percent(1.0 - self.estimate)} against one annotator's label ({100 * self.confidence:g}% interval "
            f"{percent(1.0 - high)} to {percent(1.0 - low)})."
        )

    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        low, high = self.agreement_interval
        return {
            "floor": (self.estimate, self.interval),
            "naive: votes outside the majority": (self.majority.naive, None),
            "a vote from the others at its row": (self.reached, None),
            "two annotators disagree": (1.0 - self.agreement, (1.0 - high, 1.0 - low)),
        }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SoftLabelFloor(LabelFloor, says="estimate uncalibrated n_samples n_classes"):
    """The floor from rows of label probabilities.

    `frame` has a row for each error rate.

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
    n_samples, n_rows : int
        Rows given, rows used.
    classes : ndarray of shape (n_classes,)
        The labels.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    uncalibrated: float
    reached: float | None
    reached_interval: Range | None
    calibration_gap: float | None
    calibration_z: float | None

    def _measures(self) -> dict[str, tuple[float, Range | None]]:
        measures: dict[str, tuple[float, Range | None]] = {"floor": (self.estimate, self.interval)}
        if self.reached is not None:
            measures["before calibration"] = (self.uncalibrated, None)
            measures["naming the most probable class"] = (self.reached, self.reached_interval)
        measures["two labels disagree"] = (1.0 - self.agreement, None)
        return measures
