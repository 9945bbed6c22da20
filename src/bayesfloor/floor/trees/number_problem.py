"""Checked points and a target of numbers."""

from typing import Any

from bayesfloor.data.problem import Problem
from bayesfloor.tables.arguments import check_problem

NumberProblem = Problem


def check_number_problem(
    X: Any, y: Any, groups: Any = None, time: Any = None, prepare: Any = "auto", sample_weight: Any = None
) -> Problem:
    """Check points and a target of numbers, or a table that holds both."""
    return check_problem(
        X, y, task="regression", groups=groups, time=time, prepare=prepare, sample_weight=sample_weight
    )
