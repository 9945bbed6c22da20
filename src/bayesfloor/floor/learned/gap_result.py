"""What `floor_gap` returns, and the sentence that says it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned.paired import Difference
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor, StackFloor
from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, plain
from bayesfloor.runtime.text import (
    difference,
    exact_percent,
    figure,
    label_text,
    p_text,
    percent,
    points,
    written_range,
)

#: Points below which nothing is said to be left: less than is written.
NEXT_TO_NOTHING = 0.0005
#: Share of a difference that is most of it, and the least that is worth naming.
MOST, WORTH_NAMING = 0.5, 0.2
#: Pairs that are named for most of a difference, at the most.
MOST_NAMED = 3
#: Shares of a difference that have a name, up to so much off.
_SHARES = {0.25: "a quarter", 1 / 3: "a third", 0.5: "half", 2 / 3: "two thirds", 0.75: "three quarters"}
_OFF = 0.035


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FloorGap(
    PlottedResult,
    says="value:metric reached p_value estimate n_samples",
    omits="difference learned class_columns pair_columns subgroup_columns rows_are_new",
    display="FloorGapDisplay",
):
    """How far a model is from what was reached on the same rows, and from the floor.

    `frame` has a row for each figure and each gap.

    All figures are of the rows that the stack was tested on, by one metric. Where larger is better, the floor is a
    ceiling. A gap is what can be won: above 0, whichever way is better.

    Attributes
    ----------
    metric : str
        What models are judged by.
    difference : Difference
        The paired comparison of the model, the first, and the stack, the second, by what they lose: `value`,
        `sure_gap`, `sure_gap_interval`, `p_value`, `n_only_model` and `n_only_stack` are from there.
    value_interval : (float, float)
        Where the value of the model lies; of the error, Clopper and Pearson's interval.
    tuned : float or None
        What the model's probabilities attain by the decisions that suit the metric best, where this judges decisions
        and they are known: the part from `value` to here is a matter of thresholds alone.
    estimate : float
        The floor: the best value that any model can reach.
    interval : (float, float)
        Where it lies. A model that is surely better than the stack moves it.
    n_tested : int
        Rows compared.
    origin : {"cross-fitted", "fitted", "predictions"}
        Whether clones of the model were fitted on the folds of the stack, a fitted model was asked, or predictions
        were passed.
    rows_are_new : bool
        Whether it is known that the model has seen none of the rows: by its origin, or because the caller says so.
    name : str
        What the model is called; empty for predictions.
    findings : tuple of Finding
        What a reader should know of the comparison; those on the floor are in `learned`.
    learned : LearnedFloor or RegressionFloor
        What the stack reached, and the floor that follows from it.
    class_columns, pair_columns, subgroup_columns : dict of str to ndarray
        What `by_class`, `by_pair` and `by_subgroup` show.
    are_alike : bool
        Whether neither model nor stack knew what the other did not, as far as can be seen. Otherwise no difference is
        sure, and there are no p-values.
    """

    metric: str
    difference: Difference
    value_interval: Range
    tuned: float | None = None
    estimate: float
    interval: Range
    n_tested: int
    origin: str
    rows_are_new: bool
    name: str
    findings: tuple[Finding, ...]
    learned: StackFloor
    class_columns: dict[str, Any]
    pair_columns: dict[str, Any]
    subgroup_columns: dict[str, Any]
    are_alike: bool = True

    @property
    def floor(self) -> MetricFloor:
        """What is known of the metric from the stack alone."""
        return self.learned.metrics[self.metric]

    @property
    def value(self) -> float:
        """What the model attains."""
        return float(self.floor.value(self.difference.first))

    @property
    def reached(self) -> float:
        """What the stack of learners attains."""
        return self.floor.reached

    @property
    def reached_interval(self) -> Range:
        """Where that lies."""
        return self.floor.reached_interval

    @property
    def sure_gap(self) -> float:
        """From `value` to `reached`: what can be won by a model that exists. Below 0 where the model is better."""
        return self.difference.value

    @property
    def sure_gap_interval(self) -> Range:
        """Where that lies: the lower end can surely be won."""
        return self.difference.interval

    @property
    def p_value(self) -> float:
        """Chance of a difference as large if both were equally good.

        Of the error by McNemar's exact test, else by Student's; by groups where rows belong together.
        """
        return self.difference.p_value

    @property
    def is_sure(self) -> bool:
        """Whether model and stack surely differ: the test rejects, and the interval leaves out 0."""
        return self.difference.is_sure(self.confidence)

    @property
    def possible_gap(self) -> float:
        """What may be won beyond `sure_gap`: from the better of both to the floor."""
        return max(self._beyond(self.estimate), 0.0)

    @property
    def possible_gap_interval(self) -> Range:
        """Where that lies, by the interval of the floor."""
        low, high = sorted(max(self._beyond(end), 0.0) for end in self.interval)
        return low, high

    def _beyond(self, value: float) -> float:
        """Return how much better a value is than model and stack."""
        if self.floor.larger_is_better:
            return value - max(self.value, self.reached)
        return min(self.value, self.reached) - value

    @property
    def n_only_model(self) -> int:
        """Rows that only the model predicts wrongly; by other metrics, in which it loses more."""
        return self.difference.n_first

    @property
    def n_only_stack(self) -> int:
        """Rows that only the stack predicts wrongly; by other metrics, in which it loses more."""
        return self.difference.n_second

    @property
    def n_samples(self) -> int:
        """Rows given."""
        return self.learned.n_samples

    @property
    def n_rows(self) -> int:
        """Rows used for training or tests."""
        return self.learned.n_rows

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted; none for numbers."""
        return self.learned.classes if isinstance(self.learned, LearnedFloor) else np.empty(0)

    @property
    def confidence(self) -> float:
        """Level of the intervals."""
        return self.learned.confidence

    def sentence(self) -> str:
        """Say how far the model is from what was reached and from the floor.

        Returns
        -------
        str
        """
        return " ".join([*self.learned.trust.headline, *sentences_on(self)])

    def _columns(self) -> dict[str, Any]:
        """Return the model, what was reached, the floor, and the gaps between them, a row each."""
        names = ("value", "reached", "estimate", "sure_gap", "possible_gap")
        ranges = [self.interval if name == "estimate" else getattr(self, f"{name}_interval") for name in names]
        return {
            "figure": ["model", "reached", "floor", "sure gap", "possible gap"],
            "value": [getattr(self, name) for name in names],
            "interval_low": [low for low, _ in ranges],
            "interval_high": [high for _, high in ranges],
            "p_value": [np.nan, np.nan, np.nan, self.p_value, np.nan],
        }

    def by_class(self) -> Any:
        """Return a data frame with a row for each true class, that with the largest share of the gap first.

        Returns
        -------
        data frame
            Empty but where the metric is the error. Of the rows of a class: `error` of the model, `reached` by the
            stack, `gap` with its interval, `p_value`, and `p_adjusted` by Holm's method over all classes and pairs.
            `gap_of_all` is the same gap as a share of all rows, and `share_of_gap` the part that it has in `sure_gap`.
        """
        return self._frame_of(self.class_columns)

    def by_pair(self) -> Any:
        """Return a data frame with a row for each two classes that are ever confused, the largest gap first.

        Returns
        -------
        data frame
            Empty but where the metric is the error. Shares of all rows: `error` of the model, `reached` by the stack,
            and their difference, `gap`. Counts of rows: `first_as_second` and `second_as_first` of the model, with
            `reached_` in front of the stack. The columns `error`, `reached` and `gap` sum up to those of all rows.
            P-values and `share_of_gap` are as in `by_class`.
        """
        return self._frame_of(self.pair_columns)

    def by_subgroup(self) -> Any:
        """Return a data frame with a row for each subgroup that was asked for, that with the largest gap first.

        Returns
        -------
        data frame
            Of the tested rows of a subgroup: `value` of the model, `reached` by the stack, `gap` with its interval,
            `p_value`, and `p_adjusted` by Holm's method. Subgroups of fewer than 10 tested rows are left out.
        """
        return self._frame_of(self.subgroup_columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold; `by_class`, `by_pair` and `by_subgroup` as lists of rows."""
        places = {
            "by_class": self.class_columns,
            "by_pair": self.pair_columns,
            "by_subgroup": self.subgroup_columns,
        }
        return super().to_dict() | {name: _rows(columns) for name, columns in places.items()}

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        kind, columns = "pair of classes", self.pair_columns
        if not self.class_columns:
            kind, columns = "subgroup", self.subgroup_columns
        elif len(self.classes) == 2:
            kind, columns = "true class", self.class_columns
        labels = (
            [_pair(*pair) for pair in zip(columns["first"], columns["second"], strict=True)]
            if (kind == "pair of classes")
            else [label_text(label) for label in columns.get("label", columns.get("subgroup", []))]
        )
        return super()._drawn(names) | {
            "names": labels,
            "gap": columns.get("gap_of_all", columns.get("gap", [])),
            "is_sure": np.asarray(columns.get("p_adjusted", [])) < 1.0 - self.confidence,
            "places": kind,
            "title": self.floor.title,
            "is_rate": self.floor.is_rate,
            "limit": Words(self.floor).limit,
        }


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(plain, columns.values()), strict=True)]


def share_text(share: float) -> str:
    """Write the part that something has in a difference: "half", "a third", "all", "42%"."""
    if share >= 0.965:
        return "all"
    near = min(_SHARES, key=lambda known: abs(known - share))
    return _SHARES[near] if abs(near - share) <= _OFF else f"{100 * share:.0f}%"


def _pair(first: Any, second: Any) -> str:
    return f"{label_text(first)} against {label_text(second)}"


class Words:
    """How values of a metric, and differences of them, are said.

    Parameters
    ----------
    floor : MetricFloor
        What is known of the metric.
    """

    def __init__(self, floor: MetricFloor) -> None:
        self.floor = floor
        self.limit = "ceiling" if floor.larger_is_better else "floor"
        self.bound = "at least" if floor.larger_is_better else "at most"
        self.better = "more" if floor.larger_is_better else "less"

    def attains(self, value: float, rows: str = "") -> str:
        """Say what a model attains: "errs on 9.4% of the rows", "has an ROC AUC of 0.91 on the rows"."""
        if self.floor.name != "error":
            return f"has {self.floor.said(value)}{rows and f' on {rows}'}"
        if value > 0.0:
            return f"errs on {percent(value)}{rows and f' of {rows}'}"
        return f"makes no error{rows and f' on {rows}'}"

    def amount(self, value: float) -> str:
        """Write a difference: "1.3 points", "0.021"."""
        return difference(value, self.floor.is_rate)

    def bare(self, value: float) -> str:
        """Write a difference without a unit, and with its sign where it is below 0."""
        text = points(abs(value)) if self.floor.is_rate else figure(float(f"{abs(value):.2g}"))
        return f"-{text}" if value < 0.0 else text

    def range(self, low: float, high: float) -> str:
        """Write an interval of values."""
        return written_range(low, high, self.floor.is_rate)

    def is_next_to_nothing(self, value: float) -> bool:
        """Tell whether a difference is less than is written."""
        if self.floor.is_rate:
            return value < NEXT_TO_NOTHING
        return value < NEXT_TO_NOTHING * max(abs(self.floor.baseline - self.floor.perfect), 1e-300)


def sentences_on(gap: FloorGap) -> list[str]:
    """Say how far a model is from what was reached and from the floor, with no more certainty than there is."""
    level, words = exact_percent(gap.confidence), Words(gap.floor)
    known = f"about {gap.floor.written(gap.estimate)} ({level} range {words.range(*gap.interval)})"
    attains = f"Your model {words.attains(gap.value)}"
    if any(finding.code == "BF058" for finding in gap.findings):
        return [
            f"Your model {words.attains(gap.value, 'these rows')}, where a stack of learners that had not seen them "
            f"{words.attains(gap.reached)} and the {words.limit} is {known}: it has probably been trained on them.",
            f"How far it is from the {words.limit} on new rows cannot be told.",
        ]
    if not gap.are_alike:
        of_stack = f"{attains}, and a stack of learners {words.attains(gap.reached)}"
        return [f"{of_stack}. They were not made alike, so that nothing is called sure."]
    low, high = gap.sure_gap_interval
    if gap.is_sure and gap.sure_gap > 0.0:
        return [_surely_more(gap, words, attains, level), *_of_thresholds(gap, words)]
    if gap.is_sure:
        between = f"{level} interval {words.bare(-high)} to {words.bare(-low)}, {p_text(gap.p_value)}"
        better = (
            f"{attains}, surely {words.better} than the {gap.floor.written(gap.reached)} that a stack of learners "
            f"reaches on the same rows (by {words.amount(-gap.sure_gap)}, {between})."
        )
        if not gap.rows_are_new:
            pick = max if gap.floor.larger_is_better else min
            ends = (
                (gap.value_interval[0], gap.interval[0])
                if gap.floor.larger_is_better
                else (gap.value_interval[1], gap.interval[1])
            )
            most = gap.floor.written(pick(ends))
            return [better, f"If the model has not seen these rows, the {words.limit} is {words.bound} {most}."]
        left = _perhaps_left(gap, words)
        if words.is_next_to_nothing(abs(gap.value - gap.estimate)):
            further = "higher" if gap.floor.larger_is_better else "lower"
            left = f"; how much {further} it is cannot be told from a stack that has seen less"
        measured = "Measured: a model did this on rows that it had not seen"
        most = gap.floor.written(gap.interval[0] if gap.floor.larger_is_better else gap.interval[1])
        return [better, f"{measured}, so the {words.limit} is {words.bound} {most}{left}."]
    if gap.n_only_model == gap.n_only_stack == 0:
        first = f"{attains}, on the same rows as a stack of learners: nothing can surely be won"
        if gap.metric != "error":
            first = f"{attains}, as a stack of learners has on the same rows: nothing can surely be won"
    elif gap.value == gap.reached:
        first = f"{attains}, as often as a stack of learners on the same rows: nothing can surely be won"
        if gap.metric != "error":
            first = f"{attains}, as much as a stack of learners on the same rows: nothing can surely be won"
    else:
        unit = " points" if gap.floor.is_rate else ""
        between = f"{level} interval {words.bare(low)} to {words.bare(high)}{unit}, {p_text(gap.p_value)}"
        of_stack = f"a stack of learners {gap.floor.written(gap.reached)} on the same rows"
        if gap.metric == "error":
            share = percent(gap.reached) if gap.reached > 0.0 else "none"
            of_stack = f"a stack of learners on {share} of the same rows"
        first = f"{attains}, and {of_stack}. The difference may be chance ({between}): nothing can surely be won"
    condition = "" if gap.rows_are_new else ", if the model has not seen these rows"
    return [f"{first}{_perhaps_left(gap, words)}{condition}.", *_of_thresholds(gap, words)]


def _surely_more(gap: FloorGap, words: Words, attains: str, level: str) -> str:
    """Say what can surely be won, what perhaps, and where most of it is."""
    low, high = gap.sure_gap_interval
    between = f"{level} interval {words.bare(low)} to {words.bare(high)}, {p_text(gap.p_value)}"
    won = words.amount(gap.sure_gap)
    more = f", {words.bare(gap.possible_gap)} more perhaps"
    if words.is_next_to_nothing(gap.possible_gap):
        more = ", and no more"
    if gap.metric != "error":
        first = (
            f"{attains}; {won} more can surely be won ({between}){more.replace('more perhaps', 'beyond that perhaps')}"
        )
        if not gap.floor.larger_is_better:
            first = f"{attains}; {won} of it can surely be won ({between}){more}"
        return f"{first}."
    if gap.reached == 0.0:
        first = (
            f"{attains}; all of it can surely be won ({between}): a stack of learners makes no error on the same rows"
        )
    else:
        first = f"{attains}; {won} of it can surely be won ({between}){more}"
    where = _where(gap, won)
    return f"{first}; {where}." if where else f"{first}."


def _of_thresholds(gap: FloorGap, words: Words) -> list[str]:
    """Say how much is a matter of thresholds alone."""
    if gap.tuned is None:
        return []
    won = gap.tuned - gap.value if gap.floor.larger_is_better else gap.value - gap.tuned
    if won <= 0.0 or words.is_next_to_nothing(won):
        return []
    return [f"Its own probabilities reach {gap.floor.written(gap.tuned)} by decisions that suit this metric."]


def _perhaps_left(gap: FloorGap, words: Words) -> str:
    left = gap.estimate - gap.value if gap.floor.larger_is_better else gap.value - gap.estimate
    if words.is_next_to_nothing(left):
        return f"; it is at the {words.limit}, as far as these rows tell"
    way = "up" if gap.floor.larger_is_better else "down"
    known = gap.floor.written(gap.estimate)
    return f"; {words.amount(left)} perhaps, {way} to the {words.limit} of about {known}"


def _where(gap: FloorGap, won: str) -> str:
    """Name the few pairs, or the one of two classes, that surely make up most of what can be won; "" if none do."""
    two = len(gap.classes) == 2
    columns = gap.class_columns if two else gap.pair_columns
    share, adjusted = np.asarray(columns["share_of_gap"]), np.asarray(columns["p_adjusted"])
    named: list[int] = []
    for place in np.argsort(-share, kind="stable")[: 1 if two else MOST_NAMED].tolist():
        if adjusted[place] >= 1.0 - gap.confidence:
            break
        named.append(place)
        if share[named].sum() >= MOST - 1e-9:
            break
    if not named or (not two and share[named].sum() < WORTH_NAMING):
        return ""
    part = share_text(float(share[named].sum()))
    if two:
        return f"{part} of the {won} is at rows of {label_text(columns['label'][named[0]])}"
    pairs = [_pair(columns["first"][place], columns["second"][place]) for place in named]
    together = pairs[0] if len(pairs) == 1 else f"{', '.join(pairs[:-1])} and {pairs[-1]}"
    return f"{part} of the {won} {'is' if len(pairs) == 1 else 'are'} {together}"
