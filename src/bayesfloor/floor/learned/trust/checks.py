"""What a figure rests on: columns that give the target away, rows that belong together, an order in time.

Models are trained on the problem as it was given. Where something speaks against what they reach, they are trained
again, and the figures of that training are the honest ones::

    all columns, rows at random ── leaks? ── without these columns ────────── far worse: these are the honest figures
                                   rows that belong together, or an order of time?
                                             rows kept apart by that column ─ surely worse: these are

Both questions are asked by quick checks first, so that a table without leaks, groups and dates takes little longer.
Every function that shows a figure asks here; sentences are made once, for all of them.
"""

import re
import shlex
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.exceptions import TrustWarning
from bayesfloor.floor.learned.dependence import Dependence, find_dependence, find_dependence_of_numbers
from bayesfloor.floor.learned.learning import named_learners
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.learned.time_periods import MIN_ROWS
from bayesfloor.floor.learned.trust.fewer_columns import without_columns
from bayesfloor.floor.learned.trust.found import Reason, Trust
from bayesfloor.floor.learned.trust.leaks import Leaks, columns_as_given, find_leaks
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors, explained_by_columns, floors_of_columns
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.floor.trees.problem import Options, Progress, check_options
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.progress import Stages
from bayesfloor.runtime.text import exact_percent, percent, written_range

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
#: How much more of what needs no features must be left without the columns, and at least which share of it.
_TIMES_WORSE, _LEFT_WITHOUT = 1.25, 0.05
#: Standard errors by which it must be more: of few rows, a good column leaves a handful of errors fewer by chance.
_N_ERRORS = 2.0

L = TypeVar("L", LearnedFloor, RegressionFloor)
#: From a problem, and how many more trainings may come, to its floor and what else is wanted of the training.
Train = Callable[[Problem, int], tuple[L, Any]]


@dataclass(frozen=True, eq=False)
class Trained(Generic[L]):
    """A floor, what else came of its training, and the problem that it is of."""

    floor: L
    held_out: Any
    problem: Problem


