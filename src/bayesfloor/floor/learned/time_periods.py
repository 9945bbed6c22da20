"""Who is trained on what where rows follow each other in time: on the past, to predict what came next.

With ``cv=5`` the rows are cut into ten periods of equal length, in rows::

    period        0  1  2  3  4 │ 5  6  7  8  9
    period 7 is   ■  ■  ■  ■  ■   ■  ■  ?            predicted by a model of all of its past,
    predicted     □  □  □  ■  ■   ■  ■  ?            one of the most recent half of that,
    three times   □  □  □  □  □   ◧  ■  ?            and one of the most recent quarter

The last five periods, half of the rows, are what figures are about. The two before them are predicted as well, since
the stack is fitted on earlier predictions: nothing that predicts a row has seen a later one. How far back it pays to
look is for the stack to find out: the learners of the more recent rows take part beside those of all.

With groups besides, these are dealt out to folds, and each fold of a period is predicted from the past of the other
folds.
"""

from typing import NamedTuple

import numpy as np

from bayesfloor.data.folds import time_blocks
from bayesfloor.floor.learned.splits import VIEWS, Split
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Periods predicted before the first that counts, so that the stack has something to be fitted on.
_N_FOR_STACK = 2
#: What is added to the names of learners that are trained on the more recent rows only.
RECENT = (", recent half", ", recent quarter")
#: Fewest rows for each period: a quarter of the shortest past then has four rows or more.
MIN_ROWS = 6


class TimeScheme(NamedTuple):
    """Training sets in an order of time.

    Attributes
    ----------
    folds : ndarray of shape (n,)
        The part of each row, a period or a fold of groups within one; -1 where it is never predicted.
    splits : list of Split
        Training sets, the largest size first.
    earlier : tuple of ndarray
        For each part, those that its stack is fitted on: of earlier periods and, with groups, other folds.
    tested : ndarray of shape (n,)
        Which rows count in the figures.
    """

    folds: Ints
    splits: list[Split]
    earlier: tuple[Ints, ...]
    tested: Bools


def time_scheme(time: Floats, n_periods: int, group_folds: Ints | None = None) -> TimeScheme:
    """Cut rows into periods and list the training sets.

    Parameters
    ----------
    time : ndarray of shape (n,)
        When each row was seen. Rows of one time are never cut apart.
    n_periods : int
        Periods that count; there are twice as many in all.
    group_folds : ndarray of shape (n,) or None, default=None
        Folds of whole groups.

    Returns
    -------
    TimeScheme

    Raises
    ------
    ValueError
        When too few different times are there.
    """
    period = time_blocks(time, 2 * n_periods)
    by_time = np.argsort(time, kind="stable")
    group_folds = np.zeros(len(time), np.int64) if group_folds is None else group_folds
    n_folds = int(group_folds.max()) + 1
    folds = np.full(len(time), -1)
    parts: list[tuple[int, int]] = []
    of_part: list[tuple[Ints, Ints]] = []
    for number in range(n_periods - _N_FOR_STACK, 2 * n_periods):
        for fold in range(n_folds):
            tests = np.flatnonzero((period == number) & (group_folds == fold))
            others = group_folds[by_time] != fold if n_folds > 1 else True
            past = by_time[(period[by_time] < number) & others]
            if len(tests) and len(past) >= 2 ** (len(VIEWS) - 1):
                folds[tests] = len(parts)
                parts.append((number, fold))
                of_part.append((past, tests))
    earlier = tuple(
        np.array(
            [p for p, (before, other) in enumerate(parts) if before < number and (n_folds == 1 or other != fold)], int
        )
        for number, fold in parts
    )
    counts = np.array([number >= n_periods and len(earlier[p]) > 0 for p, (number, _) in enumerate(parts)], bool)
    if not counts.any():
        n_times = len(np.unique(time))
        raise ValueError(
            f"time has {n_times} different value{'s' * (n_times > 1)}, and too few of them are apart: rows must be in "
            "at least three periods, to train on, to combine learners on and to test on."
        )
    splits = [
        Split(size, past[len(past) - (len(past) >> size) :], ((tests, 0),), not counts[p])
        for size in range(len(VIEWS))
        for p, (past, tests) in enumerate(of_part)
    ]
    return TimeScheme(folds, splits, earlier, counts[folds] & (folds >= 0))
