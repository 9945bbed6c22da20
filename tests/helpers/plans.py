"""Plans and targets of given folds, for tests of what follows from them."""

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import splits_of
from bayesfloor.floor.learned.targets import ClassTarget
from bayesfloor.tables.arguments import check_problem


def plan_of(folds):
    """All rows are used, predicted and counted."""
    rows = np.arange(len(folds))
    return RowPlan(rows, rows, rows, folds, splits_of(folds), None, rows, None, None, False, False, False, False, ())


def everybody(fitted, size):
    """A race in which all go on."""
    return np.ones((fitted.n_folds, len(fitted.names)), bool)


def target_of(codes, n_classes):
    """Classes of rows that are all predicted."""
    problem = Problem(np.zeros((len(codes), 1)), np.arange(n_classes), codes)
    return ClassTarget(problem, plan_of(np.arange(len(codes)) % 5))


def floor_and_predictions(X, y, *, groups=None, time=None, sample_weight=None, **how):
    """The floor for numbers, and what the stack predicts for each row; NaN where it was not tested."""
    problem = check_problem(X, y, task="regression", groups=groups, time=time, sample_weight=sample_weight)
    floor, held_out = regression_floor_of(problem, **how)
    rows, predicted = held_out.rows, np.full(problem.n_samples, np.nan)
    predicted[problem.places(rows.given)] = rows.centre + rows.scale * rows.predicted[0].mean(axis=(0, 1))
    return floor, predicted