@dataclass(frozen=True, eq=False)
class Checked(Generic[L]):
    """Figures as they were asked for, the honest ones, and why these differ.

    Attributes
    ----------
    given : Trained
        Of the problem as it was given.
    honest : Trained
        Without leaks, with rows kept apart; `given` where nothing was found.
    leaks : Leaks
        Columns that give the target away, where models are far worse without them.
    split_by : Dependence or None
        What rows are kept apart by in the honest figures, although nobody said so.
    dependence : tuple of Dependence
        Rows that belong together, or an order of time, by a quick check.
    reasons, warnings : tuple of Reason
        What speaks against the figures, that which changes them first: beside the honest ones, and beside those that
        were asked for.
    without_leaks : Problem or None
        The problem without leaks, with rows as they were given; None where there are none.
    is_checked : bool
        Whether anything was looked for.
    """

    given: Trained[L]
    honest: Trained[L]
    leaks: Leaks = field(default_factory=Leaks)
    split_by: Dependence | None = None
    dependence: tuple[Dependence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()
    without_leaks: Problem | None = None
    is_checked: bool = True

    @property
    def are_alike(self) -> bool:
        """Whether the figures as they were asked for are the honest ones."""
        return self.honest is self.given

    @cached_property
    def floor(self) -> L:
        """The figures as they were asked for, with what speaks against them."""
        honest = None if self.are_alike else self._with(self.honest.floor, Trust(self.reasons))
        return self._with(self.given.floor, Trust(self.warnings, honest))

    def _with(self, floor: L, trust: Trust) -> L:
        return replace(floor, trust=trust, findings=in_order([*self._findings(), *floor.findings]))

    def _findings(self) -> Iterator[Finding]:
        """Yield what was found to speak against the figures."""
        if self.leaks:
            them = "them" if len(self.leaks.columns) > 1 else "it"
            drops = " ".join(f"--drop {name}" for name in map(shlex.quote, self.leaks.columns))
            yield Finding(
                "BF009",
                f"{self.leaks.sentence()}.",
                f"Leave {them} out ({drops}), unless you will know {them} when you predict.",
            )
        yield from self.dependence

    def warn(self) -> None:
        """Warn the caller where the figures as they were asked for are too good."""
        if not self.are_alike:
            said = " ".join(Trust(self.warnings).headline)
            warn_caller(f"{said} `honest` of the result has the figures that hold.", TrustWarning)


def learn_with_checks(
    source: Source,
    given: Problem,
    options: Options,
    columns: ColumnFloors,
    train: Train[L],
    *,
    may_split: bool = True,
    checks: bool = True,
) -> Checked[L]:
    """Train models, and again where the first figures cannot be trusted.

    Parameters
    ----------
    source : Source
        The rows that checks look at, with the names of their columns.
    given : Problem
        The problem as it was given: that of the source, or one of all rows on disk.
    options : Options
        Seed and threads of the checks.
    columns : ColumnFloors
        What each column tells by itself.
    train : callable
        From a problem, and how many more trainings are expected, to its learned floor and anything else.
    may_split : bool, default=True
        Whether rows may be kept apart by a column; not where the caller says how they are dealt out.
    checks : bool, default=True
        Whether anything is looked for.

    Returns
    -------
    Checked
    """
    if not checks:
        alone = Trained(*train(given, 0), given)
        return Checked(alone, alone, is_checked=False)
    leaks = find_leaks(source, columns, options.random_state)
    rest = without_columns(source, source.problem, leaks.columns) if leaks else None
    n_apart = int(may_split and _may_depend(source))
    first = Trained(*train(given, (rest is not None) + n_apart), given)
    honest = first
    if rest is not None:
        without = Trained(*train(rest, n_apart), rest)
        if leaks.exact or is_worse_without(first_metric(first.floor), first_metric(without.floor)):
            honest = without
    if honest is first:
        leaks, rest = Leaks(), None
    dependence = tuple(find_dependence_in(source, source.problem if rest is None else rest, options, may_split))
    mixed, split_by, unsure = honest, None, None
    found = dependence[0] if dependence else None
    apart = None if found is None else keep_apart(source, found, leaks.columns)
    if found is not None and apart is not None:
        again = Trained(*train(apart, 0), apart)
        metrics = first_metric(mixed.floor), first_metric(again.floor)
        # near copies were kept together already, by rows alone: the column says which they are
        if _are_copies(found, mixed.floor) or _is_worse(*metrics, _SURELY, _MATTERS):
            honest, split_by = again, found
        elif _is_worse(*metrics, *_SEEMS):
            unsure = again
    others: list[Reason]
    if unsure is not None:
        others = [_of_unsure(dependence[0], first_metric(unsure.floor))]
    else:
        others = [_of_finding(each) for each in dependence if each is not split_by and each.code != "BF035"]
    checked = Checked(first, honest, leaks, split_by, dependence, tuple(others), tuple(others), rest)
    if checked.are_alike:
        return checked
    beside_honest, beside_given = (_of_honest(checked, mixed.floor, is_beside_honest=each) for each in (True, False))
    return replace(checked, reasons=(beside_honest, *others), warnings=(beside_given, *others))


def checked_floor(
    source: Source,
    given: Problem,
    train: Callable[[Problem, Progress], tuple[L, Any]],
    *,
    checks: bool,
    learners: Any,
    may_split: bool,
    n_jobs: int | None,
    seed: int,
    progress: Progress,
) -> Checked[L]:
    """Train models for a function that shows a figure, and again where it cannot be trusted.

    Parameters
    ----------
    source, given, may_split
        As for `learn_with_checks`.
    train : callable
        From a problem and whom to tell how far it is, to its learned floor and what lets another model be judged.
    checks : bool
        Whether anything is looked for.
    learners
        What is trained, as the caller gave it.
    n_jobs, seed, progress
        Of the caller.

    Returns
    -------
    Checked
    """
    if not checks or len(source.problem.X) < MIN_FOLDS:
        alone = Trained(*train(given, progress), given)
        return Checked(alone, alone, is_checked=False)
    stages = Stages(progress)
    if any(hasattr(each, "fit") for _, each in named_learners(learners)):
        source = replace(source, keeps_places=True)
    options = check_options(n_jobs=n_jobs, device="cpu", random_state=seed)
    columns = single_columns(source, options)

    def trained(of: Problem, n_more: int) -> tuple[L, Any]:
        return train(of, stages.begin(1.0, n_more))

    found = learn_with_checks(source, given, options, columns, trained, may_split=may_split)
    stages.finish()
    return found


class Quick(NamedTuple):
    """What quick checks found, without training models.

    Attributes
    ----------
    problem : Problem or None
        Without columns that may give the target away, with rows kept apart; None where nothing was found, or nothing
        can be done about it.
    leaks : Leaks
        Columns that may give the target away: one that is merely good may be among them.
    dependence : Dependence or None
        Rows that belong together, or an order in time.
    """

    problem: Problem | None
    leaks: Leaks
    dependence: Dependence | None

    def sentence(self) -> str:
        """Say what was found."""
        found = [f"{self.leaks.sentence()}, or nearly so."] if self.leaks else []
        return " ".join([*found, *([] if self.dependence is None else [self.dependence.sentence])])


def quick_checks(source: Source, options: Options) -> Quick:
    """Ask what a figure rests on, for a model that has no learning curve: only quick models are trained."""
    leaks = find_leaks(source, single_columns(source, options), options.random_state)
    rest = without_columns(source, source.problem, leaks.columns) if leaks else None
    found = next(find_dependence_in(source, source.problem if rest is None else rest, options), None)
    apart = keep_apart(source, found, leaks.columns) if found is not None and found.kind == "groups" else None
    return Quick(rest if apart is None else apart, leaks, None if found is None or found.code == "BF035" else found)


def single_columns(source: Source, options: Options) -> ColumnFloors:
    """Measure what each column tells by itself."""
    measure = explained_by_columns if source.problem.task == "regression" else floors_of_columns
    return measure(source, options)


def _are_copies(found: Dependence, floor: LearnedFloor | RegressionFloor) -> bool:
    return found.kind == "groups" and any(each.code == "BF038" for each in floor.findings)


def _of_honest(checked: Checked[L], mixed: L, *, is_beside_honest: bool) -> Reason:
    """Say why the honest figures differ from those that were asked for; `mixed` is of rows at random without leaks."""
    leaks, split_by = checked.leaks, checked.split_by
    before, now = first_metric(checked.given.floor), first_metric(checked.honest.floor)
    value: float | None = before.reached
    if leaks:
        them = "them" if len(leaks.columns) > 1 else "it"
        kind, columns, for_whom = "leak", leaks.columns, f"without {them}"
        said = f"{leaks.sentence()}: with {them} a model {reaches(before)}."
        if split_by is not None:
            for_whom += f" and {_for_whom(split_by)}"
    else:
        assert split_by is not None
        kind, columns, for_whom = split_by.kind, (str(split_by.column),), _for_whom(split_by)
        if _are_copies(split_by, mixed):
            said, value = f"Rows of one '{split_by.column}' are nearly copies of each other, and kept apart.", None
        elif split_by.kind == "groups":
            said = f"Rows of one '{split_by.column}' are alike: with them on both sides a model {reaches(before)}."
        else:
            changes = f"What can be learned changes with '{split_by.column}'"
            said = f"{changes}: with past and future mixed a model {reaches(before)}."
    if is_beside_honest:
        after = f"These figures are {for_whom}."
    else:
        after = f"{for_whom[0].upper()}{for_whom[1:]} a model {reaches(now)}, and {range_of(now)}."
    return Reason(kind, columns, f"{said} {after}", value, True)


def _of_unsure(found: Dependence, apart: MetricFloor) -> Reason:
    """Say what may be true of rows kept apart, or chance."""
    for_whom = _for_whom(found)
    sentence = (
        f"{for_whom[0].upper()}{for_whom[1:]} a model {reaches(apart)}, and {range_of(apart)}; the other figures are "
        "for rows at random, and the difference may be chance."
    )
    return Reason(found.kind, (str(found.column),), sentence, apart.reached, True)


def _of_finding(found: Dependence) -> Reason:
    return Reason(found.kind, () if found.column is None else (found.column,), found.sentence)


def _for_whom(found: Dependence) -> str:
    return f"for a new '{found.column}'" if found.kind == "groups" else f"for later rows, by '{found.column}'"


def reaches(metric: MetricFloor) -> str:
    """Say what a model does, with the value that it reached."""
    if metric.name == "error":
        return f"errs on {percent(metric.reached)}"
    if metric.name == "r2":
        return f"explains {percent(max(metric.reached, 0.0))} of the variance"
    return f"reaches {metric.said(metric.reached)}"


def range_of(metric: MetricFloor) -> str:
    """Say where the floor or ceiling lies."""
    return (
        f"the {'ceiling' if metric.larger_is_better else 'floor'} is about {metric.written(metric.estimate)} "
        f"({exact_percent(metric.confidence)} range {written_range(*metric.interval, metric.is_rate)})"
    )


def possible_times(source: Source) -> dict[str, Floats]:
    """Return the columns that may tell when each row was seen: dates, and years by their name."""
    found = {}
    for name, values in columns_as_given(source):
        kind = _kind_of(source, name)
        is_time = kind == "date" or (kind == "number" and _YEAR_NAME.fullmatch(name))
        if not is_time or _OTHER_DATE.search(name):
            continue
        if np.isfinite(values).all() and len(np.unique(values)) >= _FEWEST_TIMES:
            found[name] = values
    return found


def _kind_of(source: Source, name: str) -> str:
    """Return what a column holds; those of an array are numbers."""
    return next((each.kind for each in source.column_summaries if each.name == name), "number")


def _may_depend(source: Source) -> bool:
    """Tell whether a column may say which rows belong together, or when they were seen, where nobody said so."""
    problem = source.problem
    if problem.groups is not None:
        return False
    return bool(source.possible_groups) or (problem.time is None and bool(possible_times(source)))


def find_dependence_in(
    source: Source, problem: Problem, options: Options, may_split: bool = True
) -> Iterator[Dependence]:
    """Look for rows that belong together, by a column or by their order, where nobody said so."""
    if not may_split:
        return
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
        found = find_dependence_of_numbers(problem.X, problem.y, groups, **how)
    else:
        found = find_dependence(problem.X, problem.codes, groups, **how)
    # arrays are often sorted by the label, which says nothing of how rows were collected
    yield from (each for each in found if source.is_table or each.code != "BF035")


def groups_of(source: Source, column: str) -> Ints:
    """Return the group of each row by a column; rows without a value are alone."""
    groups = source.possible_groups[column]
    groups = np.where(groups < 0, groups.max() + 1 + np.arange(len(groups)), groups)
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def keep_apart(source: Source, found: Dependence, leaking: Collection[str]) -> Problem | None:
    """Return the problem with rows kept apart by a column, which is then no feature; None where that cannot be.

    Columns that give the target away are left out as well.
    """
    problem = source.problem
    if found.column is None:
        return None
    if found.kind == "groups":
        apart = replace(problem, groups=groups_of(source, found.column))
        return without_columns(source, apart, {found.column, *leaking})
    time = possible_times(source)[found.column]
    if len(time) < 2 * MIN_ROWS * MIN_FOLDS or problem.by is not None:
        return None
    late = time > np.median(time)
    labels = problem.y if problem.task == "regression" else problem.codes
    if late.sum() < MIN_ROWS * MIN_FOLDS or len(np.unique(labels[late])) < 2:
        return None
    dropped = f"{found.column}: time" if _kind_of(source, found.column) == "date" else found.column
    return without_columns(source, replace(problem, time=time), {dropped, *leaking})


def is_worse_without(metric: MetricFloor, without: MetricFloor) -> bool:
    """Tell whether models are far from what they reach with all columns where some are left out."""
    scale = abs(metric.baseline - metric.perfect)
    left, left_without = (abs(each.reached - each.perfect) for each in (metric, without))
    is_much = left_without > _TIMES_WORSE * left and left_without > _LEFT_WITHOUT * scale
    return is_much and left_without - left > _N_ERRORS * _error_of_both(metric, without)


def _is_worse(mixed: MetricFloor, apart: MetricFloor, n_errors: float, share: float) -> bool:
    """Tell whether models do worse on rows kept apart than others of as many rows do on rows at random.

    It must be by so many standard errors, and by a share of what models win over what needs no features.
    """
    sign = -1.0 if mixed.larger_is_better else 1.0
    at_size = float(mixed.curve_at(apart.curve.size[0]))
    at_size = max(at_size, mixed.reached) if sign > 0 else min(at_size, mixed.reached)
    worse = sign * (apart.reached - at_size)
    lead = sign * (mixed.baseline - mixed.reached)
    return worse > n_errors * _error_of_both(mixed, apart) and worse > share * lead


def _error_of_both(first: MetricFloor, second: MetricFloor) -> float:
    """Return the standard error of the difference of what was reached, as of independent rows."""
    of_first, of_second = ((each.reached_interval[1] - each.reached_interval[0]) / 4.0 for each in (first, second))
    return float(np.hypot(of_first, of_second))


def first_metric(learned: LearnedFloor | RegressionFloor) -> MetricFloor:
    """Return what is known of the first metric that was asked for."""
    return as_share(learned.metrics[learned.metric])


def as_share(metric: MetricFloor) -> MetricFloor:
    """Return R² as a share of the variance, to be written in percent; other metrics as they are."""
    return replace(metric, is_rate=True) if metric.name == "r2" else metric
