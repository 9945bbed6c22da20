"""What `floor_gap` returns, and the sentence that says it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned.paired import Difference
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.runtime.arrays import Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, plain
from bayesfloor.runtime.text import exact_percent, label_text, percent, percent_range, points

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
    says="error reached p_value estimate n_samples n_classes",
    omits="difference learned class_columns pair_columns rows_are_new",
    display="FloorGapDisplay",
):
    """How far a model is from what was reached on the same rows, and from the floor.

    `frame` has a row for each error and each gap.

    Errors are shares of rows predicted wrongly. All are of the rows that the stack was tested on.

    Attributes
    ----------
    difference : Difference
        The paired comparison of the model, the first, and the stack, the second: `error`, `sure_gap`,
        `sure_gap_interval`, `p_value`, `n_only_model` and `n_only_stack` are from there.
    error_interval : (float, float)
        Clopper and Pearson's interval of the error of the model.
    estimate : float
        The floor: the lowest error that any model can reach.
    interval : (float, float)
        Where it lies. A model that is surely better than the stack moves it down.
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
    learned : LearnedFloor
        What the stack reached, and the floor that follows from it.
    class_columns, pair_columns : dict of str to ndarray
        What `by_class` and `by_pair` show.
    """

    difference: Difference
    error_interval: Range
    estimate: float
    interval: Range
    n_tested: int
    origin: str
    rows_are_new: bool
    name: str
    findings: tuple[Finding, ...]
    learned: LearnedFloor
    class_columns: dict[str, Any]
    pair_columns: dict[str, Any]

    @property
    def error(self) -> float:
        """The error of the model."""
        return self.difference.first

    @property
    def reached(self) -> float:
        """The error of the stack of learners."""
        return self.learned.metrics["error"].reached

    @property
    def reached_interval(self) -> Range:
        """Where it lies."""
        return self.learned.metrics["error"].reached_interval

    @property
    def sure_gap(self) -> float:
        """`error` less `reached`: what can be won by a model that exists. Below 0 where the model is better."""
        return self.difference.value

    @property
    def sure_gap_interval(self) -> Range:
        """Where that lies: the lower end can surely be won."""
        return self.difference.interval

    @property
    def p_value(self) -> float:
        """Chance of a difference as large if both were equally good.

        McNemar's exact test; by groups where rows belong together.
        """
        return self.difference.p_value

    @property
    def is_sure(self) -> bool:
        """Whether model and stack surely differ: the test rejects, and the interval leaves out 0."""
        low, high = self.sure_gap_interval
        return self.p_value < 1.0 - self.confidence and not low <= 0.0 <= high

    @property
    def possible_gap(self) -> float:
        """What may be won beyond `sure_gap`: from the better of both down to the floor."""
        return max(min(self.error, self.reached) - self.estimate, 0.0)

    @property
    def possible_gap_interval(self) -> Range:
        """Where that lies, by the interval of the floor."""
        best, (low, high) = min(self.error, self.reached), self.interval
        return max(best - high, 0.0), max(best - low, 0.0)

    @property
    def n_only_model(self) -> int:
        """Rows that only the model predicts wrongly."""
        return self.difference.n_first

    @property
    def n_only_stack(self) -> int:
        """Rows that only the stack predicts wrongly."""
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
    def n_classes(self) -> int:
        """Number of classes."""
        return self.learned.n_classes

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self.learned.classes

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
        return " ".join(sentences_on(self))

    def _columns(self) -> dict[str, Any]:
        """Return the model, what was reached, the floor, and the gaps between them, a row each."""
        names = ("error", "reached", "estimate", "sure_gap", "possible_gap")
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
            Of the rows of a class: `error` of the model, `reached` by the stack, `gap` with its interval, `p_value`,
            and `p_adjusted` by Holm's method over all classes and pairs. `gap_of_all` is the same gap as a share of
            all rows, and `share_of_gap` the part that it has in `sure_gap`.
        """
        return self._frame_of(self.class_columns)

    def by_pair(self) -> Any:
        """Return a data frame with a row for each two classes that are ever confused, the largest gap first.

        Returns
        -------
        data frame
            Shares of all rows: `error` of the model, `reached` by the stack, and their difference, `gap`. Counts of
            rows: `first_as_second` and `second_as_first` of the model, with `reached_` in front of the stack. The
            columns `error`, `reached` and `gap` sum up to those of all rows. P-values and `share_of_gap` are as in
            `by_class`.
        """
        return self._frame_of(self.pair_columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as values that JSON can hold; `by_class` and `by_pair` as lists of rows."""
        places = {"by_class": self.class_columns, "by_pair": self.pair_columns}
        return super().to_dict() | {name: _rows(columns) for name, columns in places.items()}

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        two = self.n_classes == 2
        columns = self.class_columns if two else self.pair_columns
        return super()._drawn(names) | {
            "names": (
                [label_text(label) for label in columns["label"]]
                if two
                else [_pair(*pair) for pair in zip(columns["first"], columns["second"], strict=True)]
            ),
            "gap": columns["gap_of_all" if two else "gap"],
            "is_sure": np.asarray(columns["p_adjusted"]) < 1.0 - self.confidence,
            "places": "true class" if two else "pair of classes",
        }


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(plain, columns.values()), strict=True)]


def p_text(p_value: float) -> str:
    """Write a p-value: "p < .001", "p = .02", "p = .3"."""
    if p_value < 0.001:
        return "p < .001"
    digits = 3 if p_value < 0.01 else 2
    text = f"{p_value:.{digits}f}"
    return "p = 1" if text == "1.00" else f"p = {text.removeprefix('0')}"


def share_text(share: float) -> str:
    """Write the part that something has in a difference: "half", "a third", "all", "42%"."""
    if share >= 0.965:
        return "all"
    near = min(_SHARES, key=lambda known: abs(known - share))
    return _SHARES[near] if abs(near - share) <= _OFF else f"{100 * share:.0f}%"


def _pair(first: Any, second: Any) -> str:
    return f"{label_text(first)} against {label_text(second)}"


def sentences_on(gap: FloorGap) -> list[str]:
    """Say how far a model is from what was reached and from the floor, with no more certainty than there is."""
    level = exact_percent(gap.confidence)
    floor = f"about {percent(gap.estimate)} ({level} range {percent_range(*gap.interval)})"
    errs = f"Your model errs on {percent(gap.error)}" if gap.error > 0.0 else "Your model makes no error"
    if any(finding.code == "BF058" for finding in gap.findings):
        return [
            f"{errs} {'of' if gap.error > 0.0 else 'on'} these rows, where a stack of learners that had not seen them "
            f"errs on {percent(gap.reached)} and the floor is {floor}: it has probably been trained on them.",
            "How far it is from the floor on new rows cannot be told.",
        ]
    low, high = gap.sure_gap_interval
    if gap.is_sure and gap.sure_gap > 0.0:
        return [_surely_more(gap, errs, level)]
    if gap.is_sure:
        between = f"{level} interval {points(-high)} to {points(-low)}, {p_text(gap.p_value)}"
        better = (
            f"{errs}, surely less than the {percent(gap.reached)} that a stack of learners reaches on the same rows "
            f"(by {points(-gap.sure_gap)} points, {between})."
        )
        if not gap.rows_are_new:
            most = percent(min(gap.error_interval[1], gap.interval[1]))
            return [better, f"If the model has not seen these rows, the floor is at most {most}."]
        left = _perhaps_left(gap, "; ")
        if gap.error - gap.estimate < NEXT_TO_NOTHING:
            left = "; how much lower it is cannot be told from a stack that has seen less"
        measured = "Measured: a model did this on rows that it had not seen"
        return [better, f"{measured}, so the floor is at most {percent(gap.interval[1])}{left}."]
    if gap.n_only_model == gap.n_only_stack == 0:
        first = f"{errs}, on the same rows as a stack of learners: nothing can surely be won"
    elif gap.error == gap.reached:
        first = f"{errs}, as often as a stack of learners on the same rows: nothing can surely be won"
    else:
        between = f"{level} interval {_signed(low)} to {_signed(high)} points, {p_text(gap.p_value)}"
        of_stack = percent(gap.reached) if gap.reached > 0.0 else "none"
        first = (
            f"{errs}, and a stack of learners on {of_stack} of the same rows. The difference may be chance "
            f"({between}): nothing can surely be won"
        )
    condition = "" if gap.rows_are_new else ", if the model has not seen these rows"
    return [f"{first}{_perhaps_left(gap, '; ')}{condition}."]


def _surely_more(gap: FloorGap, errs: str, level: str) -> str:
    """Say what can surely be won, what perhaps, and where most of it is."""
    low, high = gap.sure_gap_interval
    between = f"{level} interval {points(low)} to {points(high)}, {p_text(gap.p_value)}"
    won = f"{points(gap.sure_gap)} points"
    if gap.reached == 0.0:
        first = f"{errs}; all of it can surely be won ({between}): a stack of learners makes no error on the same rows"
    else:
        more = f", {points(gap.possible_gap)} more perhaps" if gap.possible_gap >= NEXT_TO_NOTHING else ", and no more"
        first = f"{errs}; {won} of it can surely be won ({between}){more}"
    where = _where(gap, won)
    return f"{first}; {where}." if where else f"{first}."


def _perhaps_left(gap: FloorGap, before: str) -> str:
    left = gap.error - gap.estimate
    if left < NEXT_TO_NOTHING:
        return f"{before}it is at the floor, as far as these rows tell"
    return f"{before}{points(left)} points perhaps, down to the floor of about {percent(gap.estimate)}"


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


def _signed(value: float) -> str:
    return f"-{points(-value)}" if value < 0.0 else points(value)
