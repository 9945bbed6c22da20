"""Columns that give the target away: by themselves, or with one other.

::

    each column ────── rows next to each other in it have the same target ── a copy, a logarithm, an id in its order
                       each of its values is one stretch of the target ───── bins of a number
                       a value is missing where the target says so ───────── what is known only afterwards
    two numbers ────── y is their sum, difference, product or ratio; the label is which of them is larger

A number is looked at by its ranks, so that a logarithm of it is as good as a copy. Rows with equal values of a column
come in a random order, so that a category is judged by what differs within its values. A column that tells nearly
everything may also be a good one. So it is called a leak only where the others tell far less: `is_worse_without` holds
what models reach with all columns against what they reach without. A column in the very order of a number, or that is
missing for just the rows of one class, is one whatever the others tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import stratified_rows
from bayesfloor.floor.learned.trust.fewer_columns import column_of
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import listed

#: Rows that columns are looked at in, at the most, and below which nothing can be told.
_MOST_ROWS, _FEWEST_ROWS = 2000, 40
#: Share of the variance of ranks, or of pairs of different class, that a column may leave.
_LEFT_OF_NUMBERS, _LEFT_OF_CLASSES = 0.01, 0.04
#: The same for two columns together, which are many more: the relation must be nearly exact.
_LEFT_BY_TWO = 1e-3
#: Rows for each value of a column, at the least, for its values to be levels.
_ROWS_OF_LEVEL = 5
#: Different numbers for each level, at the least, for stretches of the target to mean something.
_NUMBERS_OF_LEVEL = 5
#: Share of the rows beside the largest level that may lie outside the stretch of theirs, and of all rows that these
#: must be: a handful of rows lie side by side by chance.
_OUT_OF_PLACE, _LEAST_CUT = 0.02, 0.05
#: Columns that pairs are made of, at the most.
_MOST_PAIRED = 60
#: Different values of a column, at the least, for the order of the target to be no chance; and rows with and without a
#: value. Neighbours in that order leave 6 / n² of the variance of ranks; rounding leaves a few times that.
_EXACT_VALUES, _EXACT_ROWS, _EXACT_LEFT = 50, 20, 25.0
#: Share of all columns that may be leaks, beyond the first three: where most columns tell all, the problem is easy.
_MOST_LEAKS, _ANY_LEAKS = 0.5, 3


@dataclass(frozen=True)
class Leaks:
    """Columns that give the target away.

    Attributes
    ----------
    alone : tuple of str
        Columns that do so by themselves.
    together : tuple of (str, str)
        Columns that do so with one other.
    exact : tuple of str
        Those of `alone` that do so without exception, so that they are leaks whatever other columns tell.
    """

    alone: tuple[str, ...] = ()
    together: tuple[tuple[str, str], ...] = ()
    exact: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return bool(self.alone or self.together)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a part in it, each once."""
        return tuple(dict.fromkeys([*self.alone, *(name for pair in self.together for name in pair)]))

    def sentence(self) -> str:
        """Say which columns give the answer away."""
        if self.alone:
            return f"{names_of(self.alone)} {'each give' if len(self.alone) > 1 else 'gives'} the answer away"
        pairs = [names_of(pair) for pair in self.together]
        return f"{'; '.join(pairs[:3])} {'each give' if len(pairs) > 1 else 'give'} the answer away together"


def names_of(columns: Sequence[str]) -> str:
    """List columns in quotes, with "and" before the last."""
    quoted = [f"'{name}'" for name in columns]
    return listed(quoted) if len(quoted) > 5 else " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def find_leaks(source: Source, measured: ColumnFloors, seed: int) -> Leaks:
    """Look for columns that give the target away.

    Parameters
    ----------
    source : Source
        What the report is about.
    measured : ColumnFloors
        What each column tells by itself; decides on columns that became several features.
    seed : int
        Seeds the choice of rows and the order of equal ones.

    Returns
    -------
    Leaks
    """
    problem = source.problem
    if len(problem.X) < _FEWEST_ROWS:
        return Leaks()
    strata, keys = source.strata, source.keys(seed)
    rows = stratified_rows(strata, max(_MOST_ROWS, int(strata.max()) + 1), keys)
    rows = rows[np.argsort(keys[rows], kind="stable")]  # equal values are then in a random order
    target = _Target(problem, rows)
    values = {name: column[rows] for name, column in columns_as_given(source)}
    alone, exact = [], []
    for place, name in enumerate(source.columns):
        column = values.get(name)
        if source.possible_groups.get(name) is not None and len(np.unique(source.possible_groups[name])) > 20:
            continue  # rows of one value belong together, which is looked for elsewhere
        if column is None:
            is_leak = 1.0 - measured.removed[place] <= target.most_left
        else:
            is_leak = target.is_told_by(column)
        if is_leak:
            alone.append(name)
            exact += [name] if column is not None and target.is_told_exactly_by(column) else []
    numbers = {name: column for name, column in values.items() if name not in alone and np.isfinite(column).all()}
    found = Leaks(tuple(alone), () if alone else tuple(_pairs(numbers, target)), tuple(exact))
    most = max(_ANY_LEAKS, _MOST_LEAKS * len(source.columns))
    found = found if len(found.columns) <= most else Leaks(found.exact, (), found.exact)
    return found if len(found.columns) < len(source.columns) else Leaks()


