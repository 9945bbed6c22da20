"""Results on stdout, everything else on stderr, and files that appear whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.streams import abandon, tell
from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.progress import Bar
from bayesfloor.runtime.results import plain
from bayesfloor.runtime.text import json_text, visible

if TYPE_CHECKING:
    from bayesfloor.cli.options import ShowOptions
    from bayesfloor.results import Finding, Table

#: Seconds before a progress bar appears; shorter work needs none.
_PATIENCE_S = 1.0
#: Fractions from this on are shown with one digit: six that count are enough.
_MANY_DIGITS = 10_000.0


def say(text: str, *, quiet: bool = False) -> None:
    """Say something on stderr, unless quiet was asked for."""
    if not quiet:
        tell(visible(text))


def write(text: str) -> None:
    """Write to stdout; a reader that has gone away, as ``head`` has, is no error."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stdout") from error


def show(
    command: str,
    result: dict[str, Any],
    text: str,
    options: "ShowOptions",
    *,
    table: "Table | None" = None,
    findings: Sequence["Finding"] | None = None,
) -> None:
    """Write a result to stdout, as JSON where that was asked for and else as text; say the findings on stderr.

    Findings that are given stand beside the result, with those on the table, and not once more within it.
    """
    if findings is not None:
        result = {name: value for name, value in result.items() if name != "findings"}
    if options.json:
        write_json(command, result, table=table, findings=findings or ())
    else:
        write(text)
    for finding in findings or ():
        say(str(finding), quiet=options.quiet)


def write_json(
    command: str,
    result: dict[str, Any],
    *,
    table: "Table | None" = None,
    findings: Iterable["Finding"] = (),
) -> None:
    """Write one JSON object: what was read, what was found in it, and the result.

    Parameters
    ----------
    command : str
        Name of the command.
    result : dict
        Its result, mostly the ``to_dict()`` of a record, whose findings are among `findings`.
    table : Table or None
        What the result is about.
    findings : iterable of Finding
        What a reader should know.
    """
    whole: dict[str, Any] = {"schema": f"bayesfloor/{command}/1"}
    whole |= {"command": command, "version": bf.__version__}
    if table is not None:
        whole["data"] = table.to_dict()
    said = [{"code": each.code, "sentence": each.sentence, "hint": each.hint} for each in findings]
    write(json_text(plain(whole | {"result": result, "findings": said}), ascii_only=True))


def records_text(records: Iterable[Any], headings: dict[str, str]) -> str:
    """Write a table with one row per record, as text.

    Parameters
    ----------
    records : iterable of dict or NamedTuple
        The fields of each row.
    headings : dict of str
        The heading of each field that is shown. A field that ends in "interval" takes two columns, "from"
        and "to".

    Returns
    -------
    str
    """
    ends = ("from", "to")
    names = [name for field, heading in headings.items() for name in (ends if _has_ends(field) else (heading,))]
    rows = []
    for record in map(plain, records):
        cells = [(field, record[field]) for field in headings]
        rows.append([each for field, cell in cells for each in (cell if _has_ends(field) else [_cell(field, cell)])])
    return table_text(names, rows)


def columns_text(columns: Mapping[str, Any], headings: dict[str, str]) -> str:
    """Write those columns of a frame as text that have a heading."""
    shown = [[_cell(name, cell) for cell in plain(columns[name])] for name in headings]
    return table_text(list(headings.values()), zip(*shown, strict=True))


def _has_ends(field: str) -> bool:
    return field.endswith("interval")


def _cell(field: str, cell: Any) -> Any:
    """Return a cell; labels are names, even where they look like numbers."""
    return "" if cell is None else str(cell) if field in ("class", "label", "first", "second", "group") else cell


def table_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write columns as text; numbers are aligned to the right.

    Parameters
    ----------
    headings : sequence of str
        Their names.
    rows : iterable of sequences
        Their cells. Fractions are shown with four digits, and with one where they are large.

    Returns
    -------
    str
    """
    from io import StringIO

    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    cells = [list(row) for row in rows]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(headings))
    for number, heading in enumerate(headings):
        figures = any(cells) and all(row[number] == "" or isinstance(row[number], int | float) for row in cells)
        grid.add_column(Text(heading), justify="right" if figures else "left", no_wrap=True)
    for row in cells:
        grid.add_row(*(Text(shown_cell(cell)) for cell in row))
    buffer = StringIO()
    # as wide as it needs to be: a terminal wraps lines, and a file must not lose anything
    Console(file=buffer, width=100_000, force_terminal=sys.stdout.isatty(), highlight=False).print(grid)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def shown_cell(cell: Any) -> str:
    """Write one cell of a table."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, float):
        return visible(cell)
    return f"{cell:.4f}" if abs(cell) < _MANY_DIGITS else f"{cell:.1f}"


def check_output(path: str, force: bool) -> Path:
    """Refuse a place to write to that is taken, or where nothing can be written, before any work is done."""
    file = Path(path)
    if file.is_dir():
        raise UsageError(f"{path!r} is a folder; name a file")
    if file.exists() and not file.is_file():
        raise UsageError(f"{path!r} is not a plain file")  # a device must not be replaced
    if file.exists() and not force:
        raise UsageError(f"{path!r} exists; --force replaces it")
    if file.is_symlink() and not file.exists() and not force:
        raise UsageError(f"{path!r} is a link to a file that is not there; --force writes it")
    folder = Path(os.path.realpath(file)).parent
    if not folder.is_dir():
        raise UsageError(f"{str(file.parent)!r}: no such folder")
    try:
        # permissions, quotas and read-only disks have many forms; trying is the test for all of them
        with tempfile.TemporaryFile(dir=folder):
            return file
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def write_file(file: Path, contents: bytes, *, force: bool) -> None:
    """Write a file whole or not at all; without `force`, one that came meanwhile is kept."""
    try:
        write_whole(file, contents, replace=force)
    except FileExistsError as error:
        raise UsageError(f"{error}; --force replaces it") from error


@contextmanager
def progress_on_stderr(quiet: bool) -> Iterator[Callable[[int, int], None] | bool]:
    """Give a callback that draws a bar on stderr when something takes long; False where that is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield False
        return
    bar = Bar(_PATIENCE_S)
    try:
        yield bar
    finally:
        bar.clear()
