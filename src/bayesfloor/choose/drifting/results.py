"""What `drift` returns."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result
from bayesfloor.runtime.text import figure, listed, p_text, percent, quoted, written_range


class ColumnMove(NamedTuple):
    """How far one part of a column moved.

    Attributes
    ----------
    column : str
        Name of the column; of two, "age and income".
    what : {"values", "levels", "words", "gaps", "pair"}
        Its numbers or dates, its categories, its text, where a value is missing; or how two columns go together.
    share : float
        About which share of the rows have another value in the new table than in the old one: how far the two
        distributions lie apart, less what chance adds to that.
    p_value : float
        Chance that any column moves as much, if both tables come from one distribution; never below that of the tables.
    old, new : str
        What the tables hold: median and quartiles, the share of the level that moved most, the share of gaps, the mean
        product of two columns.
    """

    column: str
    what: str
    share: float
    p_value: float
    old: str
    new: str


class LevelMove(NamedTuple):
    """A level whose share changed.

    Attributes
    ----------
    column, level : str
        The column and its value.
    old, new : float
        Share of the rows with a value that have it.
    """

    column: str
    level: str
    old: float
    new: float


class RowKind(NamedTuple):
    """Rows of a kind that one table has more of.

    Attributes
    ----------
    rows : str
        What they have in common: "age > 61 and region is 'north'".
    old, new : float
        Share of the rows of each table that are such, among rows that had no part in finding them.
    p_value : float
        Chance of such a difference of any of the kinds that were tested, if both tables come from one distribution.
    """

    rows: str
    old: float
    new: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class TargetDrift(Result, says="target p_value label_p_value overlap"):
    """Whether labels given the columns differ between two tables.

    Attributes
    ----------
    target : str
        Name of the target.
    task : {"classification", "regression"}
        Whether it holds classes or numbers.
    p_value : float or None
        Chance of labels as different, given the columns, if they follow one law, allowing for the test of the columns;
        None where the tables have too few rows in common to tell.
    label_p_value : float
        The same of the labels alone, whatever the columns are.
    overlap : float
        How much of the evidence on labels is at places that both tables have rows at: 1 where both have the same
        columns, 0 where no place has rows of both.
    confidence : float
        1 less the p-value up to which labels moved.
    new_classes, gone_classes : tuple of str
        Classes that one of the tables alone has.
    """

    target: str
    task: str
    p_value: float | None
    label_p_value: float
    overlap: float
    confidence: float
    new_classes: tuple[str, ...] = ()
    gone_classes: tuple[str, ...] = ()

    @property
    def has_moved(self) -> bool:
        """Whether labels given the columns surely moved."""
        return self.p_value is not None and self.p_value <= 1.0 - self.confidence

    def sentence(self) -> str:
        """Say whether labels given the columns moved."""
        if self.p_value is None:
            return "The tables have too few rows in common to tell whether labels given the columns moved."
        if self.has_moved:
            return f"Labels given the columns moved ({p_text(self.p_value)})."
        return f"Nothing shows that labels given the columns moved ({p_text(self.p_value)})."


@dataclass(frozen=True, eq=False, repr=False)
class Drift(PlottedResult, says="estimate p_value n_old n_new", display="DriftDisplay"):
    """Whether two tables come from one distribution, and what moved.

    `frame` has a row for each part of a column, the surest first.

    Attributes
    ----------
    estimate : float
        Henze-Penrose divergence between the tables, from the cross edges of spanning forests: 0 where they come from
        one distribution, 1 where no place has rows of both.
    interval : (float, float)
        Confidence interval of the mean of `estimate` over tables of this size. In many columns that mean is below the
        divergence, and so is the interval (finding BF008).
    p_value : float
        Chance of tables as different as these, if both come from one distribution. It allows for all that was tested:
        four statistics, a model that tells the tables apart and, with a target, labels given the columns.
    tests : dict of str to float
        The chance by each of the four statistics, allowing for the other three.
    is_exact : bool
        Whether the p-values come from all ways to deal the tables' names out to their rows.
    separability : MetricFloor or None
        The ROC AUC of models that tell rows of the two tables apart: what was reached, and about the most that
        models can reach. None where no models were trained.
    moves : tuple of ColumnMove
        Each part of a column, the surest first.
    levels : tuple of LevelMove
        Levels that moved, of columns that surely did.
    kinds : tuple of RowKind
        Rows of a kind that one table has more of.
    target : TargetDrift or None
        Whether labels given the columns moved; None without a target.
    n_samples, n_old, n_new : int
        Rows given in both tables together, and rows used of each.
    confidence : float
        Level of the intervals; 1 less the p-value up to which something moved.
    findings : tuple of Finding
        What a reader should know.
    """

    estimate: float
    interval: Range
    p_value: float
    tests: dict[str, float]
    is_exact: bool
    separability: MetricFloor | None
    moves: tuple[ColumnMove, ...]
    levels: tuple[LevelMove, ...]
    kinds: tuple[RowKind, ...]
    target: TargetDrift | None
    n_samples: int
    n_old: int
    n_new: int
    confidence: float
    findings: tuple[Finding, ...]

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the columns that surely moved, the surest first."""
        names = [each.column for each in self.moves if each.p_value <= 1.0 - self.confidence and each.what != "pair"]
        return tuple(dict.fromkeys(names))

    @property
    def verdict(self) -> str:
        """Say "none", "columns", "labels" or "both": whether columns, or labels given the columns, surely moved."""
        columns = self.p_value <= 1.0 - self.confidence
        labels = self.target is not None and self.target.has_moved
        return "both" if columns and labels else "columns" if columns else "labels" if labels else "none"

    def sentence(self) -> str:
        """Say whether the tables differ, how well they can be told apart, and what moved most."""
        level = 1.0 - self.confidence
        auc = self.separability
        if self.p_value <= level:
            said = f"The columns differ: {p_text(self.p_value)}."
            if auc is not None:
                said += (
                    f" A model tells the tables apart with an ROC AUC of {figure(auc.reached)} "
                    f"({written_range(*auc.reached_interval, False)}); 0.5 is chance."
                )
        else:
            model = "" if auc is None else f", with a model's ROC AUC of {figure(auc.reached)} taken into account"
            said = f"Nothing shows that the columns differ: {p_text(self.p_value)}{model}."
        moves = [each for each in self.moves if each.p_value <= level]
        if moves:
            said += " Moved: " + listed([f"{quoted(each.column)} ({_what(each)})" for each in moves], 4) + "."
        return said if self.target is None else f"{said} {self.target.sentence()}"

    def _columns(self) -> dict[str, Any]:
        names = ColumnMove._fields
        return {name: [getattr(each, name) for each in self.moves] for name in names}


def _what(move: ColumnMove) -> str:
    of = {"gaps": "gaps of ", "levels": "levels of ", "words": "words of ", "pair": "together, "}.get(move.what, "")
    return f"{of}about {percent(move.share)} of the rows"
