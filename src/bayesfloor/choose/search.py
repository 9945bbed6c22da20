"""Greedy search for features: add the best, or remove the least missed, until the floor says stop.

Features come in groups, numbered from 0, that enter and leave together. A set of groups is judged by `try_all`, which
gets many sets at once, so that they can run in parallel, and returns their floors.

The rule to stop (``n_groups_wanted=None``):

- *forward*: a step must lower the floor by more than one standard error for each group that it adds;
- *backward*: a step must not leave the floor more than one standard error above the lowest so far.

The standard error is that of the floor itself, the larger of the two that are compared. The difference of two floors
from the same rows is surer than that, but it is the best of many, and the best of many differs by luck.

The first step has no floor from the same rows to compare with, so luck goes further there: with pairs to fall back on
(``lookahead=2``), a single group must lower the floor by `CLEAR_FALL` standard errors to be taken without trying them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter

from bayesfloor.choose.floor_levels import FloorLevel

Groups = tuple[int, ...]
TryAll = Callable[[Sequence[Groups]], list[FloorLevel]]

#: Minimum fall, in standard errors, that chance hardly explains even for the best of a hundred useless groups.
CLEAR_FALL = 3


@dataclass(frozen=True)
class Step:
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


def search_forward(
    try_all: TryAll, start: FloorLevel, n_groups: int, n_groups_wanted: int | None, *, lookahead: int = 1
) -> list[Step]:
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
    lookahead : {1, 2}, default=1
        2 tries all pairs of groups where no single one lowers the floor enough. A pair is taken if it lowers the floor
        by more than two standard errors, and by more than one below the best single group.

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
        added, level = _best_addition(try_all, before.in_use, [(group,) for group in rest])
        n_candidates = len(rest)
        worthwhile = _lowers_enough(before.level, level, 1)
        is_clear = worthwhile if before.in_use else _lowers_enough(before.level, level, CLEAR_FALL)
        if lookahead == 2 and not is_clear and len(rest) > 1 and len(before.in_use) + 2 <= most:
            pairs = list(combinations(rest, 2))
            pair, pair_level = _best_addition(try_all, before.in_use, pairs)
            n_candidates += len(pairs)
            if _lowers_enough(before.level, pair_level, 2) and _lowers_enough(level, pair_level, 1):
                added, level, worthwhile = pair, pair_level, True
        selected = worthwhile or n_groups_wanted is not None or not before.in_use
        in_use = (*before.in_use, *added)
        steps.append(Step(added, in_use, level, selected, n_candidates, perf_counter() - started))
        if not selected:
            break
    return steps


def _best_addition(try_all: TryAll, in_use: Groups, additions: Sequence[Groups]) -> tuple[Groups, FloorLevel]:
    levels = try_all([(*in_use, *addition) for addition in additions])
    best = min(range(len(levels)), key=lambda number: levels[number].floor)
    return additions[best], levels[best]


def _lowers_enough(before: FloorLevel, after: FloorLevel, n_errors: int) -> bool:
    return before.floor - after.floor > n_errors * larger_standard_error(before, after)


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


def n_candidates_at_most(n_groups: int, n_groups_wanted: int | None, direction: str, lookahead: int) -> int:
    """Count the sets that a search looks at if it does not stop early."""
    if direction == "backward":
        return 1 + sum(range((n_groups_wanted or 1) + 1, n_groups + 1))
    n_steps = n_groups if n_groups_wanted is None else n_groups_wanted
    n_pairs = n_groups * (n_groups - 1) // 2 if lookahead == 2 else 0
    return sum(n_groups - step for step in range(n_steps)) + n_pairs
