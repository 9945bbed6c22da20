"""What a figure rests on: columns that give the target away, rows that belong together, an order in time.

Models are trained on the problem as it was given. Where something speaks against what they reach, they are trained
again::

    all columns, rows at random ── leaks? ── without these columns ────────── far worse: both figures are told
                                   rows that belong together, or an order of time?
                                             rows kept apart by that column ─ surely worse: these are the figures, and
                                                                              those of rows at random stand beside them

Both questions are asked by quick checks first, so that a table without leaks, groups and dates takes little longer.
"""

import re
import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.dependence import Dependence, find_dependence, find_dependence_of_numbers
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.learned.time_periods import MIN_ROWS
from bayesfloor.floor.learned.trust.fewer_columns import without_columns
from bayesfloor.floor.learned.trust.leaks import Leaks, find_leaks, is_worse_without
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors, explained_by_columns, floors_of_columns
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.floor.trees.problem import Options
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.findings import Finding

#: Names of columns of whole numbers that are years of observation; that of building or of birth is none.
_YEAR_NAME = re.compile(r"((obs|survey|calendar|data|sales?|report|fiscal)[ _]?)?(year|yr)s?", re.IGNORECASE)
#: Dates that are no time of observation.
_OTHER_DATE = re.compile(r"birth|born|dob|built|founded", re.IGNORECASE)
#: Different times, at the least.
_FEWEST_TIMES = 4
#: Standard errors by which models must do worse where rows are kept apart, for these figures to be the ones told.
_SURELY = 2.5
#: Share of what models win over what needs no features by which they must do worse.
_MATTERS = 0.1
#: The same for both figures to be told beside each other, after a quick check that was clear.
_SEEMS = (0.5, 0.05)

L = TypeVar("L", LearnedFloor, RegressionFloor)
#: From a problem, and how many more trainings may come, to its floor and what else is wanted of the training.
Train = Callable[[Problem, int], tuple[L, Any]]


@dataclass(frozen=True, eq=False)
class TrustChecks:
    """What was found to bear on whether figures can be trusted.

    Attributes
    ----------
    leaks : Leaks
        Columns that give the target away, where models are far worse without them.
    without_leaks : MetricFloor or None
        The first metric without these columns.
    apart : Dependence or None
        What rows are kept apart by in all figures, although nobody said so.
    mixed : MetricFloor or None
        The first metric with rows dealt out at random, where they are kept apart in all other figures; None where near
        copies were never on both sides.
    unsure : MetricFloor or None
        The first metric with rows kept apart, where it seems worse, and may be so by chance.
    dependence : list of Dependence
        Rows that belong together, or an order of time, by a quick check.
    """

    leaks: Leaks = field(default_factory=Leaks)
    without_leaks: MetricFloor | None = None
    apart: Dependence | None = None
    mixed: MetricFloor | None = None
    unsure: MetricFloor | None = None
    dependence: tuple[Dependence, ...] = ()


@dataclass(frozen=True, eq=False)
class Trusted(Generic[L]):
    """A floor, what else came of its training, the problem that it is of, and the checks."""

    learned: L
    more: Any
    problem: Problem
    checks: TrustChecks


def learn_with_checks(source: Source, options: Options, columns: ColumnFloors, train: Train[L]) -> Trusted[L]:
    """Train models, and again where the first figures cannot be trusted.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        Seed and threads of the checks.
    columns : ColumnFloors
        What each column tells by itself.
    train : callable
        From a problem, and how many more trainings are expected, to its learned floor and anything else.

    Returns
    -------
    Trusted
    """
    problem = source.problem
    leaks, without = find_leaks(source, columns, options.random_state), None
    rest = without_columns(source, problem, leaks.columns) if leaks else None
    n_apart = int(_may_depend(source, problem))
    learned, more = train(problem, (rest is not None) + n_apart)
    if rest is not None:
        without = train(rest, n_apart)[0]
    if without is None or not (leaks.exact or is_worse_without(_first(learned), _first(without))):
        leaks, rest, without = Leaks(), None, None
    honest = problem if rest is None else rest
    dependence = find_dependence_in(source, honest, options)
    of_rest = learned if without is None else without
    apart, mixed, unsure = None, None, None
    for n_more, found in zip(reversed(range(len(dependence))), dependence, strict=True):
        kept_apart = keep_apart(source, found, leaks.columns)
        if kept_apart is None:
            continue
        again, more_again = train(kept_apart, n_more)
        # near copies were kept together already, by rows alone: the column says which they are
        is_copied = found.kind == "groups" and any(each.code == "BF038" for each in of_rest.findings)
        if not is_copied and not _is_worse(_first(of_rest), _first(again), _SURELY, _MATTERS):
            if _is_worse(_first(of_rest), _first(again), *_SEEMS):
                unsure = _first(again)
            continue
        apart, mixed = found, None if is_copied else _first(of_rest)
        if without is None:
            learned, more, problem = again, more_again, kept_apart
        else:
            without = again
    checks = TrustChecks(leaks, None if without is None else _first(without), apart, mixed, unsure, tuple(dependence))
    return Trusted(learned, more, problem, checks)


