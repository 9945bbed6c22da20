"""What a command is going to do, before it is done: rows, passes, bytes, seconds.

Of a large table only the beginning is read: the first rows of a Parquet file, whose footer says how many there are, and
the first million bytes of a text table, whose rows are then known by the size of these. `bayesfloor.cli.cost_model`
says what the work costs.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from bayesfloor.cli.input import client_of, is_as_it_is, n_processes, open_table, read_columns
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import say, table_text, write, write_json
from bayesfloor.cli.plans import Plan, about, shown_seconds
from bayesfloor.cli.streams import STDIN_TOKEN
from bayesfloor.runtime.text import counted

#: Rows of a Parquet file that are looked at.
_HEAD_ROWS = 10_000
#: Bytes of files from which on a command says what it is going to need.
_LARGE_BYTES = 2**26


class Work(NamedTuple):
    """What a command does with a table.

    Attributes
    ----------
    method : str
        One of `COSTS` of the model of cost, or "trees".
    effort : {"fast", "default"}
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


def show_plan(command: str, files: tuple[str, ...], options: TableOptions, work: Work) -> None:
    """Write what a command would do to stdout; say on stderr what does not fit."""
    plan = plan_of(files, options, work)
    if options.json:
        write_json(command, asdict(plan), layout="plan")
    else:
        write(_plan_text(plan))
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


def _plan_text(plan: Plan) -> str:
    """List all of a plan."""
    from bayesfloor.runtime.limits import in_gib

    def of(needed: int, available: int | None) -> str:
        return in_gib(needed) + ("" if available is None else f" of {in_gib(available)}")

    rows = counted(plan.n_samples)
    lines = [
        ("table", plan.source),
        ("rows", f"about {about(plan.n_samples)}, by the size of the first ones" if plan.is_estimated else rows),
        ("columns", counted(plan.n_columns)),
        *([] if plan.n_classes is None else [("classes", counted(plan.n_classes))]),
        ("rows used", about(plan.n_rows) if plan.is_estimated else counted(plan.n_rows)),
        ("passes over the data", counted(plan.n_passes)),
        ("on disk", in_gib(plan.disk_bytes)),
        ("in memory, about", of(plan.memory_bytes, plan.available_bytes)),
        ("workers", counted(plan.n_workers)),
    ]
    if plan.worker_bytes is not None:
        lines.append(("memory of each, about", of(plan.worker_bytes, plan.worker_available_bytes)))
    lines.append(("CPU time, about", shown_seconds(plan.cpu_seconds)))
    return table_text(("", ""), [*lines, ("time, about", shown_seconds(plan.wall_seconds))])


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
    from bayesfloor.cli.cost_model import DISK_PASSES, PASSES, Size, memory_of, seconds_of, worker_memory_of
    from bayesfloor.runtime.limits import available_memory

    with _beginning(files) as looked_at:
        seen = _look(looked_at, options, work)
    n_rows = looked_at.n_rows or round(seen.n_rows / looked_at.share)
    method = "disk" if _is_on_disk(n_rows, looked_at, options, work) else work.method
    used = n_rows if method == "disk" else min(n_rows, options.max_rows or _most_rows(seen, options, work))
    size = Size(n_rows, seen.n_columns, used, seen.n_classes, looked_at.form)
    seconds = seconds_of(method, size, work.effort)
    n_workers, limit = _workers(options)
    is_remote = options.cluster is not None
    return Plan(
        source=looked_at.name or seen.source,
        method=method,
        n_samples=n_rows,
        is_estimated=looked_at.share < 1.0,
        n_columns=seen.n_columns,
        n_classes=seen.n_classes,
        n_rows=used,
        n_passes=PASSES[looked_at.form] + (DISK_PASSES if method == "disk" else 0),
        disk_bytes=_n_bytes(files),
        memory_bytes=int(memory_of(size, method)),
        available_bytes=available_memory(),
        n_workers=n_workers,
        worker_bytes=int(worker_memory_of(size, method)) if is_remote else None,
        worker_available_bytes=limit,
        cpu_seconds=seconds.of_cores,
        wall_seconds=seconds.by_the_clock(n_workers, is_cluster=is_remote),
    )


def _is_on_disk(n_rows: int, looked_at: "_LookedAt", options: TableOptions, work: Work) -> bool:
    """Tell whether a floor is that of all rows of large files."""
    from bayesfloor.floor.learned.large_tables import MANY_ROWS

    is_floor = work.method == "floor" and work.by is None and work.effort != "fast"
    return is_floor and looked_at.is_part and n_rows >= MANY_ROWS and is_as_it_is(options)


class _Seen(NamedTuple):
    """What the rows that were looked at say of a table; `n_classes` is None for a number."""

    source: str
    n_rows: int
    n_columns: int
    n_features: int
    n_classes: int | None


def _look(looked_at: "_LookedAt", options: TableOptions, work: Work) -> _Seen:
    """Read the rows that are looked at."""
    from bayesfloor.tables.columns import UnknownColumnError

    try:
        table = open_table(looked_at.files, replace(options, quiet=True, max_rows=None), work.by, task=work.task)
    except UnknownColumnError:
        raise
    except ValueError:
        if not looked_at.is_part:
            raise
        # the first rows of a sorted table are of one class; all of them are checked when they are read
        raw = read_columns(looked_at.files)
        n_columns = len(raw.columns) - 1
        return _Seen(raw.source, raw.n_rows, n_columns, n_columns, None if work.task == "regression" else 2)
    n_columns = len(table.columns) or len(table.column_names)  # sets known by name come without the former
    n_classes = None if table.task == "regression" else len(table.classes)
    return _Seen(table.source, table.n_samples, n_columns, table.X.shape[1], n_classes)


def _most_rows(seen: _Seen, options: TableOptions, work: Work) -> int:
    """Return how many rows are used where nobody says, as the functions themselves decide."""
    from bayesfloor.data.sampling import LEARNED_ROWS, LEARNED_VALUES, REPORT_VALUES, affordable_rows
    from bayesfloor.floor.learned.efforts import EFFORTS

    if work.method not in ("floor", "report", "stack"):
        return 2**62  # all of them
    if options.time is not None:
        return LEARNED_ROWS
    is_short = work.method == "report" and seen.n_classes is not None
    n_values = REPORT_VALUES if is_short else LEARNED_VALUES
    by_default = affordable_rows(seen.n_features, n_values if options.groups is None else n_values // 2)
    return int(min(by_default, EFFORTS[work.effort].most_rows))


def _workers(options: TableOptions) -> tuple[int, int | None]:
    """Return how many workers there are, and the memory that each may take at the least."""
    from bayesfloor.runtime.limits import available_memory, check_n_jobs

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

    @property
    def is_part(self) -> bool:
        """Whether there are more rows than these."""
        return self.n_rows is not None or self.share < 1.0


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
