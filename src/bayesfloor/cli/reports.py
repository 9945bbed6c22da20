"""report."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from bayesfloor.cli.engines import engine
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.floors import verdict_on
from bayesfloor.cli.input import open_table, rows_to_use
from bayesfloor.cli.options import RunOptions, TableOptions
from bayesfloor.cli.output import check_output, say, write, write_file, write_json

#: By the ending of a file's name: how a report is written into it.
_FORMATS = {".html": "to_html", ".htm": "to_html", ".md": "to_markdown", ".json": "to_json", ".txt": "to_text"}
#: What the beginning of a page says that a report may replace.
_OWN_PAGE = b'<meta name="generator" content="bayesfloor'


def write_report(
    file: str,
    options: TableOptions,
    *,
    fast: bool,
    target_error: float | None,
    features: int | None,
    out: str | None,
    force: bool,
    fail_above: float | None,
) -> int:
    """Write the report of a file; return the exit code."""
    place = None if options.json and out is None else _place_for(file, out)
    force = force or (place is not None and _is_own_page(place))
    if place is not None:
        check_output(str(place), force)
    table = open_table(file, options)
    if features is not None and features > len(table.groups):
        raise UsageError(f"--features {features}: {table.source} has {len(table.groups)} columns beside the target")
    from bayesfloor.report.difficulty import difficulty_report  # after what can go wrong: it takes a second to load

    asked = {"fast": fast, "target_error": target_error, "features": features}
    with engine(options) as how:
        report = difficulty_report(
            table,
            fast=fast,
            target_error=target_error,
            n_features=features,
            max_rows=rows_to_use(table, options),
            max_tree_rows=rows_to_use(table, options),
            command=_command(file, options, asked),
            **how,
        )
    if place is not None:
        contents = getattr(report, _FORMATS[place.suffix.lower()])()
        write_file(place, contents.encode(), force=force)
    if options.json:
        write_json("report", report.summary, table=table, findings=(*report.trees.findings, *_of_models(report)))
    else:
        _show(report.summary)
    if place is not None:
        say(f"The report is in {str(place)!r}.", quiet=options.quiet)
    return verdict_on(float(report.summary["floor"]["estimate"]), "the floor", fail_above)


def _of_models(report: Any) -> tuple[Any, ...]:
    return () if report.learned is None else report.learned.findings


def _show(summary: dict[str, Any]) -> None:
    import os
    import sys

    from bayesfloor.report.terminal import render_text

    is_terminal = sys.stdout.isatty()
    width = 100
    if is_terminal:
        width = min(max(os.get_terminal_size(sys.stdout.fileno()).columns, 60), 110)
    write(render_text(summary, width, colour=is_terminal and "NO_COLOR" not in os.environ))


def _place_for(file: str, out: str | None) -> Path:
    """Say where the report goes."""
    if out is None:
        stem = Path(file).name.split(".")[0] or "table"
        place = Path(f"{stem}-report.html")
    else:
        place = Path(out)
        if place.suffix.lower() not in _FORMATS:
            known = ", ".join(_FORMATS)
            raise UsageError(f"--out {out!r}: the ending says what to write, and must be one of {known}")
    return place


def _is_own_page(place: Path) -> bool:
    """Tell whether a file was made by this command, and may be replaced without being told so."""
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return _OWN_PAGE in stream.read(2000)


def _command(file: str, options: TableOptions, asked: dict[str, Any]) -> str:
    """Write down what makes the same report again."""
    defaults = TableOptions()
    how_to_run = {*(field.name for field in fields(RunOptions)), "device", "cluster"}
    given = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name not in how_to_run and getattr(options, field.name) != getattr(defaults, field.name)
    }
    words = ["bayesfloor", "report", file]
    for name, value in {**asked, **given, "seed": options.seed}.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif isinstance(value, tuple):
            for each in value:
                words += [flag, each]
        elif value is not None and value is not False:
            words += [flag, str(value)]
    return shlex.join(words)
