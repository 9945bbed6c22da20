"""One plan for all representations: the same rows, the same folds, the same groups.

Features differ between representations, and what they tell of rows (which are copies of each other) must not make folds
differ. So a plan is made of *marks* of the rows: the columns of each source of features, several of which stand for one
where they are many. Rows are copies where they are so in every source.
"""

import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.comparing.representations import Representation
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.copies import groups_of_near_copies
from bayesfloor.floor.learned.learning import plan_for
from bayesfloor.floor.learned.row_plan import Planned
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.frames import as_narwhals, column_named, with_text_names
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.arguments import check_problem, columns_of_file
from bayesfloor.tables.frames import frame_of_raw, is_eager_frame
from bayesfloor.tables.sources import collected


class Asked(NamedTuple):
    """What the caller says of the rows, each with a value for every row.

    Attributes
    ----------
    X : object or None
        What steps and names of columns are about, without the columns that are named as something else.
    problem : Problem
        Target, groups, time and weights; its points say nothing.
    y : ndarray of shape (n,)
        The target as steps are given it.
    labels : array-like of shape (n_given,)
        The target of all rows, of which some may have none.
    """

    X: Any
    problem: Problem
    y: NDArray[Any]
    labels: Any


def check_rows(X: Any, y: Any, task: str, **known: Any) -> Asked:
    """Check the target, and what else is known of the rows; each may be the name of a column of X."""
    if isinstance(X, str | os.PathLike):
        X = frame_of_raw(columns_of_file(X, None))
    X, y = collected(X), collected(y)
    if isinstance(X, Table):
        known = {name: getattr(X, name, None) if value is None else value for name, value in known.items()}
        y = X.y if y is None else y
        import polars

        X = polars.DataFrame(X.X, schema=list(X.feature_names), orient="row")
    if y is None:
        raise ValueError("y is missing: give labels or numbers, or the name of their column in X.")
    taken = []
    values = {"y": y, **known}
    for name, value in values.items():
        column = column_named(X, value) if X is not None else value if isinstance(value, str) else None
        if column is None:
            continue
        frame = as_narwhals(with_text_names(X)) if X is not None and is_eager_frame(X) else None
        if frame is None or column not in frame.columns:
            raise ValueError(f"{name}={value!r} names a column, and X has none of that name.")
        values[name] = frame[column].to_native()
        taken.append(column)
    if taken:
        X = as_narwhals(with_text_names(X)).drop(taken).to_native()
    labels = values.pop("y")
    problem = check_problem(np.zeros((len(labels), 1)), labels, task=task, **values)
    of_classes = problem.task == "classification"
    return Asked(X, problem, problem.classes[problem.codes] if of_classes else problem.y, labels)


def with_marks(problem: Problem, representations: list[Representation]) -> Problem:
    """Return what is known of the rows, with marks that tell them apart."""
    sources: dict[int, Any] = {}
    for part in (part for each in representations for part in each.parts):
        sources.setdefault(id(part.source), part)
    marks = np.hstack([part.marks() for part in sources.values()])
    _, first = np.unique(marks, axis=1, return_index=True)
    # where they stand: in the order of their values, that of the rows would decide
    return replace(problem, X=check_points(marks[:, np.sort(first)]))


def plan_shared(
    shared: Problem, rows: Ints, representations: list[Representation], y: NDArray[Any], how: dict[str, Any]
) -> Planned:
    """Decide once which rows are trained on and tested, for all representations.

    Parameters
    ----------
    shared : Problem
        All rows, with marks.
    rows : ndarray
        Those that may be used.
    representations : list of Representation
        What is compared.
    y : ndarray of shape (n,)
        The target, as steps are given it.
    how : dict
        Keyword arguments of `plan_for`.

    Returns
    -------
    problem, plan
        As from `plan_rows`.
    """
    own = shared.take(rows)
    if own.groups is not None:  # those of the rows alone, numbered from 0
        own = replace(own, groups=np.unique(own.groups, return_inverse=True)[1])
    near = None
    if own.groups is None and own.time is None and len(rows) <= limits().learned_rows and isinstance(how["cv"], int):
        near, found = _near_copies(shared, rows, representations, y, how["n_jobs"])
    planned = plan_for(own if near is None else replace(own, groups=near), **how)
    if near is None:
        return planned
    problem, plan = planned
    return problem, plan._replace(has_own_groups=False, findings=(*plan.findings, *found))


def _near_copies(
    shared: Problem, rows: Ints, representations: list[Representation], y: NDArray[Any], n_jobs: int | None
) -> tuple[Ints | None, tuple[Any, ...]]:
    """Return groups of rows that are nearly copies of each other in every representation; None where there are none."""
    places: Ints | None = None
    found: tuple[Any, ...] = ()
    for each in representations:
        if each.is_fitted:
            continue
        problem = each.problem(shared, y, rows)
        groups, found = groups_of_near_copies(problem, np.arange(len(rows)), n_jobs, may_group=True)
        if groups is None:
            return None, ()
        both = groups if places is None else places * (int(groups.max()) + 1) + groups
        places = np.unique(both, return_inverse=True)[1]
    if places is None or len(np.unique(places)) == len(rows):
        return None, ()
    return places, found
