"""Plans and targets of given folds, for tests of what follows from them."""

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import splits_of
from bayesfloor.floor.learned.targets import ClassTarget


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
