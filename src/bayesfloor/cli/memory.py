"""What work on a large table takes of memory: one line before it begins, and a refusal where it does not fit."""

from typing import TYPE_CHECKING

from bayesfloor.cli.input import client_of, n_processes
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import say
from bayesfloor.runtime.text import counted

if TYPE_CHECKING:
    from bayesfloor.data.prepared_table import Table

#: Values from which on a table is large: smaller ones are soon done.
_MANY_VALUES = 2**23
#: Bytes that training takes for each value of the rows that are used, and those of the program of a worker, about:
#: benchmarks/results/large_tables.md has what was measured.
_VALUE_BYTES, _PROGRAM_BYTES = 112, 525_000_000
#: Bytes of training on rows on disk, here and in each worker, whatever their number.
_DISK_BYTES, _DISK_WORKER_BYTES = 1_450_000_000, 1_100_000_000


def announce(table: "Table", options: TableOptions, n_used: int, *, is_on_disk: bool = False) -> None:
    """Say what work on a large table needs and what there is, and refuse it where that is too little.

    Parameters
    ----------
    table : Table
        What was read.
    options : TableOptions
        Where to compute.
    n_used : int
        Rows that are trained on.
    is_on_disk : bool, default=False
        Whether these stay on disk.

    Raises
    ------
    MemoryError
        Naming both figures.
    """
    from bayesfloor.runtime.limits import available_memory, in_gib  # loads NumPy

    n_columns = len(table.columns) or len(table.column_names)  # sets known by name come without the former
    if table.n_samples * n_columns < _MANY_VALUES:
        return
    of_rows = n_used * n_columns * _VALUE_BYTES
    available, of_worker = available_memory(), _memory_of_worker(options)
    here = _DISK_BYTES if is_on_disk else of_rows
    there = _DISK_WORKER_BYTES if is_on_disk else _PROGRAM_BYTES + of_rows
    for needed, limit, who in ((here, available, ""), (there, of_worker, "each worker ")):
        if limit is not None and needed > limit:
            raise MemoryError(
                f"{table.source}: {counted(n_used)} rows of {counted(n_columns, 'column')} would take {who}about "
                f"{in_gib(needed)} of memory; {in_gib(limit)} are available. --max-rows N uses fewer"
            )
    used = "" if n_used >= table.n_samples else f", of which {counted(n_used)} are used"
    there_is = "" if available is None else f" of {in_gib(available)}"
    say(
        f"{table.source}: {counted(table.n_samples)} rows of {counted(n_columns, 'column')}{used}; needs about "
        f"{in_gib(here)}{there_is} of memory.",
        quiet=options.quiet,
    )


def rows_to_train_on(table: "Table", options: TableOptions, effort: str, n_values: int) -> int:
    """Return how many rows a stack is trained on, as the functions themselves decide.

    Parameters
    ----------
    table : Table
        What was read.
    options : TableOptions
        How many rows were asked for, and whether in groups or by time.
    effort : {"fast", "default"}
        How much is trained.
    n_values : int
        Values that are used at the most where nobody says.

    Returns
    -------
    int
    """
    from bayesfloor.data.sampling import affordable_rows
    from bayesfloor.floor.learned.efforts import EFFORTS
    from bayesfloor.runtime.settings import limits

    if options.max_rows is not None:
        return len(table.X)
    if options.time is not None:
        return min(len(table.X), limits().learned_rows)
    by_default = affordable_rows(table.X.shape[1], n_values if options.groups is None else n_values // 2)
    return int(min(len(table.X), by_default, EFFORTS[effort].most_rows))


def _memory_of_worker(options: TableOptions) -> int | None:
    """Return the bytes that each worker of a cluster may take, the fewest; None without a cluster, or a limit."""
    from bayesfloor.runtime.limits import available_memory

    if options.cluster is None:
        return None
    if (n_started := n_processes(options.cluster)) is not None:
        here = available_memory()
        return None if here is None else here // n_started
    with client_of(options.cluster) as client:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return min((worker["memory_limit"] for worker in workers if worker["memory_limit"]), default=None)
