"""The page of large_tables.py: python -m benchmarks.speed.large_tables table."""

from typing import Any

from benchmarks.tools.pages import as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record

INTRODUCTION = """\
# Tables of up to ten million rows

`python -m benchmarks.speed.large_tables`, whose docstring says what is measured and how; {machine}. Records are in
large_tables.jsonl. Memory is that of the process that calls; with a cluster, that of the largest worker and of all
processes at one time follow."""
PARTS = {
    "floor": """\
## The learned floor

Of a folder of Parquet files. *Truth* is the known floor of the error; *covers* tells whether the range holds it.
*Reached* is the error of the stack on rows that it was not trained on.""",
    "boosting": """\
## Boosting on all rows

LightGBM, its error and log-loss on fresh rows by the known probabilities; on covertype by their labels.""",
    "read": "## Reading\n\nInto one prepared table in memory.",
    "models": "## Models\n\nWritten by `bayesfloor fit`.",
    "forests": "## Spanning forests\n\nThree exact trees of the points of a file.",
    "rounds": """\
## Messages

Seconds of a round of boosting of 64 000 rows in 16 parts, two training sets at a time: what is left is mostly to ask
workers and to hear them.""",
    "report": """\
## A report

Of a file, by the command line. *Times its numbers* is the memory as a multiple of the values of the table in
float64.""",
}


def _figure(value: Any, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _memory(record: Record) -> str:
    if not record["cluster"]:
        return f"{record['peak_mib']:.0f}"
    return f"{record['peak_mib']:.0f}, {record['largest_other_mib']:.0f}, {record['all_mib']:.0f}"


def _where(record: Record) -> str:
    if not record["cluster"]:
        return f"{record['threads']} threads" if record["threads"] > 1 else "1 thread"
    limit = f" of {record['memory_limit']}" if record["memory_limit"] else ""
    killed = ", one killed" if record.get("killed") else ""
    return f"{record['cluster']} workers{limit}{killed}"


def _taken(record: Record) -> list[str]:
    per_row = f"{1e6 * record['cpu_seconds'] / record['n_rows']:.1f}"
    return [f"{record['seconds']:.1f}", f"{record['cpu_seconds']:.1f}", per_row, _memory(record)]


def _rows(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


JUDGED = ("truth", "reached", "log_loss")
TAKEN = ["seconds", "CPU s", "CPU µs a row", "peak MiB"]


def floor_table(records: list[Record]) -> str:
    """Return the table of floors."""
    rows = []
    for each in records:
        truth, (low, high) = each.get("truth"), each["interval"]
        covers = "" if truth is None else "yes" if low <= truth <= high else "no"
        figures = [_figure(truth), _figure(each["estimate"]), f"{low:.4f} to {high:.4f}", covers]
        name = f"{each['table']}, {each['n_columns']} columns"
        rows.append([name, _rows(each["n_rows"]), _rows(each["n_rows_used"]), _where(each), *_taken(each)])
        rows[-1] += [*figures, _figure(each["reached"])]
    heads = ["table", "rows", "used", "on", *TAKEN, "truth", "estimate", "range", "covers", "reached"]
    return as_table(heads, rows)


def boosting_table(records: list[Record]) -> str:
    """Return the table of LightGBM."""
    rows = [
        [each["table"], _rows(each["n_rows"]), *_taken(each), *(_figure(each.get(name)) for name in JUDGED)]
        for each in records
    ]
    return as_table(["table", "rows", *TAKEN, "truth", "error", "log-loss"], rows)


def plain_table(records: list[Record]) -> str:
    """Return the table of work that is only timed."""
    rows = []
    for each in records:
        about = [each["what"], f"{each['table']}, {each['n_columns']} columns", _rows(each["n_rows"]), _where(each)]
        rows.append([*about, *_taken(each)])
    return as_table(["what", "table", "rows", "on", *TAKEN], rows)


def numbers_table(records: list[Record]) -> str:
    """Return the table of reports, with the numbers of each table beside the memory."""
    rows = []
    for each in records:
        numbers = 8 * each["n_rows"] * each["n_columns"] / 2**20
        about = [f"{each['table']}, {each['n_columns']} columns", _rows(each["n_rows"]), _where(each)]
        rows.append([*about, *_taken(each), f"{numbers:.1f}", f"{each['peak_mib'] / numbers:.1f}"])
    return as_table(["table", "rows", "on", *TAKEN, "MiB of its numbers", "times its numbers"], rows)


def rounds_table(records: list[Record]) -> str:
    """Return the table of rounds of boosting."""
    rows = [[_where(each), f"{1e3 * each['seconds_a_round']:.0f}"] for each in records]
    return as_table(["on", "ms a round"], rows)


def write_table(records: list[Record]) -> None:
    """Write the page."""
    order = sorted(records, key=lambda each: (each["table"], each["n_columns"], each["n_rows"], each["cluster"]))
    of = {
        what: [each for each in order if each["what"] == what]
        for what in ("floor", "report", "landmarks", "stack", "smartsvm", "boosting", "forests", "read", "rounds")
    }
    models = [*of["landmarks"], *of["stack"], *of["smartsvm"]]
    tables = {
        "floor": (of["floor"], floor_table),
        "boosting": (of["boosting"], boosting_table),
        "read": (of["read"], plain_table),
        "models": (models, plain_table),
        "forests": (of["forests"], plain_table),
        "rounds": (of["rounds"], rounds_table),
        "report": (of["report"], numbers_table),
    }
    parts = [text for name, (own, table) in tables.items() if own for text in (PARTS[name], table(own))]
    write_page(
        "large_tables",
        INTRODUCTION.format(machine=this_machine()),
        notes_of("large_tables"),
        *parts,
    )
