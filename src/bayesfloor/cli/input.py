"""A file, or the name of a data set -> a table."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import say
from bayesfloor.cli.streams import without_messages_of_libraries
from bayesfloor.data.prepared_table import Table
from bayesfloor.tables.datasets import BUILT_IN, load_dataset, local_files
from bayesfloor.tables.read import read_table

#: Options about columns. The sets known by name come prepared, and take none of them.
_FOR_FILES = ("target", "encode", "impute", "drop_missing", "drop", "categorical")


def open_table(file: str, options: TableOptions) -> Table:
    """Read a file; where there is none of that name, load the data set.

    Parameters
    ----------
    file : str
        A path, or the name of a data set.
    options : TableOptions
        How to read it.

    Returns
    -------
    Table
        What was detected or assumed has been said on stderr.
    """
    path = Path(file)
    check_folder(options.data)
    if not is_file(path) and file in (known := [*BUILT_IN, *local_files(options.data)]):
        table = _load(file, options)
    elif path.is_dir():
        raise UsageError(f"{file!r} is a folder; name one file in it")
    elif path.exists() and not path.is_file():
        raise UsageError(f"{file!r} is not a plain file")
    elif not path.exists():
        close = get_close_matches(file.lower(), known, n=3)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "'bayesfloor datasets' lists these"
        raise UsageError(f"{file!r}: no such file, and no data set of that name; {hint}")
    else:
        with without_messages_of_libraries():
            table = read_table(
                path,
                target=options.target,
                encode=options.encode,
                scale=options.scale,
                impute=options.impute,
                drop_missing=options.drop_missing,
                drop=options.drop,
                categorical=options.categorical,
                max_rows=options.max_rows,
                random_state=options.seed,
            )
    say_notes(table, options.quiet)
    return table


def say_notes(table: Table, quiet: bool) -> None:
    """Say on stderr what was detected, assumed or done, and what deserves a look."""
    for note in table.notes:
        say(note, quiet=quiet)
    for caution in table.cautions:
        say(f"caution: {caution}", quiet=quiet)


def named_columns(table: Table) -> Any:
    """Return X as a data frame, so that findings can name columns."""
    import polars

    return polars.DataFrame(table.X, schema=list(table.feature_names), orient="row")


def is_file(path: Path) -> bool:
    """Tell whether there is something to read; a name that no file can have is none."""
    try:
        return path.is_file()
    except ValueError:  # a NUL byte
        return False


def check_folder(data: str | None) -> None:
    """Refuse a folder of data sets that is not there."""
    if data is not None and not Path(data).is_dir():
        raise UsageError(f"--data {data!r}: no such folder")


def _load(name: str, options: TableOptions) -> Table:
    given = [option for option in _FOR_FILES if getattr(options, option)]
    if given:
        listed = ", ".join(f"--{option.replace('_', '-')}" for option in given)
        raise UsageError(f"{name!r} is a data set that comes prepared; {listed} can be used with files only")
    return load_dataset(
        name, data_dir=options.data, scale=options.scale, max_rows=options.max_rows, random_state=options.seed
    )


def rows_to_use(table: Table, options: TableOptions) -> int | None:
    """Return how many rows of a table to compute with: all that were asked for by number, else as many as is usual."""
    return None if options.max_rows is None else len(table.X)
