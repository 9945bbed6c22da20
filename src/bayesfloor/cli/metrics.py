"""What models are to be judged by, as a command was given it: names of metrics, a file of costs, limits."""

import csv
import math
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.options import MetricOptions
from bayesfloor.runtime.text import listed, quoted, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesfloor.data.prepared_table import Table

#: Maximum size of a file of costs, in bytes: a thousand classes with a dozen digits each.
_MOST_BYTES = 16 * 2**20
#: Possible separators of a file of costs; the most frequent one of the first line is used.
_SEPARATORS = ",;\t"


def check_metric_options(given: MetricOptions, task: str, *, fast: bool = False, **limits: float | None) -> str:
    """Check what can be checked before a table is read.

    Parameters
    ----------
    given : MetricOptions
        What models are to be judged by.
    task : {"auto", "classification", "regression"}
        What --task says.
    fast : bool, default=False
        Whether nothing is trained.
    **limits : float or None
        Options, by name, that must be values of the first metric.

    Returns
    -------
    {"auto", "classification", "regression"}
        What the target is to be read as: what --task says, or else what the metrics are for.
    """
    from bayesfloor.data.metrics import METRICS, NUMBER_METRICS, is_metric, unknown_metric

    if given.by is not None and fast:
        raise UsageError("--by and --fast exclude each other: figures of subgroups come from models")
    if given.effort != "default" and fast:
        raise UsageError("--effort and --fast exclude each other: --fast trains nothing")
    try:
        unknown = [name for name in given.metric if not is_metric(name)]
    except ValueError as error:  # the k of top_k_error
        raise UsageError(f"--metric: {error}") from error
    if unknown:
        raise UsageError(f"--metric: {unknown_metric(unknown[0], list(METRICS))}")
    numbers = [name for name in given.metric if name in NUMBER_METRICS]
    others = [name for name in given.metric if name not in NUMBER_METRICS]
    if numbers and others:
        raise UsageError(f"--metric {numbers[0]} is for numbers, and --metric {others[0]} for classes")
    if numbers and task == "classification":
        raise UsageError(f"--metric {numbers[0]} is for numbers; leave out --task classification")
    if others and task == "regression":
        raise UsageError(f"--metric {others[0]}: must be one of {', '.join(NUMBER_METRICS)} with --task regression")
    task = "regression" if numbers else task
    if task == "regression":
        if len(set(numbers)) < len(numbers):
            raise UsageError("--metric: the same one is named twice")
        if given.costs is not None:
            raise UsageError("--costs needs classes; leave it out for numbers")
        if fast:
            raise UsageError("--fast needs classes; leave it out for numbers, or give --effort fast")
        first = [*numbers, NUMBER_METRICS[0]][0]
    else:
        first = _names_for_classes(given, fast=fast)[0]
    _check_limits(first, **limits, fail_above=given.fail_above, fail_below=given.fail_below)
    return task


def _names_for_classes(given: MetricOptions, *, fast: bool = False) -> list[str]:
    """Return the names of metrics of classes, the first one first."""
    from bayesfloor.floor.learned.metrics import check_metric_names

    costs = given.costs
    try:
        names = check_metric_names(list(given.metric) or "error", has_costs=costs is not None)
    except ValueError as error:
        raise UsageError(f"--metric: {error}") from error
    if fast and names != ["error"]:
        named = "--costs" if names == ["cost"] else f"--metric {names[0]}"
        raise UsageError(f"--fast trains nothing, and only the error can be told; leave out --fast, or {named}")
    if costs is not None and not Path(costs).is_file():
        raise UsageError(f"--costs {costs!r}: {'not a plain file' if Path(costs).exists() else 'no such file'}")
    return names


def _check_limits(first: str, **limits: float | None) -> None:
    """Refuse limits and targets that no value of the first metric can have."""
    from bayesfloor.data.metrics import metric_info

    low, high = metric_info(first).bounds
    for name, value in limits.items():
        if value is not None and not (low <= value <= high and math.isfinite(value)):
            allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else "finite, and not negative"
            allowed = allowed if math.isfinite(low) else "finite"
            raise UsageError(f"--{name.replace('_', '-')} {value:g}: must be {allowed} for the metric {first!r}")


