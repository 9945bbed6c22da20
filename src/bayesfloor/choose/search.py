"""Greedy search for features: add the best, or remove the least missed, until the floor says stop.

Features come in groups, numbered from 0, that enter and leave together. A set of groups is judged by `try_all`, which
gets many sets at once, so that they can run in parallel, and returns their floors.

The rule to stop (``n_groups_wanted=None``):

- *forward*: a step must lower the floor by more than one standard error for each group that it adds;
- *backward*: a step must not leave the floor more than one standard error above the lowest so far.

The standard error is that of the floor itself, the larger of the two that are compared. The difference of two floors
from the same rows is surer than that, but it is the best of many, and the best of many differs by luck.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from bayesfloor.choose.floor_levels import FloorLevel
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import listed

Groups = tuple[int, ...]
TryAll = Callable[[Sequence[Groups]], list[FloorLevel]]


class Step(NamedTuple):
    """What a step changed, what was then in use, and the floor of it."""

    changed: Groups
    in_use: Groups
    level: FloorLevel
    selected: bool
    n_candidates: int
    seconds: float


def larger_standard_error(first: FloorLevel, second: FloorLevel) -> float:
    """Return the larger standard error of two floors."""
    return max(first.standard_error, second.standard_error)


def search_forward(try_all: TryAll, start: FloorLevel, n_groups: int, n_groups_wanted: int | None) -> list[Step]:
    """Add the group with the lowest resulting floor, again and again.

    Parameters
    ----------
    try_all : callable
        Gives the floors of many sets of groups.
    start : FloorLevel
        The floor without any feature.
    n_groups : int
        How many groups there are.
    n_groups_wanted : int or None
        How many to add; None for as many as the rule allows, and at least one.

    Returns
    -------
    list of Step
        The start, and one entry per step.
    """
    steps = [Step((), (), start, True, 0, 0.0)]
    most = n_groups if n_groups_wanted is None else n_groups_wanted
    while len(steps[-1].in_use) < most:
        started = perf_counter()
        before = steps[-1]
        rest = [group for group in range(n_groups) if group not in before.in_use]
        levels = try_all([(*before.in_use, group) for group in rest])
        best = min(range(len(levels)), key=lambda number: levels[number].floor)
        level, in_use = levels[best], (*before.in_use, rest[best])
        worthwhile = before.level.floor - level.floor > larger_standard_error(before.level, level)
        selected = worthwhile or n_groups_wanted is not None or not before.in_use
        steps.append(Step((rest[best],), in_use, level, selected, len(rest), perf_counter() - started))
        if not selected:
            break
    return steps


def search_backward(try_all: TryAll, n_groups: int, n_groups_wanted: int | None) -> list[Step]:
    """Remove the group without which the floor is lowest, again and again.

    Parameters
    ----------
    try_all : callable
        Gives the floors of many sets of groups.
    n_groups : int
        How many groups there are.
    n_groups_wanted : int or None
        How many to leave; None for as few as the rule allows, and at least one.

    Returns
    -------
    list of Step
        The start, and one entry per step.
    """
    everything = tuple(range(n_groups))
    started = perf_counter()
    (lowest,) = try_all([everything])
    steps = [Step((), everything, lowest, True, 1, perf_counter() - started)]
    while len(steps[-1].in_use) > (n_groups_wanted or 1):
        started = perf_counter()
        before = steps[-1].in_use
        remainders = [before[:place] + before[place + 1 :] for place in range(len(before))]
        levels = try_all(remainders)
        best = min(range(len(levels)), key=lambda number: levels[number].floor)
        level = levels[best]
        rises = level.floor - lowest.floor > larger_standard_error(level, lowest)
        selected = n_groups_wanted is not None or not rises
        removed, seconds = (before[best],), perf_counter() - started
        steps.append(Step(removed, remainders[best], level, selected, len(levels), seconds))
        if not selected:
            break
        lowest = min(lowest, level, key=lambda each: each.floor)
    return steps


def n_candidates_at_most(n_groups: int, n_groups_wanted: int | None, direction: str) -> int:
    """Count the sets that a search looks at if it does not stop early."""
    if direction == "backward":
        return 1 + sum(range((n_groups_wanted or 1) + 1, n_groups + 1))
    n_steps = n_groups if n_groups_wanted is None else n_groups_wanted
    return sum(n_groups - step for step in range(n_steps))


@dataclass(frozen=True)
class SelectionStep:
    """One step of a selection.

    Attributes
    ----------
    features : tuple of str
        What was added or removed; empty for the start.
    n_features : int
        Features in use after the step.
    level : FloorLevel
        The floor after the step, with its interval and standard error.
    selected : bool
        Whether the step was kept. Only the last step may not be: the one at which the rule to stop said so.
    n_candidates : int
        How many sets of features were compared.
    seconds : float
        How long that took.
    """

    features: tuple[str, ...]
    n_features: int
    level: FloorLevel
    selected: bool
    n_candidates: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class SelectionPath(PlottedResult, display="SelectionPathDisplay"):
    """Every step of a `FloorSelector`, from the start to where it stopped.

    `frame` has a row for each step, the start first.

    The first entry is the start: no feature going forward, where the floor is that of always predicting the commonest
    class or the mean, and all features going backward. Each floor after it is the lowest of all candidates of its step,
    and therefore a little too low: the luckiest of many is chosen.

    Attributes
    ----------
    steps : tuple of SelectionStep
        The start, then one entry per step.
    direction : {"forward", "backward"}
        Whether features are added or removed.
    criterion : {"whole", "noise"}
        Which floor is compared: of all classes, or the noise variance as a share of the variance of y.
    n_rows, n_samples : int
        Rows that the floors come from, and rows that there were.
    confidence : float
        Level of the intervals.
    """

    steps: tuple[SelectionStep, ...]
    direction: str
    criterion: str
    n_rows: int
    n_samples: int
    confidence: float

    def __repr__(self) -> str:
        kept = [step for step in self.steps if step.selected]
        taken = [name for step in kept for name in step.features]
        verb = "added" if self.direction == "forward" else "removed"
        return (
            f"SelectionPath({verb} {listed(taken) or 'nothing'}; floor from {kept[0].level.floor:.4f} to "
            f"{kept[-1].level.floor:.4f} with {kept[-1].n_features} features, {self.n_rows} rows)"
        )

    def _columns(self) -> dict[str, Any]:
        """Return a row for each step, the start first."""
        levels = [step.level for step in self.steps]
        return {
            "step": list(range(len(self.steps))),
            "features": [", ".join(step.features) for step in self.steps],
            "n_features": [step.n_features for step in self.steps],
            "floor": [level.floor for level in levels],
            "interval_low": [level.low for level in levels],
            "interval_high": [level.high for level in levels],
            "standard_error": [level.standard_error for level in levels],
            "selected": [step.selected for step in self.steps],
            "n_candidates": [step.n_candidates for step in self.steps],
            "n_rows": [self.n_rows] * len(self.steps),
            "seconds": [step.seconds for step in self.steps],
        }

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        return super()._drawn(names) | {"measure": self.criterion}
