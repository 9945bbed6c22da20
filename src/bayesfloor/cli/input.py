"""What a command was given -> what the library takes: a table, and the arguments that say where to compute."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.options import TABLE_DEFAULTS, ColumnOptions, TableOptions
from bayesfloor.cli.output import progress_on_stderr, say
from bayesfloor.cli.streams import without_messages_of_libraries
from bayesfloor.exceptions import TrustWarning

if TYPE_CHECKING:
    from bayesfloor.data.prepared_table import Table
    from bayesfloor.tables.columns import RawTable

#: What a column may hold.
_KINDS = ("categorical", "numeric", "text", "date")
#: Options about columns. The sets known by name come prepared, and take none of them.
_FOR_FILES = ("target", "groups", "time", "keep_missing_as_class", "drop", "type")
#: What must not have been said of a table whose rows are all trained on, from its files.
_SAID = (*(name for name in _FOR_FILES if name != "target"), "max_rows")
#: Seconds that a scheduler has to answer.
_PATIENCE_S = 10


def open_table(
    files: tuple[str, ...],
    options: ColumnOptions,
    by: str | None = None,
    *,
    task: str = "classification",
    most_rows: int | None = None,
) -> "Table":
    """Read a file or several; where there is none of that name, load the data set.

    Parameters
    ----------
    files : tuple of str
        Paths, "-" for stdin, or the name of a data set.
    options : ColumnOptions
        How to read them.
    by : str or None
        The column whose values get figures of their own.
    task : {"auto", "classification", "regression"}
        What the target is read as; most commands need classes.
    most_rows : int or None, default=None
        Rows of files to keep at the most where the options do not say.

    Returns
    -------
    Table
        What was detected or assumed has been said on stderr.
    """
    from bayesfloor.tables.datasets import BUILT_IN, local_files

    if not files:
        raise UsageError("FILE is missing: name a file, - for stdin, or a data set; 'bayesfloor datasets' lists these")
    kinds = _columns_by_kind(options.type)
    known = [*BUILT_IN, *local_files(None)]
    if len(files) == 1 and files[0] in known and not is_file(Path(files[0])):
        table = _load(files[0], options)
    else:
        if files.count("-") > 1:
            raise UsageError("stdin can be read once")
        for file in files:
            if file != "-":
                check_readable(file, known)
        given: dict[str, Any] = {name: getattr(options, name, None) for name in _FOR_FILES if name != "type"} | kinds
        given["max_rows"] = most_rows if options.max_rows is None else options.max_rows
        with without_messages_of_libraries(), progress_on_stderr(options.quiet) as progress:
            table = bf.read_table(
                list(files),
                task=task,
                by=by,
                **given,
                random_state=options.seed,
                progress=progress,
            )
    say_notes(table, options.quiet)
    return table


def read_columns(files: Sequence[str], **how: Any) -> "RawTable":
    """Read the columns of one table or several, as they are written; `read_text_table` says how that can be done."""
    from bayesfloor.tables.formats import read_raw

    with without_messages_of_libraries():
        return read_raw(list(files), **how)


def check_readable(file: str, known: list[str]) -> None:
    """Refuse what is no file, no part of one and no folder of Parquet files; suggest data sets of a similar name."""
    from difflib import get_close_matches

    from bayesfloor.tables.formats import split_source

    path, _ = split_source(file)
    if path.is_dir():
        if not any(path.rglob("*.parquet")):
            raise UsageError(f"{file!r} is a folder without Parquet files; name one file in it")
    elif not path.exists():
        close = get_close_matches(file.lower(), known, n=3)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "'bayesfloor datasets' lists these"
        raise UsageError(f"{file!r}: no such file, and no data set of that name; {hint}")
    elif not path.is_file():
        raise UsageError(f"{file!r} is not a plain file")


def say_notes(table: "Table", quiet: bool) -> None:
    """Say on stderr what was detected, assumed or done, and what deserves a look."""
    for note in table.notes:
        say(note, quiet=quiet)
    for caution in table.cautions:
        say(f"caution: {caution}", quiet=quiet)


def is_file(path: Path) -> bool:
    """Tell whether there is something to read; a name that no file can have is none."""
    try:
        return path.is_file()
    except ValueError:  # a NUL byte
        return False


def _columns_by_kind(named: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the columns that are said to be of each kind."""
    columns: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for each in named:
        name, _, kind = each.rpartition("=")
        if not name or kind not in columns:
            raise UsageError(f"--type {each!r}: write NAME=KIND; kinds are {', '.join(_KINDS)}")
        columns[kind].append(name)
    return columns


def _load(name: str, options: ColumnOptions) -> "Table":
    given = [option for option in _FOR_FILES if getattr(options, option, None)]
    given += ["task"] if getattr(options, "task", None) == "regression" else []
    if given:
        listed = ", ".join(f"--{option.replace('_', '-')}" for option in given)
        raise UsageError(f"{name!r} is a data set that comes prepared; {listed} can be used with files only")
    return bf.load_dataset(name, scale="standard", max_rows=options.max_rows, random_state=options.seed)


def is_as_it_is(options: TableOptions) -> bool:
    """Tell whether nothing was said of columns and rows but which the target is."""
    return all(getattr(options, name) == getattr(TABLE_DEFAULTS, name) for name in _SAID)


def rows_to_use(table: "Table", options: ColumnOptions) -> int | None:
    """Return how many rows of a table to compute with: all that were asked for by number, else as many as is usual."""
    return None if options.max_rows is None else len(table.X)


@contextmanager
def engine(options: ColumnOptions) -> Iterator[dict[str, Any]]:
    """Give the arguments that say how to compute."""
    with (
        client_of(options.cluster) as client,
        progress_on_stderr(options.quiet) as progress,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", TrustWarning)  # each command says it with its figures
        yield {"n_jobs": options.threads, "client": client, "random_state": options.seed, "progress": progress}


def refuse_cluster(options: TableOptions, what: str) -> None:
    """Refuse a cluster where the work is done in this process alone, before anything is read."""
    if options.cluster is not None:
        raise UsageError(f"--cluster: {what} in one process alone; leave it out")


def n_processes(cluster: str) -> int | None:
    """Return how many workers are to be started here; None where it is the address of a scheduler."""
    if not cluster.isdecimal():
        return None
    if int(cluster) < 1:
        raise UsageError(f"--cluster {cluster}: name a scheduler, or at least one process")
    return int(cluster)


@contextmanager
def client_of(cluster: str | None) -> Iterator[Any]:
    """Connect to a scheduler by its address, or to workers that are started here; None where none was asked for."""
    if cluster is None:
        yield None
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ImportError("--cluster needs Dask; install bayesfloor[dask].", name="distributed") from error
    if (n_workers := n_processes(cluster)) is not None:
        # ":0" is any free port: the usual one may be taken, of which Dask warns
        how = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with LocalCluster(**how) as here, Client(here, set_as_default=False) as client:
            yield client
    else:
        with _connected(cluster) as client:
            yield client


def _connected(address: str) -> Any:
    """Return a client of the scheduler at an address."""
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port

    logger = logging.getLogger("distributed")
    level = logger.level
    try:
        get_address_host_port(address)  # a client of an address that is none stays behind, and complains at the end
        logger.setLevel(logging.CRITICAL + 1)  # retries; that nothing answers is said in one line
        return Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(f"--cluster {address!r}: no Dask scheduler answers there ({error})") from error
    finally:
        logger.setLevel(level)