def metric_arguments(given: MetricOptions, table: "Table", *, fast: bool = False) -> dict[str, Any]:
    """Return the arguments of the library that say what models are judged by.

    Parameters
    ----------
    given : MetricOptions
        What models are to be judged by.
    table : Table
        What was read. Where its target holds numbers, what needs classes is refused.
    fast : bool, default=False
        Whether spanning trees alone answer.

    Returns
    -------
    dict
        "metric", and for classes "costs" and "positive".
    """
    if table.task == "regression":
        from bayesfloor.data.metrics import NUMBER_METRICS

        where = f"needs classes, and {table.target!r} holds numbers; --task classification reads them as classes"
        for name, value in {"by": given.by, "costs": given.costs, "positive": given.positive}.items():
            if value is not None:
                raise UsageError(f"--{name.replace('_', '-')} {where}")
        if fast:
            raise UsageError(f"--fast {where}; --effort fast trains little")
        if given.metric and given.metric[0] not in NUMBER_METRICS:
            known = ", ".join(NUMBER_METRICS)
            raise UsageError(f"--metric {given.metric[0]} {where}, and for numbers it is one of {known}")
        return {"metric": list(given.metric) or [NUMBER_METRICS[0]]}
    classes, positive = [str(label) for label in table.classes], given.positive
    if positive is not None and positive not in classes:
        from difflib import get_close_matches

        close = get_close_matches(positive, classes, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the classes are {listed([repr(name) for name in classes])}"
        raise UsageError(f"--positive {positive!r}: no class of {table.target!r} has that name; {hint}")
    matrix = None if given.costs is None else read_costs(Path(given.costs), table.classes)
    return {"metric": _names_for_classes(given), "costs": matrix, "positive": positive}


def read_costs(path: Path, classes: "NDArray[Any]") -> "NDArray[np.float64]":
    """Read what decisions cost: a line for each true class, a column for each decision, by their names.

    Parameters
    ----------
    path : Path
        Text with separators. The first line names the decisions, the first column the true classes; one column that
        names no class is the cost of not deciding.
    classes : ndarray of shape (n_classes,)
        The labels, in the order of the result.

    Returns
    -------
    ndarray of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
    """
    import numpy as np

    named = repr(str(path))
    head, *lines = _lines_of(path)
    names = [str(label) for label in classes]
    decisions, rows = head[1:], [cells[0] for _, cells in lines]
    for what, given in (("columns", decisions), ("lines", rows)):
        if twice := [name for name, count in Counter(given).items() if count > 1]:
            raise ValueError(f"{named}: two {what} are called {shown(twice[0])}.")
    other = [name for name in decisions if name not in names]
    for what, given in (("column", decisions), ("line", rows)):
        if missing := [shown(name) for name in names if name not in given]:
            strange = [shown(name) for name in given if name not in names]
            hint = f"; no class is called {listed(strange)}" if strange else ""
            raise ValueError(f"{named} has no {what} for {listed(missing)}{hint}. It needs one for each class.")
    if unknown := [shown(name) for name in rows if name not in names]:
        raise ValueError(f"{named} has a line for {listed(unknown)}, which no class is called.")
    if len(other) > 1:
        text = listed([shown(name) for name in other])
        raise ValueError(f"{named} has columns for {text}: only one, the cost of not deciding, may name no class.")
    order = [decisions.index(name) for name in (*names, *other)]
    of_class = {cells[0]: (number, cells[1:]) for number, cells in lines}
    matrix = np.empty((len(names), len(order)))
    for k, name in enumerate(names):
        number, cells = of_class[name]
        for j, place in enumerate(order):
            matrix[k, j] = _cost(cells[place], f"{named}, line {number}, column {shown(decisions[place])}")
    return matrix


def _lines_of(path: Path) -> list[Any]:
    """Return the names of the first line, and number and cells of each other one that is not empty."""
    named = repr(str(path))
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{named} has more than {_MOST_BYTES // 2**20} MiB: this is no file of costs.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{named} is not UTF-8 text: byte {error.start} cannot be read.") from error
    if "\0" in text:
        raise ValueError(f"{named} holds a NUL byte: this is no text.")
    first = text.partition("\n")[0]
    reader = csv.reader(StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count), strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        raise ValueError(f"{named}, line {reader.line_num}: {error}.") from error
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise ValueError(f"{named} needs a first line with the names of the classes, and a line of costs for each.")
    head = lines[0][1]
    for number, cells in lines[1:]:
        if len(cells) != len(head):
            raise ValueError(f"{named}, line {number}, has {len(cells)} cells; the first line has {len(head)}.")
    return [head, *lines[1:]]


def _cost(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}: {quoted(cell)} is not a number.")
    return value