def quick_findings(source: Source, options: Options) -> list[Finding]:
    """Ask what a figure rests on by the quick checks alone, without training models again.

    Parameters
    ----------
    source : Source
        What the figure is about.
    options : Options
        Seed and threads of the checks.

    Returns
    -------
    list of Finding
        Columns that give the target away, where a column that is merely good may be among them; rows that belong
        together, and an order of time.
    """
    problem = source.problem
    if not source.is_table or len(problem.X) < MIN_FOLDS:
        return []
    measure = explained_by_columns if problem.task == "regression" else floors_of_columns
    leaks = find_leaks(source, measure(source, options), options.random_state)
    rest = without_columns(source, problem, leaks.columns) if leaks else None
    told: list[Finding] = []
    if leaks:
        is_one, drops = len(leaks.columns) == 1, " ".join(f"--drop {name}" for name in map(shlex.quote, leaks.columns))
        told.append(
            Finding(
                "BF009",
                f"{leaks.sentence()}, or nearly so.",
                f"If {'it is' if is_one else 'they are'} not known when you predict, all figures are too good: leave "
                f"{'it' if is_one else 'them'} out ({drops}). 'bayesfloor report' measures what remains without.",
            )
        )
    return [*told, *find_dependence_in(source, problem if rest is None else rest, options)]


def possible_times(source: Source) -> dict[str, Floats]:
    """Return the columns that may tell when each row was seen: dates, and years by their name."""
    tabular, found = source.problem.tabular, {}
    if tabular is None:
        return {}
    place = {name: column for column, name in enumerate(tabular.names)}
    for column in source.column_summaries:
        key = f"{column.name}: time" if column.kind == "date" else column.name
        is_time = column.kind == "date" or (column.kind == "number" and _YEAR_NAME.fullmatch(column.name))
        if not is_time or key not in place or _OTHER_DATE.search(column.name):
            continue
        values = tabular.values[:, place[key]]
        if np.isfinite(values).all() and len(np.unique(values)) >= _FEWEST_TIMES:
            found[column.name] = values
    return found


def _may_depend(source: Source, problem: Problem) -> bool:
    """Tell whether a column may say which rows belong together, or when they were seen, where nobody said so."""
    if not source.is_table or problem.groups is not None:
        return False
    return bool(source.possible_groups) or (problem.time is None and bool(possible_times(source)))


def find_dependence_in(source: Source, problem: Problem, options: Options) -> list[Dependence]:
    """Look for rows of a table that belong together, by a column or by their order, where nobody said so."""
    if not source.is_table:
        return []
    is_plain = problem.time is None and problem.groups is None
    how: dict[str, Any] = {
        "in_order": is_plain,
        "possible_times": possible_times(source) if is_plain else {},
        "tabular": problem.tabular,
        "seed": options.random_state,
        "n_jobs": options.n_jobs,
    }
    groups = source.possible_groups if problem.groups is None else {}
    if problem.task == "regression":
        return find_dependence_of_numbers(problem.X, problem.y, groups, **how)
    return find_dependence(problem.X, problem.codes, groups, **how)


def keep_apart(source: Source, found: Dependence, leaking: Collection[str]) -> Problem | None:
    """Return the problem with rows kept apart by a column, which is then no feature; None where that cannot be.

    Columns that give the target away are left out as well.
    """
    problem = source.problem
    if found.column is None:
        return None
    if found.kind == "groups":
        groups = source.possible_groups[found.column]
        groups = np.where(groups < 0, groups.max() + 1 + np.arange(len(groups)), groups)  # unknown ones are alone
        apart = replace(problem, groups=np.unique(groups, return_inverse=True)[1].astype(np.int64))
        return without_columns(source, apart, {found.column, *leaking})
    time = possible_times(source)[found.column]
    if len(time) < 2 * MIN_ROWS * MIN_FOLDS or problem.by is not None:
        return None
    late = time > np.median(time)
    labels = problem.y if problem.task == "regression" else problem.codes
    if late.sum() < MIN_ROWS * MIN_FOLDS or len(np.unique(labels[late])) < 2:
        return None
    kind = next(each.kind for each in source.column_summaries if each.name == found.column)
    dropped = f"{found.column}: time" if kind == "date" else found.column
    return without_columns(source, replace(problem, time=time), {dropped, *leaking})


def _is_worse(mixed: MetricFloor, apart: MetricFloor, n_errors: float, share: float) -> bool:
    """Tell whether models do worse on rows kept apart than others of as many rows do on rows at random.

    It must be by so many standard errors, and by a share of what models win over what needs no features.
    """
    sign = -1.0 if mixed.larger_is_better else 1.0
    at_size = float(mixed.curve_at(apart.curve.size[0]))
    at_size = max(at_size, mixed.reached) if sign > 0 else min(at_size, mixed.reached)
    worse = sign * (apart.reached - at_size)
    first, second = ((each.reached_interval[1] - each.reached_interval[0]) / 4.0 for each in (mixed, apart))
    lead = sign * (mixed.baseline - mixed.reached)
    return worse > n_errors * float(np.hypot(first, second)) and worse > share * lead


def _first(learned: LearnedFloor | RegressionFloor) -> MetricFloor:
    return as_share(learned.metrics[learned.metric])


def as_share(metric: MetricFloor) -> MetricFloor:
    """Return R² as a share of the variance, to be written in percent; other metrics as they are."""
    return replace(metric, is_rate=True) if metric.name == "r2" else metric
