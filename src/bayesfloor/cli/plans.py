"""What a command is going to do, before it is done: rows, passes, bytes, seconds.

Of a large table only the beginning is read: the first rows of a Parquet file, whose footer says how many there are, and
the first million bytes of a text table, whose rows are then known by the size of these. `bayesfloor.cli.cost_model`
says what the work costs.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from bayesfloor.cli.cost_model import PASSES, Size, memory_of, seconds_of, worker_memory_of
from bayesfloor.cli.input import client_of, n_processes, open_table
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import say, table_text, write, write_json
from bayesfloor.cli.streams import STDIN_TOKEN
from bayesfloor.runtime.limits import available_memory, check_n_jobs, in_gib
from bayesfloor.runtime.text import counted

#: Commands that take --dry-run.
PLANNED = ("floor", "report", "fit")
#: Rows of a Parquet file that are looked at.
_HEAD_ROWS = 10_000
#: Bytes of files from which on a command says what it is going to need.
_LARGE_BYTES = 2**26
#: Seconds, minutes and hours up to this many are written as such.
_MOST_S, _MOST_MIN = 120, 7200


class Work(NamedTuple):
    """What a command does with a table.

    Attributes
    ----------
    method : str
        One of `COSTS` of the model of cost, or "trees".
    effort : {"fast", "default", "high"}
        How much is trained.
    task : {"auto", "classification", "regression"}
        What the target is read as.
    by : str or None
        The column of subgroups.
    """

    method: str
    effort: str = "default"
    task: str = "auto"
    by: str | None = None


@dataclass(frozen=True)
class Plan:
    """What some work takes.

    Attributes
    ----------
    source : str
        Name of the file or folder.
    method : str
        What is done: "floor", "report", "landmarks", "stack", "smartsvm" or "trees".
    n_samples : int
        Rows of the table.
    is_estimated : bool
        Whether they were not counted, but follow from the size of the file.
    n_columns : int
        Columns beside the target.
    n_classes : int or None
        Classes among the first rows; None for a number.
    n_rows : int
        Rows that are used.
    n_passes : int
        How often the rows are read.
    disk_bytes, memory_bytes : int
        Size of the files, and memory of this process at its peak.
    available_bytes : int or None
        Memory that there is; None where the system does not tell.
    n_workers : int
        Threads here, or processes and threads of a cluster.
    worker_bytes, worker_available_bytes : int or None
        Memory that a worker needs and may take; None without a cluster, or a limit.
    cpu_seconds, wall_seconds : float
        Seconds of all cores together, and by the clock, as the model of cost has them.
    """

    source: str
    method: str
    n_samples: int
    is_estimated: bool
    n_columns: int
    n_classes: int | None
    n_rows: int
    n_passes: int
    disk_bytes: int
    memory_bytes: int
    available_bytes: int | None
    n_workers: int
    worker_bytes: int | None
    worker_available_bytes: int | None
    cpu_seconds: float
    wall_seconds: float

    def lacking(self) -> str:
        """Say what does not fit into memory; empty text where all does."""
        needs = (
            (self.memory_bytes, self.available_bytes, ""),
            (self.worker_bytes, self.worker_available_bytes, "each worker "),
        )
        for needed, available, who in needs:
            if needed is not None and available is not None and needed > available:
                return (
                    f"{self.source}: {_about(self.n_rows)} rows of {counted(self.n_columns, 'column')} would take "
                    f"{who}about {in_gib(needed)} of memory; {in_gib(available)} are available. --max-rows N uses fewer"
                )
        return ""

    def sentence(self) -> str:
        """Say in one line what is needed, and what there is."""
        rows = f"{_about(self.n_samples) if self.is_estimated else counted(self.n_samples)} rows"
        used = "" if self.n_rows >= self.n_samples else f", of which {_about(self.n_rows)} are used"
        there = "" if self.available_bytes is None else f" of {in_gib(self.available_bytes)}"
        return (
            f"{self.source}: {rows} of {counted(self.n_columns, 'column')}{used}; needs about "
            f"{in_gib(self.memory_bytes)}{there} of memory, and about {shown_seconds(self.wall_seconds)}."
        )

    def to_text(self) -> str:
        """List all of it."""
        rows = counted(self.n_samples)
        lines = [
            ("table", self.source),
            ("rows", f"about {_about(self.n_samples)}, by the size of the first ones" if self.is_estimated else rows),
            ("columns", counted(self.n_columns)),
            *([] if self.n_classes is None else [("classes", counted(self.n_classes))]),
            ("rows used", _about(self.n_rows) if self.is_estimated else counted(self.n_rows)),
            ("passes over the data", counted(self.n_passes)),
            ("on disk", in_gib(self.disk_bytes)),
            ("in memory, about", _of(self.memory_bytes, self.available_bytes)),
            ("workers", counted(self.n_workers)),
        ]
        if self.worker_bytes is not None:
            lines.append(("memory of each, about", _of(self.worker_bytes, self.worker_available_bytes)))
        lines.append(("CPU time, about", shown_seconds(self.cpu_seconds)))
        return table_text(("", ""), [*lines, ("time, about", shown_seconds(self.wall_seconds))])


def shown_seconds(seconds: float) -> str:
    """Write a guess of seconds with two digits, in the unit that fits."""
    for limit, unit, word in ((_MOST_S, 1, "s"), (_MOST_MIN, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < limit:
            return f"{_rounded(seconds / unit):g} {word}"
    raise AssertionError


def _rounded(number: float) -> float:
    """Round to two digits."""
    return round(number, 1 - int(log10(number))) if number >= 1 else round(number, 1)


def _about(n_rows: int) -> str:
    return counted(int(_rounded(n_rows)))


def _of(needed: int, available: int | None) -> str:
    return in_gib(needed) + ("" if available is None else f" of {in_gib(available)}")


def show_plan(command: str, files: tuple[str, ...], options: TableOptions, work: Work) -> None:
    """Write what a command would do to stdout; say on stderr what does not fit."""
    plan = plan_of(files, options, work)
    if options.json:
        write_json(command, asdict(plan), layout="plan")
    else:
        write(plan.to_text())
    if lacking := plan.lacking():
        say(lacking, quiet=options.quiet)


def announce(files: tuple[str, ...], options: TableOptions, work: Work) -> None:
    """Say what work on a large table needs and what there is, and refuse it where that is too little.

    Small tables are not looked at: reading them is as fast.

    Raises
    ------
    MemoryError
        Naming both figures.
    """
    if _n_bytes(files) < _LARGE_BYTES:
        return
    plan = plan_of(files, options, work)
    if lacking := plan.lacking():
        raise MemoryError(lacking)
    say(plan.sentence(), quiet=options.quiet)


def plan_of(files: tuple[str, ...], options: TableOptions, work: Work) -> Plan:
    """Look at the beginning of a table, and at the workers, and say what the work takes.

    Parameters
    ----------
    files : tuple of str
        As a command is given them.
    options : TableOptions
        How to read them, and where to compute.
    work : Work
        What is done.

    Returns
    -------
    Plan
    """
    with _beginning(files) as looked_at:
        quiet = replace(options, quiet=True, max_rows=None)
        table = open_table(looked_at.files, quiet, work.by, task=work.task)
        n_rows = looked_at.n_rows or round(table.n_samples / looked_at.share)
    n_columns = len(table.columns) or len(table.column_names)  # sets known by name come without the former
    n_features = table.X.shape[1]
    is_number = table.task == "regression"
    used = min(n_rows, options.max_rows or _most_rows(table, n_features, work))
    size = Size(n_rows, n_columns, used, None if is_number else len(table.classes), looked_at.form)
    seconds = seconds_of(work.method, size, work.effort)
    n_workers, limit = _workers(options)
    is_remote = options.cluster is not None
    return Plan(
        source=looked_at.name or table.source,
        method=work.method,
        n_samples=n_rows,
        is_estimated=looked_at.share < 1.0,
        n_columns=n_columns,
        n_classes=size.n_classes,
        n_rows=used,
        n_passes=PASSES[looked_at.form],
        disk_bytes=_n_bytes(files),
        memory_bytes=int(memory_of(size)),
        available_bytes=available_memory(),
        n_workers=n_workers,
        worker_bytes=int(worker_memory_of(size)) if is_remote else None,
        worker_available_bytes=limit,
        cpu_seconds=seconds.of_cores,
        wall_seconds=seconds.by_the_clock(n_workers),
    )


def _most_rows(table: Any, n_features: int, work: Work) -> int:
    """Return how many rows are used where nobody says, as the functions themselves decide."""
    from bayesfloor.data.sampling import LEARNED_ROWS, LEARNED_VALUES, REPORT_VALUES, affordable_rows
    from bayesfloor.floor.learned.efforts import EFFORTS

    if work.method not in ("floor", "report", "stack"):
        return 2**62  # all of them
    if table.time is not None:
        return LEARNED_ROWS
    is_short = work.method == "report" and table.task == "classification"
    n_values = REPORT_VALUES if is_short else LEARNED_VALUES
    by_default = affordable_rows(n_features, n_values if table.groups is None else n_values // 2)
    return int(min(by_default, EFFORTS[work.effort].most_rows))


def _workers(options: TableOptions) -> tuple[int, int | None]:
    """Return how many workers there are, and the memory that each may take at the least."""
    if options.cluster is None:
        return check_n_jobs(options.threads), None
    if (n_started := n_processes(options.cluster)) is not None:
        there = available_memory()
        return n_started, None if there is None else there // n_started
    with client_of(options.cluster) as client:
        workers = list(client.scheduler_info(n_workers=-1)["workers"].values())
    limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
    n_threads = sum(int(worker["nthreads"]) for worker in workers)
    return max(n_threads, 1), min(limits, default=None)


# --- the beginning of a table


class _LookedAt(NamedTuple):
    """Files that are read in place of the table: itself, or its beginning.

    `n_rows` is None where they were not counted, `share` what the files are of all bytes, and `name` is empty where the
    files themselves have it.
    """

    files: tuple[str, ...]
    form: str
    n_rows: int | None = None
    share: float = 1.0
    name: str = ""


@contextmanager
def _beginning(files: tuple[str, ...]) -> Iterator[_LookedAt]:
    """Give the beginning of a large table as a file of its own, and any other as it is."""
    paths = [Path(file) for file in files]
    if any(file == STDIN_TOKEN for file in files) or not all(_exists(path) for path in paths) or not paths:
        yield _LookedAt(files, "binary")  # stdin, one of the data sets, a part of a file, or nothing
        return
    is_parquet = all(path.is_dir() or path.suffix.lower() in (".parquet", ".pq") for path in paths)
    with tempfile.TemporaryDirectory() as folder:
        if is_parquet:
            yield _rows_of_parquet(paths, Path(folder))
        else:
            yield _lines_of_text(paths, Path(folder))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except ValueError:  # a NUL byte
        return False


def _rows_of_parquet(paths: list[Path], folder: Path) -> _LookedAt:
    """Count the rows of Parquet files by their footers, and write the first ones into a file."""
    import polars

    from bayesfloor.tables.binary_tables import told_as
    from bayesfloor.tables.joining import find_parts, keys_of

    n_rows, head = 0, None
    for path in paths:
        for file in find_parts(path, 2**62) if path.is_dir() else [path]:
            with told_as(f"{file.name} cannot be read as Parquet: ", polars.exceptions.PolarsError, OSError):
                lazy = polars.scan_parquet(file)
                n_rows += int(lazy.select(polars.len()).collect().item())
                if head is None:
                    head = lazy.head(_HEAD_ROWS).collect()
                    keys = keys_of(file, path) if path.is_dir() else {}
                    head = head.with_columns(polars.lit(value).alias(key) for key, value in keys.items())
    if head is None or n_rows <= _HEAD_ROWS:
        return _LookedAt(tuple(map(str, paths)), "binary")
    name = paths[0].resolve().name
    beginning = folder / f"{paths[0].resolve().stem}.parquet"
    head.write_parquet(beginning)
    return _LookedAt((str(beginning),), "binary", n_rows, name=name)


def _lines_of_text(paths: list[Path], folder: Path) -> _LookedAt:
    """Write the first lines of a text table into a file, and tell its rows by their size."""
    from bayesfloor.tables.formats import detect_format
    from bayesfloor.tables.unpacking import HEAD_BYTES, Contents

    as_they_are = tuple(map(str, paths))
    first = paths[0]
    contents = Contents(first.name, first.suffix.lower(), None, path=first)
    is_plain = first.suffix.lower() not in (".gz", ".bz2", ".xz", ".zip")
    if not first.is_file() or not is_plain or first.stat().st_size <= 2 * HEAD_BYTES:
        return _LookedAt(as_they_are, "text")
    if detect_format(contents) != "text":
        return _LookedAt(as_they_are, "binary")
    if b"\0" in contents.head:  # UTF-16, in which the byte of a line's end may be half of a letter
        return _LookedAt(as_they_are, "text")
    head = _whole_lines(contents.head)
    beginning = folder / first.name
    beginning.write_bytes(head)
    n_bytes = sum(path.stat().st_size for path in paths)
    return _LookedAt((str(beginning),), "text", share=len(head) / n_bytes, name=first.name)


def _whole_lines(head: bytes) -> bytes:
    """Cut the beginning of a text table at the end of its last row, which lies outside of quotes."""
    end = head.rfind(b"\n")
    while end > 0 and head.count(b'"', 0, end) % 2:
        end = head.rfind(b"\n", 0, end)
    return head[: end + 1] or head


def _n_bytes(files: tuple[str, ...]) -> int:
    """Return the size of files, and of all that is in folders; 0 for what is none."""
    total = 0
    for path in map(Path, files):
        if not _exists(path):
            continue
        if path.is_dir():
            total += sum(os.stat(each).st_size for each in path.rglob("*") if each.is_file())
        else:
            total += path.stat().st_size
    return total
