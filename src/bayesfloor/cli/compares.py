"""The command compare."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.input import check_readable
from bayesfloor.cli.options import RUN_DEFAULTS, RunOptions, Seed
from bayesfloor.cli.output import columns_text, progress_on_stderr, say, show
from bayesfloor.cli.streams import without_messages_of_libraries
from bayesfloor.cli.warmup import compiling_boosting
from bayesfloor.exceptions import TrustWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayesfloor.results import FeatureComparison


def compare(
    *files: Annotated[str, Parameter(name="FILE", help="Features: .npy, .npz, Parquet, CSV and so on.")],
    labels: str | None = None,
    target: str | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    groups: str | None = None,
    time: str | None = None,
    metric: str | None = None,
    fast: bool = False,
    effort: Literal["fast", "default"] = "default",
    max_rows: Annotated[int | None, Parameter(validator=Number(gte=4))] = None,
    seed: Seed = 0,
    options: RunOptions = RUN_DEFAULTS,
) -> None:
    """Compare representations of the same rows: which lets models get furthest.

    Each file holds features of the same rows, in the same order, such as two
    embeddings of the same texts; --labels names a file with their labels.

    Parameters
    ----------
    labels
        File of the labels or numbers, a row for each row of the features: CSV, .npy and so on.
    target
        Column of the labels, where their file has several.
    task
        Whether the labels are classes or numbers; by their values by default.
    groups
        Column beside the labels that tells which rows belong together, such as a patient.
    time
        Column beside the labels that tells when a row was seen.
    metric
        What models are judged by, as for 'floor'; the error or r2 by default.
    fast
        A first look by spanning trees alone, without training anything. Their bias
        differs, so train models before one is chosen.
    effort
        How much is trained: fast or default.
    max_rows
        Use at most so many rows.

    Examples
    --------
    bayesfloor compare tfidf.npy bert.parquet --labels y.csv
    bayesfloor compare a.npy b.npy --labels rows.csv --target topic --groups author
    bayesfloor compare a.npy b.npy --labels y.csv --fast
    """
    asked: dict[str, Any] = {
        "task": task,
        "metric": metric,
        "learners": None if fast else "default",
        "effort": effort,
        "max_rows": max_rows,
        "n_jobs": options.threads,
        "random_state": seed,
    }
    if fast and (metric is not None or time is not None):
        raise UsageError("--fast trains nothing: leave out --metric and --time")
    if labels is None:
        raise UsageError("--labels is missing: the file of the labels of the rows")
    asked |= _features(files, labels, target, groups, time)
    with (
        progress_on_stderr(options.quiet) as progress,
        without_messages_of_libraries(),
        compiling_boosting(not fast),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", TrustWarning)  # the sentence begins with it
        found = bf.compare_features(**asked, progress=False if fast else progress)
    say(found.sentence(), quiet=options.quiet)
    show("compare", found.to_dict(), _text(found), options, findings=found.findings)


def _features(
    files: tuple[str, ...], labels: str, target: str | None, groups: str | None, time: str | None
) -> dict[str, Any]:
    """Name the files of features, and read that of the labels."""
    if not files:
        raise UsageError("FILE is missing: name files of features")
    for file in (*files, labels):
        check_readable(file, [])
    stems = [Path(file).stem for file in files]
    names = stems if len(set(stems)) == len(stems) else list(files)
    if len(set(names)) < len(names):
        raise UsageError("a file is named twice")
    known = {name: column for name, column in (("groups", groups), ("time", time)) if column is not None}
    return {"features": dict(zip(names, files, strict=True)), **_labels(labels, target, known)}


def _labels(file: str, target: str | None, known: dict[str, str]) -> dict[str, Any]:
    """Read the labels, and what else is said of the rows beside them."""
    import numpy as np

    if Path(file).suffix == ".npy":
        if target is not None or known:
            raise UsageError(f"{file!r} has no columns; leave out --target, --groups and --time")
        values = np.load(file, allow_pickle=False)
        if values.ndim != 1:
            raise ValueError(f"{file}: labels are one number or text for each row, got shape {values.shape}")
        return {"y": values}
    if target is None and not known and (alone := _one_column(Path(file))) is not None:
        return {"y": alone}
    from bayesfloor.tables.formats import read_raw
    from bayesfloor.tables.frames import frame_of_raw

    frame = frame_of_raw(read_raw(file))
    left = [str(name) for name in frame.columns if str(name) not in known.values()]
    if target is None and len(left) != 1:
        listed = ", ".join(map(repr, left))
        raise UsageError(f"{file!r} has the columns {listed}; name that of the labels with --target")
    wanted = {"y": left[0] if target is None else target, **known}
    for name, column in wanted.items():
        if column not in frame.columns:
            option = "target" if name == "y" else name
            raise UsageError(f"--{option} {column!r}: {file!r} has no such column")
    found = {name: frame[column].to_numpy() for name, column in wanted.items()}
    return found | {"y": _as_numbers(found["y"])}


def _one_column(path: Path) -> "NDArray[Any] | None":
    """Read a text file of one column; None for any other file.

    The first line is the name of the column where no other line says the same, and where it is no number among numbers.
    """
    import numpy as np

    if path.suffix.lower() not in (".csv", ".txt", ".tsv", ""):
        return None
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if len(lines) < 2 or any(separator in line for line in lines[:100] for separator in ",;\t|"):
        return None
    first, *others = lines
    numbers = _as_numbers(np.array(others))
    if numbers.dtype.kind != "f":
        return np.array(others if first not in others else lines)
    try:
        return np.append(float(first), numbers)
    except ValueError:
        return numbers


def _as_numbers(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return labels as numbers where all of them are; text as it is."""
    import numpy as np

    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def _text(found: "FeatureComparison") -> str:
    """List the representations, the best first: what is reached, and the floors."""
    from bayesfloor.data.metrics import metric_info

    first = {"name": "features", "n_features": "columns", "n_rows": "rows"}
    differs = {"distinguishable": "differs from the first"}
    best = "ceiling" if metric_info(found.metric).larger_is_better else "floor"
    floors = {"estimate": best, "interval_low": "from", "interval_high": "to"}
    columns = found._columns()
    if not found.is_learned:
        return columns_text(columns, first | floors | {"distinguishable": "trees differ"})
    reached = {"reached": "reached", "reached_low": "from", "reached_high": "to"}
    parts = columns_text(columns, first | reached | differs), columns_text(columns, {"name": "features", **floors})
    return "\n\n".join(parts)