def columns_as_given(source: Source) -> Iterator[tuple[str, Floats]]:
    """Yield the columns that are one number or code for each row, as the reader has them; NaN where one is missing."""
    tabular = source.problem.tabular
    if tabular is None:
        for name, members in zip(source.columns, source.feature_groups, strict=True):
            if len(members) == 1:
                yield name, source.problem.X[:, members[0]]
        return
    is_scaled = np.array_equal(
        tabular.values, source.problem.X
    )  # where all columns are numbers, there is no other view
    places: dict[str, list[int]] = {}
    for place, name in enumerate(tabular.names):
        places.setdefault(column_of(name, source.columns), []).append(place)
    for name in source.columns:
        own = places.get(name, [])
        if len(own) == 1 or (own and tabular.names[own[0]] == f"{name}: time"):
            spread, center = source.scales.get(name, (1.0, 0.0)) if is_scaled else (1.0, 0.0)
            yield name, tabular.values[:, own[0]] * spread + center


class _Target:
    """The target of some rows, and whether a column tells it."""

    def __init__(self, problem: Problem, rows: Ints) -> None:
        self.is_number = problem.task == "regression"
        self.codes = problem.codes[rows]
        self.y = problem.y[rows] if self.is_number else problem.y
        self.most_left = _LEFT_OF_NUMBERS if self.is_number else _LEFT_OF_CLASSES
        if self.is_number:
            self.ranks = np.unique(self.y, return_inverse=True)[1].astype(np.float64)

    def is_told_by(self, column: Floats) -> bool:
        """Tell whether a column gives the target away."""
        gaps = np.isnan(column)
        levels = np.unique(np.where(gaps, np.inf, column), return_inverse=True)[1]
        if levels.max() == 0:
            return False
        if self._left(levels) <= self.most_left:
            return True
        if not self.is_number:
            return 0 < gaps.sum() < len(gaps) and self._left(gaps.astype(np.int64)) <= self.most_left
        return self._is_cut_by(levels) or (bool(gaps.any()) and self._is_cut_by(gaps.astype(np.int64)))

    def is_told_exactly_by(self, column: Floats) -> bool:
        """Tell whether a column has the order of a number, or is missing for just the rows of one class."""
        gaps = np.isnan(column)
        if self.is_number:
            levels = np.unique(column, return_inverse=True)[1]
            left = self._left(levels) if levels.max() + 1 >= _EXACT_VALUES and not gaps.any() else np.inf
            return left <= _EXACT_LEFT / len(column) ** 2
        if min(gaps.sum(), (~gaps).sum()) < _EXACT_ROWS:
            return False
        return len(np.unique(self.codes[gaps])) == 1 and not np.isin(self.codes[~gaps], self.codes[gaps]).any()

    def _left(self, levels: Ints) -> float:
        """Return the share of what varies that rows next to each other leave; within levels where these are few."""
        order = np.argsort(levels, kind="stable")
        first, second = order[:-1], order[1:]
        n_forced = 0
        if levels.max() + 1 <= len(levels) / _ROWS_OF_LEVEL:
            is_within = levels[first] == levels[second]
            first, second = first[is_within], second[is_within]
        elif not self.is_number:
            n_forced = int(self.codes.max())  # classes side by side change as often
        if self.is_number:
            variance = float(self.ranks.var())
            return float(np.square(self.ranks[first] - self.ranks[second]).mean()) / (2.0 * variance)
        share = np.bincount(self.codes) / len(self.codes)
        changes = max(int(np.count_nonzero(self.codes[first] != self.codes[second])) - n_forced, 0)
        return changes / len(first) / (1.0 - float(share @ share))

    def _is_cut_by(self, levels: Ints) -> bool:
        """Tell whether each level is one stretch of the target."""
        n_levels, n = int(levels.max()) + 1, len(levels)
        if n_levels < 2 or n_levels > n / _ROWS_OF_LEVEL or self.ranks.max() + 1 < _NUMBERS_OF_LEVEL * n_levels:
            return False
        n_others = n - int(np.bincount(levels).max())
        if n_others < _LEAST_CUT * n:
            return False
        runs = 1 + int(np.count_nonzero(np.diff(levels[np.lexsort((levels, self.y))])))
        return runs - n_levels <= _OUT_OF_PLACE * n_others


def _pairs(columns: dict[str, Floats], target: _Target) -> Iterator[tuple[str, str]]:
    """Yield pairs of columns of numbers that give the target away together."""
    names = [name for name, column in columns.items() if len(np.unique(column)) > _ROWS_OF_LEVEL][:_MOST_PAIRED]
    if target.is_number:
        yield from _exact_pairs(names, np.array([columns[name] for name in names]), target.y)
        return
    for first, second in combinations(names, 2):
        difference = columns[first] - columns[second]
        rounding = 1e-9 * np.abs(columns[first]).max()
        order = np.where(np.abs(difference) <= rounding, 0.0, np.sign(difference))
        if len(np.unique(order)) > 1 and target.is_told_by(order):
            yield first, second


def _exact_pairs(names: list[str], values: Floats, y: Floats) -> Iterator[tuple[str, str]]:
    """Yield pairs of which y is a sum of multiples, or a product of powers."""
    found: list[tuple[str, str]] = []
    for is_log in (False, True):
        kept = [place for place in range(len(names)) if not is_log or values[place].min() > 0]
        if len(kept) < 2 or (is_log and y.min() <= 0):
            continue
        points, numbers = (np.log(values[kept]), np.log(y)) if is_log else (values[kept], y)
        with np.errstate(all="ignore"):  # columns of a single value have no correlation
            of_two = np.corrcoef(np.vstack([points, numbers]))
        r, own = of_two[:-1, -1], of_two[:-1, :-1]
        for a, b in combinations(range(len(kept)), 2):
            apart = 1.0 - own[a, b] ** 2
            explained = (r[a] ** 2 + r[b] ** 2 - 2.0 * r[a] * r[b] * own[a, b]) / apart if apart > 1e-9 else 0.0
            if 1.0 - explained <= _LEFT_BY_TWO:
                found.append((names[kept[a]], names[kept[b]]))
    yield from dict.fromkeys(found)
