"""Learners: training rows in, what was learned out, and predictions from that.

A learner is a family of predictions that share work: one search for nearest rows, one forest, one kernel. Its outputs
are listed by name in results, and some of them may be requested::

    learner.fit(train, requested, seed)         a Fitted: a record of arrays that predicts rows, now or later
    learner.fit(train, requested, seed, rows)   the same of these rows alone: trees need not be kept

An output has a probability for each class, or is a number for each row.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.learn.records import Record, record
from bayesfloor.learn.training_rows import Space, Train, is_mostly_binary, is_nominal, never_stop, share_a_unit
from bayesfloor.runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to predict, standardised as the training rows were.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    codes : ndarray of shape (n, n_columns) or None
        Their columns as codes with gaps, where they come from a table.
    check : callable
        Slow predictions call it now and then; it raises an exception when the work was cancelled.
    """

    X: NDArray[Any]
    codes: Floats | None = None
    check: Callable[[], None] = never_stop

    def of_codes(self, space: Space) -> NDArray[Any]:
        """Return the points that a space makes of the codes."""
        assert self.codes is not None
        return space.of(self.codes)

    def at(self, X: NDArray[Any]) -> "Rows":
        """Return the same rows in another space."""
        return Rows(X, self.codes, self.check)


class Fitted(Record):
    """What a learner has learned; subclasses are frozen dataclasses."""

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the outputs that were requested, by name; each row is predicted by itself."""
        raise NotImplementedError

    def only(self, names: Collection[str]) -> "Fitted":
        """Return what some of the outputs need."""
        return self


@record
class Together(Fitted):
    """What several parts predict."""

    parts: tuple[Fitted, ...]

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the outputs of all parts."""
        return {name: values for part in self.parts for name, values in part.predict(rows).items()}


@record
class Constant(Fitted):
    """The same for every row: probabilities, or a single number."""

    names: tuple[str, ...]
    line: Floats
    are_classes: bool

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Repeat it."""
        found = np.tile(self.line, (len(rows.X), 1))
        return dict.fromkeys(self.names, found if self.are_classes else found[:, 0])


@record
class Given(Fitted):
    """Outputs of the rows that were given in training."""

    values: dict[str, Floats]

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return them."""
        return self.values


@record
class InSpace(Fitted):
    """What was learned in another space."""

    space: Space
    fitted: Fitted

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Move the rows there, and predict them."""
        return self.fitted.predict(rows.at(self.space.of(rows.X)))

    def only(self, names: Collection[str]) -> Fitted:
        """Return what some of the outputs need."""
        return InSpace(self.space, self.fitted.only(names))


@record
class OfCodes(Fitted):
    """What was learned from points that a space makes of the columns of a table."""

    space: Space
    fitted: Fitted

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Make the points, and predict them."""
        return self.fitted.predict(rows.at(rows.of_codes(self.space)))


class Output(NamedTuple):
    """A prediction that results list by its name.

    Attributes
    ----------
    name : str
        The name.
    kind : str
        What it is made of: "linear", "kernel", "tree", "neighbours" or "local ridge".
    searches : str or None
        The space in which it looks for nearest rows, which takes longer than all else.
    """

    name: str
    kind: str = "linear"
    searches: str | None = None


@dataclass(frozen=True, eq=False)
class Look:
    """What is seen of rows before anything is learned from them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows to predict.
    tabular : TabularView or None, default=None
        Their columns as codes with gaps, where they come from a table.
    supervised : SupervisedFeatures or None, default=None
        Features that every training set makes for itself: nothing is known of them.
    n_rows : int, default=0
        Rows to learn from.
    """

    X: Floats
    tabular: TabularView | None = None
    supervised: SupervisedFeatures | None = None
    n_rows: int = 0

    @cached_property
    def shares_a_unit(self) -> bool:
        """Whether columns are measured alike, as pixels are."""
        return self.tabular is None and self.supervised is None and share_a_unit(self.X)

    @cached_property
    def n_varying(self) -> int:
        """How many columns vary."""
        return 0 if self.supervised is not None else int((self.X.min(axis=0) < self.X.max(axis=0)).sum())

    @cached_property
    def has_names(self) -> bool:
        """Whether values may be names: of a table, or of columns of few values."""
        return self.supervised is None and (self.tabular is not None or bool(is_nominal(self.X).any()))

    @cached_property
    def is_binary(self) -> bool:
        """Whether most columns have two values."""
        return self.supervised is None and is_mostly_binary(self.X)


class Learner:
    """A family of learners that share work; subclasses are frozen dataclasses.

    Attributes
    ----------
    name : str
        What the `learners` parameter takes.
    takes_weights : bool
        Whether rows may have weights; otherwise rows are drawn by them.
    learns_slowly : bool
        Whether it may see nothing in few rows where it sees all in more: what it says of few is not held against it.
    """

    name: str
    takes_weights: bool = False
    learns_slowly: bool = False

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it may predict."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(output.name for output in self.outputs)

    def suited(self, look: Look) -> "Learner | None":
        """Return the learner for rows that look so; None where it has nothing to say about them."""
        return self

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Learn what the requested outputs need; with rows, what they need for these alone."""
        raise NotImplementedError


def fit(
    learner: Learner, train: Train, requested: frozenset[str] | None, seed: int, rows: Rows | None = None
) -> Fitted:
    """Let a learner learn the requested outputs, or all; without weights where it takes none."""
    wanted = frozenset(learner.names) if requested is None else requested
    return learner.fit(train if learner.takes_weights else train.drawn_by_weight(), wanted, seed, rows)


def fit_predict(
    learner: Learner, train: Train, requested: frozenset[str] | None, seed: int, rows: Rows
) -> dict[str, Floats]:
    """Let a learner predict rows; see `fit`."""
    return fit(learner, train, requested, seed, rows).predict(rows)
