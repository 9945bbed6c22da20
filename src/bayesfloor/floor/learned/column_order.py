"""Columns in an order of their own, so that no figure depends on the order in which they were given.

Learners draw columns at random, add over them and break ties by their numbers. So all of them see the columns in an
order that follows from the values. `given_columns` of a problem leads back, for models of the caller's that may know
columns by their numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bayesfloor.data.column_order import U64, bits_of, column_keys, hash_of_rows
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.problem import Problem
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.hash_kernels import mix64

Columns = Sequence[Callable[[], U64]]


def in_column_order(problem: Problem) -> Problem:
    """Put the columns of X, and those of the tabular view, in an order that their values decide.

    Columns that were computed from labels stay together, and count as the category that they encode. Labels tell
    columns apart that nothing else does, such as dummies of equally many rows; which code a class has decides only
    between columns that change places when classes do.
    """
    X, tabular = problem.X, problem.tabular
    units, known = _units_of(X, tabular)
    of_rows = hash_of_rows(known)
    labels = problem.codes if problem.task == "classification" else problem.y
    ranks = np.unique(labels, return_inverse=True)[1]
    with_labels = partial(_marked_rows, known, of_rows, ranks)
    order = np.concatenate([units[unit] for unit in _order_of(known, of_rows, with_labels)])
    given = np.argsort(order)
    if np.array_equal(order, given) and np.all(np.diff(order) == 1):
        points = X
    else:
        points = np.ascontiguousarray(X[:, order])
    names = problem.feature_names
    if tabular is not None:
        columns = [partial(_bits_of, tabular.values, column) for column in range(tabular.values.shape[1])]
        of_tabular = _order_of(columns, of_rows, with_labels, tabular.is_category)
        place = np.argsort(of_tabular)
        tabular = TabularView(
            points if tabular.values is X else np.ascontiguousarray(tabular.values[:, of_tabular]),
            tabular.is_category[of_tabular],
            tuple(tabular.names[column] for column in of_tabular),
            tuple(
                sorted(
                    (int(place[column]), int(given[first]), int(given[first]) + last - first)
                    for column, first, last in tabular.from_labels
                )
            ),
        )
    return replace(
        problem,
        X=points,
        tabular=tabular,
        feature_names=None if names is None else [names[column] for column in order],
        given_columns=given,
    )


def _units_of(X: Floats, tabular: TabularView | None) -> tuple[list[Ints], Columns]:
    """Return columns of X that stay together, and what gives the bits of each."""
    encoded = {} if tabular is None else {first: (column, last) for column, first, last in tabular.from_labels}
    units: list[Ints] = []
    known: list[Callable[[], U64]] = []
    place = 0
    while place < X.shape[1]:
        column, last = encoded.get(place, (-1, place + 1))
        units.append(np.arange(place, last))
        if tabular is None or column < 0:
            known.append(partial(_bits_of, X, place))
        else:
            known.append(partial(_bits_of, tabular.values, column))
        place = last
    return units, known


def _bits_of(values: Floats, column: int) -> U64:
    return bits_of(values[:, column])


def _marked_rows(columns: Columns, of_rows: U64, ranks: Ints) -> tuple[U64, U64]:
    """Return numbers of rows that labels have a part in: by the rows that have the same label, and by its rank."""
    refined = hash_of_rows(columns, keys=column_keys(columns, of_rows))
    of_labels = np.zeros(int(ranks.max(initial=-1)) + 1, np.uint64)
    np.add.at(of_labels, ranks, mix64(refined))
    return mix64(refined + of_labels[ranks]), hash_of_rows(columns, ranks.astype(np.uint64))


def _order_of(
    columns: Columns, of_rows: U64, with_labels: Callable[[], tuple[U64, U64]], kinds: Bools | None = None
) -> Ints:
    """Order columns by their keys; where some tie, by keys that labels have a part in."""
    keys = column_keys(columns, of_rows)
    if kinds is not None:
        keys = mix64(keys + kinds.astype(np.uint64))
    if len(np.unique(keys)) == len(keys):
        return np.argsort(keys)
    by_rows, by_ranks = (column_keys(columns, marked) for marked in with_labels())
    return np.lexsort((by_ranks, by_rows, keys))
