"""Representations of the rows of a report, compared: groups of its columns, and features from elsewhere."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from bayesfloor.choose.comparing.results import FeatureComparison
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.trust.fewer_columns import without_columns
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.text import counted, quoted

#: How the columns of the report are called beside what they are compared with.
ALL_COLUMNS = "all columns"


def check_compare(compare: Any, source: Source) -> dict[str, Any] | None:
    """Return what is to be compared, with the features of columns in place of their names.

    Parameters
    ----------
    compare : mapping of str to features, or None
        As for `difficulty_report`.
    source : Source
        Whose columns lists name.

    Returns
    -------
    dict or None
        As `compare_features` takes it; None where nothing is compared.
    """
    if compare is None:
        return None
    if not isinstance(compare, Mapping) or not compare:
        raise ParameterError("compare", "a dict of columns or features by name", compare)
    return {name: _features_of(name, value, compare, source) for name, value in compare.items()}


def compare_in_report(features: Mapping[str, Any], source: Source, honest: Problem, **how: Any) -> FeatureComparison:
    """Compare representations with all columns of the report, on rows that are kept apart as there.

    Columns that give the target away are not among all columns.

    Parameters
    ----------
    features : mapping
        As from `check_compare`.
    source : Source
        What the report is about.
    honest : Problem
        What its figures are of: without leaks, with rows kept apart.
    **how
        Keyword arguments of `compare_features`.

    Returns
    -------
    FeatureComparison
    """
    from bayesfloor.choose.comparing.compare import compare_features  # loads what other reports do not need

    problem = source.problem
    return compare_features(
        {ALL_COLUMNS: honest, **features},
        problem.y if problem.task == "regression" else problem.classes[problem.codes],
        task=problem.task,
        groups=honest.groups,
        time=honest.time,
        sample_weight=problem.sample_weight,
        **how,
    )


def _features_of(name: Any, value: Any, compare: Mapping[str, Any], source: Source) -> Any:
    """Return the features of the columns that a list names; anything else as it is."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, str) for item in value):
        _check_count(name, value, len(source.problem.X))
        return value
    if all(item in compare and item != name for item in value):
        return list(value)  # others side by side
    for item in value:
        if item not in source.columns:
            near = get_close_matches(item, source.columns, 1)
            raise ValueError(
                f"compare names {quoted(item)} in {quoted(name)}, which is no column that is used."
                + (f" Did you mean {quoted(near[0])}?" if near else "")
            )
    return _of_columns(name, value, source)


def _check_count(name: Any, value: Any, n_rows: int) -> None:
    """Refuse an array of other rows before anything is trained."""
    shape = getattr(value, "shape", None)
    if shape and shape[0] != n_rows:
        raise ValueError(
            f"The features {quoted(str(name))} have {counted(shape[0], 'row')}, and {counted(n_rows, 'row')} are used: "
            "both must be of the same rows, in the same order."
        )


def _of_columns(name: str, columns: Sequence[str], source: Source) -> Problem:
    others = [column for column in source.columns if column not in columns]
    found = without_columns(source, source.problem, others)
    if found is None:
        raise ValueError(f"The columns of {quoted(name)} leave no features: a transformer makes those of all columns.")
    return found
