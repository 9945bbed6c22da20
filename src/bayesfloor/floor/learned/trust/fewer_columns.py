"""A problem without some of its columns: without those that give the target away, or that tell groups or the time."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.trust.source import Source

#: Parts of a date that tell when a row was seen; months, weekdays and hours come again.
_OF_TIME = (": time", ": year")


def without_columns(source: Source, problem: Problem, names: Collection[str]) -> Problem | None:
    """Leave columns out.

    Parameters
    ----------
    source : Source
        Says which features each column became.
    problem : Problem
        The problem of the source, or one with the same columns.
    names : collection of str
        Columns to leave out. A date with ": time" after its name loses what tells its order, and keeps its months.

    Returns
    -------
    Problem or None
        None where no column would be left, and where a transformer makes the features of models.
    """
    given = problem.feature_names
    columns = source.columns
    gone = set()
    for column, members in zip(columns, source.feature_groups, strict=True):
        if column in names:
            gone |= set(members)
        elif f"{column}: time" in names and given is not None:
            gone |= {feature for feature in members if str(given[feature]) == f"{column}: time"}
    kept = [feature for feature in range(problem.X.shape[1]) if feature not in gone]
    if not kept or problem.supervised is not None:
        return None
    if source.keeps_places:
        return _blanked(problem, sorted(gone), columns, names)
    X = np.ascontiguousarray(problem.X[:, kept])
    tabular = problem.tabular
    if tabular is not None and tabular.values is problem.X:
        tabular = TabularView(X, tabular.is_category[kept], tuple(tabular.names[feature] for feature in kept))
    elif tabular is not None:
        tabular = _fewer_codes(tabular, columns, names, kept)
    # replace() of a dataclass would keep what depends on all columns
    return Problem(
        X=X,
        classes=problem.classes,
        codes=problem.codes,
        feature_names=None if given is None else [given[feature] for feature in kept],
        groups=problem.groups,
        time=problem.time,
        tabular=tabular,
        by=problem.by,
        y=problem.y,
        sample_weight=problem.sample_weight,
        n_drawn_from=problem.n_drawn_from,
        n_given=problem.n_given,
        given_rows=problem.given_rows,
        findings=problem.findings,
    )


def _blanked(problem: Problem, gone: list[int], columns: Collection[str], names: Collection[str]) -> Problem:
    """Make columns constant."""
    X, tabular = problem.X.copy(), problem.tabular
    X[:, gone] = 0.0
    if tabular is not None and tabular.values is problem.X:
        tabular = replace(tabular, values=X)
    elif tabular is not None:
        values = tabular.values.copy()
        values[:, [_is_left_out(name, columns, names) for name in tabular.names]] = 0.0
        tabular = replace(tabular, values=values)
    return replace(problem, X=X, tabular=tabular)


def _fewer_codes(
    tabular: TabularView, columns: Collection[str], names: Collection[str], features: list[int]
) -> TabularView:
    """Leave columns out of the tabular view; `features` are the columns of X that stay."""
    kept = [place for place, name in enumerate(tabular.names) if not _is_left_out(name, columns, names)]
    place_of, feature_of = ({old: new for new, old in enumerate(each)} for each in (kept, features))
    return TabularView(
        np.ascontiguousarray(tabular.values[:, kept]),
        tabular.is_category[kept],
        tuple(tabular.names[place] for place in kept),
        tuple(
            (place_of[place], feature_of[first], feature_of[last - 1] + 1)
            for place, first, last in tabular.from_labels
            if place in place_of
        ),
    )


def _is_left_out(name: str, columns: Collection[str], names: Collection[str]) -> bool:
    """Tell whether a column of the tabular view is of one that is left out."""
    column = column_of(name, columns)
    return column in names or (f"{column}: time" in names and name.removeprefix(column) in _OF_TIME)


def column_of(name: str, columns: Collection[str]) -> str:
    """Return which column one of the tabular view is of: that with the longest name that it begins with."""
    of = [column for column in columns if name == column or name.startswith((f"{column}: ", f"{column}="))]
    return max(of, key=len, default="")
