"""What models are to be judged by, as a command was given it: names of metrics, a file of costs, limits."""

import csv
import math
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesfloor.cli.exits import UsageError
from bayesfloor.runtime.text import listed, quoted, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesfloor.data.prepared_table import Table

#: Bytes of a file of costs, at the most: a thousand classes with figures of a dozen digits.
_MOST_BYTES = 16 * 2**20
#: What may stand between the costs of a line; the one that the first line has most of does.
_SEPARATORS = ",;\t"


def task_asked(metric: tuple[str, ...], task: str) -> str:
    """Return what the target is to be read as: what --task says, or else what the metrics are for.

    Parameters
    ----------
    metric : tuple of str
        Names of metrics; empty where none is asked for.
    task : {"auto", "classification", "regression"}
        What --task says.

    Returns
    -------
    {"auto", "classification", "regression"}
    """
    from bayesfloor.data.metrics import NUMBER_METRICS

    numbers = [name for name in metric if name in NUMBER_METRICS]
    if numbers and len(numbers) < len(metric):
        other = next(name for name in metric if name not in NUMBER_METRICS)
        raise UsageError(f"--metric {numbers[0]} is for numbers, and --metric {other} for classes")
    if numbers and task == "classification":
        raise UsageError(f"--metric {numbers[0]} is for numbers; leave out --task classification")
    if metric and not numbers and task == "regression":
        raise UsageError(f"--metric {metric[0]}: must be one of {', '.join(NUMBER_METRICS)} with --task regression")
    return "regression" if numbers else task


def check_for_numbers(table: "Table", metric: tuple[str, ...], **others: Any) -> list[str]:
    """Refuse what needs classes where the target holds numbers; return the names of the metrics, the first one first.

    Parameters
    ----------
    table : Table
        What was read.
    metric : tuple of str
        Names of metrics; empty for R².
    **others : object
        Other options that need classes, by name, as they were given.

    Returns
    -------
    list of str
    """
    from bayesfloor.data.metrics import NUMBER_METRICS

    where = f"needs classes, and {table.target!r} holds numbers; --task classification reads them as classes"
    for name, value in others.items():
        if value is not None and value is not False:
            raise UsageError(f"--{name.replace('_', '-')} {where}")
    if metric and metric[0] not in NUMBER_METRICS:
        raise UsageError(f"--metric {metric[0]} {where}, and for numbers it is one of {', '.join(NUMBER_METRICS)}")
    return list(metric) or [NUMBER_METRICS[0]]


def check_metric_options(metric: tuple[str, ...], costs: str | None, *, fast: bool, task: str = "auto") -> list[str]:
    """Check what can be checked before a table is read; return the names of the metrics, the first one first.

    Parameters
    ----------
    metric : tuple of str
        Names; empty for the error, or for R² of numbers.
    costs : str or None
        A file of costs.
    fast : bool
        Whether nothing is trained.
    task : {"auto", "classification", "regression"}
        As from `task_asked`.

    Returns
    -------
    list of str
    """
    if task == "regression":
        from bayesfloor.data.metrics import NUMBER_METRICS

        if len(set(metric)) < len(metric):
            raise UsageError("--metric: the same one is named twice")
        if costs is not None:
            raise UsageError("--costs needs classes; leave it out for numbers")
        return list(metric) or [NUMBER_METRICS[0]]
    from bayesfloor.floor.learned.metrics import check_metric_names

    try:
        names = check_metric_names(list(metric) or "error", has_costs=costs is not None)
    except ValueError as error:
        raise UsageError(f"--metric: {error}") from error
    if fast and names != ["error"]:
        given = "--costs" if names == ["cost"] else f"--metric {names[0]}"
        raise UsageError(f"--fast trains nothing, and only the error can be told; leave out --fast, or {given}")
    if costs is not None and not Path(costs).is_file():
        raise UsageError(f"--costs {costs!r}: {'not a plain file' if Path(costs).exists() else 'no such file'}")
    return names


def check_limits(first: str, **limits: float | None) -> None:
    """Refuse limits and targets that no value of a metric can have.

    Parameters
    ----------
    first : str
        Name of the metric that they are for.
    **limits : float or None
        Options by name.
    """
    low = -math.inf if first == "cost" else 0.0
    high = math.inf if first in ("cost", "log_loss", "rmse", "mae") else 2.0 if first == "brier" else 1.0
    for name, value in limits.items():
        if value is not None and not (low <= value <= high and math.isfinite(value)):
            allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else "finite, and not negative"
            allowed = "finite" if first == "cost" else allowed
            raise UsageError(f"--{name.replace('_', '-')} {value:g}: must be {allowed} for the metric {first!r}")


def metric_arguments(table: "Table", names: list[str], costs: str | None, positive: str | None) -> dict[str, Any]:
    """Return the arguments of `learned_floor` and `difficulty_report` that say what models are judged by.

    Parameters
    ----------
    table : Table
        What was read; has the classes.
    names : list of str
        As from `check_metric_options`.
    costs : str or None
        A file of costs.
    positive : str or None
        Name of a class.

    Returns
    -------
    dict
    """
    classes = [str(label) for label in table.classes]
    if positive is not None and positive not in classes:
        from difflib import get_close_matches

        close = get_close_matches(positive, classes, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the classes are {listed([repr(name) for name in classes])}"
        raise UsageError(f"--positive {positive!r}: no class of {table.target!r} has that name; {hint}")
    matrix = None if costs is None else read_costs(Path(costs), table.classes)
    return {"metric": names, "costs": matrix, "positive": positive}


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
