"""Columns that belong together, such as the dummies of one categorical variable."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.text import shown

Ints = NDArray[np.int64]


def check_groups(groups: Any, n_features: int, names: Sequence[Any] | None) -> list[Ints]:
    """Return the columns of each group, groups in the order of their first column.

    Parameters
    ----------
    groups : sequence of sequences or None
        Columns that belong together, by name or by number. A column in none is a group of its own.
    n_features : int
        Number of columns.
    names : sequence or None
        Names of the columns.

    Returns
    -------
    list of ndarray
    """
    if groups is None:
        return [np.array([column]) for column in range(n_features)]
    if isinstance(groups, str) or not all(isinstance(group, Sequence | np.ndarray) for group in groups):
        raise ParameterError("groups", "a sequence of sequences of columns, or None", groups)
    numbers = {} if names is None else {name: column for column, name in enumerate(names)}
    group_of: dict[int, int] = {}
    for number, group in enumerate(groups):
        if isinstance(group, str) or len(group) == 0:
            raise ValueError(f"Each group must name its columns; got {group!r}.")
        for column in group:
            place = _number_of(column, numbers, n_features)
            if place in group_of:
                raise ValueError(f"Column {shown(column)} is in more than one group, or twice in one.")
            group_of[place] = number
    members: dict[Any, list[int]] = {}
    for column in range(n_features):
        members.setdefault(group_of.get(column, ("alone", column)), []).append(column)
    return [np.array(columns) for columns in members.values()]


def _number_of(column: Any, numbers: dict[Any, int], n_features: int) -> int:
    if column in numbers:
        return numbers[column]
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < n_features:
        return int(column)
    raise ValueError(f"groups names column {shown(column)}, which is not among the {n_features} columns of X.")
