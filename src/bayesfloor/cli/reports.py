"""The command report."""

import os
import shlex
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.floors import limit_name, verdict_on
from bayesfloor.cli.gap import NO_MODEL, ModelOptions, check_model_options, predictions_of
from bayesfloor.cli.input import engine, open_table, rows_to_use
from bayesfloor.cli.memory import announce, rows_to_train_on
from bayesfloor.cli.metrics import check_metric_options, metric_arguments
from bayesfloor.cli.options import (
    METRIC_DEFAULTS,
    TABLE_DEFAULTS,
    File,
    Force,
    MetricOptions,
    RunOptions,
    TableOptions,
)
from bayesfloor.cli.output import check_output, say, write, write_file, write_json
from bayesfloor.cli.streams import STDIN
from bayesfloor.cli.warmup import compiling_boosting

#: By the ending of a file's name: how a report is written into it.
_FORMATS = {".html": "to_html", ".htm": "to_html", ".md": "to_markdown", ".json": "to_json", ".txt": "to_text"}
#: What the beginning of a page says that a report may replace.
_OWN_PAGE = b'<meta name="generator" content="bayesfloor'
#: Letters in a line: where there is no terminal, and the fewest and most on one.
_WIDTH, _NARROWEST, _WIDEST = 100, 60, 110


def report(
    *files: File,
    judged: MetricOptions = METRIC_DEFAULTS,
    target_value: float | None = None,
    out: str | None = None,
    out_rows: str | None = None,
    force: Force = False,
    given: ModelOptions = NO_MODEL,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Report how good models can get on the data, and where it will hurt.

    The answer on the terminal, and everything in one HTML file that needs no
    network: the floor and how sure it is, the learning curve, the hardest classes
    and pairs, and the rows whose labels models find hard to believe. Where the
    target is a number: how much of it can be predicted, and where the noise is.

    Parameters
    ----------
    target_value
        An error, or value of the first metric, that you hope for: is it feasible?
    out
        Where to write: .html, .md, .json or .txt. NAME-report.html by default.
    out_rows
        A CSV file for the rows to look at, with their values and suggested labels.

    Examples
    --------
    bayesfloor report digits
    bayesfloor report patients.csv --target outcome --groups patient --target-value 0.05
    bayesfloor report patients.csv --metric roc_auc --metric log_loss --target-value 0.9
    bayesfloor report patients.csv --out patients.md --out-rows rows.csv
    """
    place = None if options.json and out is None else _place_for(files, out)
    rows_place, replaces_rows = _place_for_rows(out_rows, place, force), force
    force = force or (place is not None and _is_own_page(place))
    if place is not None:
        check_output(str(place), force)
    check_model_options(given, files, needed=False)
    # at once: what is loaded next takes a second
    with compiling_boosting(options.task != "regression"):
        task = check_metric_options(judged, options.task, target_value=target_value)
        from bayesfloor.data.sampling import LEARNED_VALUES
        from bayesfloor.floor.learned.model_predictions import DECIDED
        from bayesfloor.runtime.settings import limits

        table = open_table(files, options, judged.by, task=task)
        n_values = limits().report_values if table.task == "classification" else LEARNED_VALUES
        announce(table, options, rows_to_train_on(table, options, judged.effort, n_values))
        judged_by = metric_arguments(judged, table)
        is_of_scores = judged_by["metric"][0] not in DECIDED
        predicted = predictions_of(given, table, files, wants_probabilities=is_of_scores) if given.is_given else None

        asked = {**vars(judged), "target_value": target_value, **vars(given)}
        with engine(options) as how:
            found = bf.difficulty_report(
                table,
                by=judged.by,
                effort=judged.effort,
                checks=not judged.no_checks,
                predictions=predicted,
                target_value=target_value,
                max_rows=rows_to_use(table, options),
                command=_command(files, options, asked),
                **judged_by,
                **how,
            )
    if place is not None:
        contents = getattr(found, _FORMATS[place.suffix.lower()])()
        write_file(place, contents.encode(), force=force)
    if options.json:
        write_json("report", found.summary, table=table, findings=found.findings)
    else:
        _write_text(found.summary)
    if place is not None:
        say(f"The report is in {str(place)!r}.", quiet=options.quiet)
    if rows_place is not None:
        write_file(rows_place, found.to_csv().encode(), force=replaces_rows)
        say(f"{_rows_written(found.summary)} in {str(rows_place)!r}.", quiet=options.quiet)
    found_floor = found.summary["floor"]
    return verdict_on(float(found_floor["estimate"]), limit_name(found_floor), judged.fail_above, judged.fail_below)


def _write_text(summary: dict[str, Any]) -> None:
    from bayesfloor.report.text import render_text

    is_terminal, width = sys.stdout.isatty(), _WIDTH
    if is_terminal:
        width = min(max(os.get_terminal_size(sys.stdout.fileno()).columns, _NARROWEST), _WIDEST)
    write(render_text(summary, width, colour=is_terminal and "NO_COLOR" not in os.environ))


def _place_for(files: tuple[str, ...], out: str | None) -> Path:
    """Say where the report goes."""
    if out is None:
        first = files[0] if files else ""
        name = "stdin" if first == STDIN else Path(first.partition("::")[0]).name.split(".")[0]
        return Path(f"{name or 'table'}-report.html")
    place = Path(out)
    if place.suffix.lower() not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise UsageError(f"--out {out!r}: the ending says what to write, and must be one of {known}")
    return place


def _place_for_rows(out_rows: str | None, place: Path | None, force: bool) -> Path | None:
    """Say where the rows to look at go; not where the report does."""
    if out_rows is None:
        return None
    if place is not None and Path(out_rows).absolute() == place.absolute():
        raise UsageError(f"--out and --out-rows both name {out_rows!r}")
    return check_output(out_rows, force)


def _rows_written(summary: dict[str, Any]) -> str:
    n_rows = len(summary["suspects"]["table"]["rows"])
    if not n_rows:
        return "No row stands out; the names of the columns are"
    return "1 row to look at is" if n_rows == 1 else f"{n_rows} rows to look at are"


def _is_own_page(place: Path) -> bool:
    """Tell whether a file was made by this command, and may be replaced without being told so."""
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return _OWN_PAGE in stream.read(2000)


def _command(files: tuple[str, ...], options: TableOptions, asked: dict[str, Any]) -> str:
    """Write down what makes the same report again."""
    how_to_run = {*(field.name for field in fields(RunOptions)), "cluster"}
    asked = {name: value for name, value in asked.items() if name not in ("fail_above", "fail_below")}
    asked["effort"] = None if asked["effort"] == "default" else asked["effort"]
    named = [field.name for field in fields(options) if field.name not in how_to_run]
    given = {name: getattr(options, name) for name in named if getattr(options, name) != getattr(TABLE_DEFAULTS, name)}
    words = ["bayesfloor", "report", *files]
    for name, value in {**asked, **given, "seed": options.seed}.items():
        if value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        else:
            for each in value if isinstance(value, tuple) else (value,):
                words += [option, str(each)]
    return shlex.join(words)
