"""What speaks against the figures of a comparison: each representation is looked at as a floor looks at its columns.

Rows that belong together, or follow each other in time, are kept apart for all representations, so that their figures
hold and stay comparable. Columns that give the target away are named, and stay: who compares asked for them.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.comparing.representations import Representation
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import LEARNED_VALUES
from bayesfloor.floor.learned.trust.checks import find_dependence_in, groups_of, possible_times, single_columns
from bayesfloor.floor.learned.trust.found import Reason, Trust
from bayesfloor.floor.learned.trust.leaks import find_leaks
from bayesfloor.floor.learned.trust.source import Source, source_from
from bayesfloor.floor.trees.problem import Options
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import quoted


@dataclass(frozen=True)
class Looked:
    """What was found, and the rows as they are then to be dealt out.

    Attributes
    ----------
    shared : Problem
        What is known of the rows: with groups or times where these were found.
    trust : Trust
        What speaks against the figures.
    findings : tuple of Finding
        The same with what to do about it.
    are_leaks : bool
        Whether a representation has columns that give the target away.
    """

    shared: Problem
    trust: Trust = field(default_factory=Trust)
    findings: tuple[Finding, ...] = ()
    are_leaks: bool = False


def look(
    representations: list[Representation],
    X: tuple[Problem, Table | None] | None,
    shared: Problem,
    y: NDArray[Any],
    options: Options,
    *,
    may_split: bool,
    may_be_times: bool,
) -> Looked:
    """Look for columns that give the target away, rows that belong together and an order in time.

    Parameters
    ----------
    representations : list of Representation
        What is compared; those that are fitted to rows are looked at before that.
    X : (Problem, Table or None) or None
        The rows that steps and names of columns are about, where there are any, and the table that they were made of.
    shared : Problem
        What is known of the rows.
    y : ndarray of shape (n,)
        The target, as steps are given it.
    options : Options
        Seed and threads of the checks.
    may_split : bool
        Whether rows may be kept apart by a column.
    may_be_times : bool
        Whether rows can be dealt out by time.

    Returns
    -------
    Looked
    """
    found = Looked(shared)
    for name, problem, table in _problems(representations, X, shared, y):
        source = source_from(problem, table)
        leaks = find_leaks(source, single_columns(source, options), options.random_state)
        reasons, findings = list(found.trust.reasons), list(found.findings)
        if leaks:
            of = f" of {quoted(name)}" if name else ""
            sentence = f"{leaks.sentence()}{of}, or nearly so."
            reasons.append(Reason("leak", leaks.columns, sentence, None, True))
            hint = "Leave out what you will not know when you predict: figures with it are too good."
            findings.append(Finding("BF009", sentence, hint))
        given = found.shared
        is_plain = may_split and given.groups is None and given.time is None
        for each in find_dependence_in(source, problem, options, is_plain):
            findings.append(each)
            apart = None
            if each.column is not None and len(problem.X) == len(y):
                apart = _kept_apart(given, source, each.kind, each.column, may_be_times)
            if apart is not None:
                kept = f"{each.sentence} All figures are of rows kept apart by it."
                reasons.append(Reason(each.kind, (str(each.column),), kept, None, True))
                given = apart
        found = Looked(given, Trust(tuple(reasons)), tuple(findings), found.are_leaks or bool(leaks))
    return found


def _kept_apart(given: Problem, source: Source, kind: str, column: str, may_be_times: bool) -> Problem | None:
    """Return what is known of the rows with those kept apart that belong together, or that follow each other."""
    if kind == "groups":
        return replace(given, groups=groups_of(source, column))
    return replace(given, time=possible_times(source)[column]) if kind == "time" and may_be_times else None


def _problems(
    representations: list[Representation],
    X: tuple[Problem, Table | None] | None,
    shared: Problem,
    y: NDArray[Any],
) -> list[tuple[str, Problem, Table | None]]:
    """Return what is looked at: X, or each representation that holds features already."""
    if X is not None:
        return [("", *X)]
    found: list[tuple[str, Problem, Table | None]] = []
    for each in representations:
        if each.is_fitted or each.sides or not each.takes_new_rows:
            continue
        rows = np.arange(min(len(y), LEARNED_VALUES // each.n_columns))
        names = each.parts[0].columns if len(each.parts) == 1 else None
        found.append((each.name, replace(each.problem(shared, y, rows), tabular=None, feature_names=names), None))
    return found
