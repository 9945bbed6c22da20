"""The page of large_tables.py, and the model of cost that is fitted to what it measured.

    python -m benchmarks.speed.large_tables fit
    python -m benchmarks.speed.large_tables table       the constants and the last table go into docs/scale.md too

`fit` finds the constants of ``src/bayesfloor/cli/cost_model.py`` by least squares of relative deviations, none below 0,
from the records without a cluster, and writes them between the two marks of that file. What messages cost is fitted to
rounds of boosting of few rows, on clusters of some sizes.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from bayesfloor.cli import cost_model
from bayesfloor.cli.cost_model import Size, memory_of, seconds_of, values_trained
from bayesfloor.cli.plans import shown_seconds
from bayesfloor.floor.learned.large_tables import MANY_ROWS
from benchmarks.tools.pages import ROOT, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record

MODEL = Path(cost_model.__file__)
GUIDE = ROOT / "docs" / "scale.md"
SHOWN = re.compile(r"(?<=<!-- large tables: begin -->\n).*?(?=<!-- large tables: end -->)", flags=re.DOTALL)
FITTED = re.compile(r"(?<=# fitted: begin\n).*?(?=# fitted: end)", flags=re.DOTALL)
#: Work whose seconds are modelled, in the order of the file.
METHODS = ("floor", "disk", "report", "landmarks", "stack", "smartsvm")
#: What the model says of tables that nobody has measured: rows, columns, classes, workers.
FAR = [(10**7, 20, 3, 2), (10**8, 20, 3, 16), (10**9, 20, 3, 100)]
INTRODUCTION = """\
# Tables of up to ten million rows

`python -m benchmarks.speed.large_tables`, whose docstring says what is measured and how; {machine}. Records are in
large_tables.jsonl. Memory is that of the process that calls; with a cluster, that of the largest worker and of all
processes at one time follow."""
FAR_TABLES = """\
Said by the model alone: a floor of all rows by the workers of a cluster, each with one core like those measured here.
*One process reads* is what `learned_floor` does: it makes the rows ready, and workers train. *If workers read* is what
it would take if they made the rows ready too. *Messages* are part of both, by what workers on the same two cores took
to answer; that it grows with the workers as it does from {fewest} to {most} of them is assumed. Disks, and the bytes
that travel between machines, are left out.{measured}"""
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


def size_of(record: Record) -> Size:
    """Return what a measurement was about."""
    form = "text" if record["table"] == "numbers" else "binary"
    n_classes = record.get("n_classes", 2 if form == "text" else 3)
    used = 0 if record["what"] == "read" else record.get("n_rows_used", record["n_rows"])
    return Size(record["n_rows"], record["n_columns"], used, n_classes, form)


def method_of(record: Record) -> str:
    """Return what the model calls some work: a floor of many rows is one of rows on disk."""
    return "disk" if record["what"] == "floor" and record["n_rows"] >= MANY_ROWS else record["what"]


def modelled(records: list[Record], method: str) -> list[Record]:
    """Return the measurements of some work that the model is fitted to."""
    return [
        each for each in records if method_of(each) == method and not each["cluster"] and each["effort"] == "default"
    ]


def least_squares(terms: list[list[float]], measured: list[float]) -> list[float]:
    """Return the factors of some terms that add up to what was measured, with relative deviations, none below 0."""
    scaled = np.array(terms) / np.array(measured)[:, np.newaxis]
    return [float(f"{value:.3g}") for value in nnls(scaled, np.ones(len(measured)))[0]]


def fit(records: list[Record]) -> None:
    """Fit the model, and write its constants into the module that has them."""
    reading: dict[str, float] = {}
    read_bytes: dict[str, float] = {}
    for form in cost_model.READ_S:
        runs = [each for each in modelled(records, "read") if size_of(each).form == form]
        if len(runs) < 2:
            raise SystemExit(f"the time to read {form} tables needs two measurements: large_tables read")
        terms = [[1.0, size_of(each).n_rows * size_of(each).n_columns] for each in runs]
        reading[form] = least_squares(terms, [each["cpu_seconds"] for each in runs])[1]
        read_bytes[form] = least_squares(terms, [2**20 * each["peak_mib"] for each in runs])[1]
    lines = ["COSTS = {\n"]
    for what in METHODS:
        runs = modelled(records, what)
        if len(runs) < 2:
            raise SystemExit(f"{what} needs two measurements or more")
        sizes = [size_of(each) for each in runs]
        read = [reading[size.form] * size.n_rows * size.n_columns for size in sizes]
        measured = [max(each["cpu_seconds"] - own, 0.1) for each, own in zip(runs, read, strict=True)]
        start, small, many = least_squares([[1.0, *values_trained(size, what)] for size in sizes], measured)
        lines.append(f'    "{what}": Cost(start_s={start!r}, small_s={small!r}, many_s={many!r}),\n')
    lines.append("}\n")
    lines.append(f'READ_S = {{"binary": {reading["binary"]!r}, "text": {reading["text"]!r}}}\n')
    lines.append(f'READ_BYTES = {{"binary": {read_bytes["binary"]!r}, "text": {read_bytes["text"]!r}}}\n')
    runs = [each for what in METHODS if what != "disk" for each in modelled(records, what)]
    sizes = [size_of(each) for each in runs]
    own = [read_bytes[size.form] * size.n_rows * size.n_columns for size in sizes]
    measured = [max(2**20 * each["peak_mib"] - less, 2.0**20) for each, less in zip(runs, own, strict=True)]
    program, used = least_squares([[1.0, size.n_used * size.n_columns] for size in sizes], measured)
    lines.append(f"MEMORY = Memory(program={program!r}, used={used!r})\n")
    on_disk = max(2**20 * each["peak_mib"] for each in modelled(records, "disk"))
    lines.append(f"DISK_BYTES = {float(f'{on_disk:.3g}')!r}\n")
    on_cluster = [each for each in records if each["cluster"]]
    of_workers = [2**20 * each["largest_other_mib"] for each in on_cluster if method_of(each) == "disk"]
    rounds = [each for each in on_cluster if each["what"] == "rounds"]
    if len(rounds) < 2 or not of_workers:
        raise SystemExit("messages need rounds on two clusters, and workers a floor of rows on disk")
    lines.append(f"DISK_WORKER_BYTES = {float(f'{max(of_workers):.3g}')!r}\n")
    terms = [[1.0, each["cluster"]] for each in rounds]
    ask_s, each_s = least_squares(terms, [each["seconds_a_round"] for each in rounds])
    lines.append(f"MESSAGES = Messages(ask_s={ask_s!r}, each_s={each_s!r})\n")
    text = MODEL.read_text(encoding="utf-8")
    MODEL.write_text(FITTED.sub(lambda _: "".join(lines), text), encoding="utf-8")
    print("".join(lines), end="")


# --- the page


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


def modelled_memory(method: str, size: Size) -> float:
    """Return the bytes that the model says; a floor of rows on disk, called from Python, holds no table besides."""
    return cost_model.DISK_BYTES if method == "disk" else memory_of(size)


def model_table(records: list[Record]) -> str:
    """Return what the model says beside what was measured."""
    rows = []
    for what in METHODS:
        for each in modelled(records, what):
            size = size_of(each)
            figures = [f"{seconds_of(what, size).of_cores:.1f}", f"{each['cpu_seconds']:.1f}"]
            figures += [f"{modelled_memory(what, size) / 2**20:.0f}", f"{each['peak_mib']:.0f}"]
            rows.append([what, each["table"], _rows(each["n_rows"]), each["n_columns"], *figures])
    heads = ["what", "table", "rows", "columns", "CPU s, model", "measured", "MiB, model", "measured"]
    return as_table(heads, rows)


def deviations(records: list[Record]) -> str:
    """Say how far the model is from what was measured."""
    runs = [(each, what, size_of(each)) for what in METHODS for each in modelled(records, what)]
    seconds = [each["cpu_seconds"] / seconds_of(what, size).of_cores for each, what, size in runs]
    memory = [2**20 * each["peak_mib"] / modelled_memory(what, size) for each, what, size in runs]
    return (
        f"CPU seconds were {min(seconds):.2f} to {max(seconds):.2f} times what the model says, and memory "
        f"{min(memory):.2f} to {max(memory):.2f} times."
    )


def far_table() -> str:
    """Return what the model says of larger tables and more workers."""
    rows = []
    for n_rows, n_columns, n_classes, n_workers in FAR:
        seconds = seconds_of("disk", Size(n_rows, n_columns, n_rows, n_classes))
        start = cost_model.COSTS["disk"].start_s
        by_the_clock = seconds.by_the_clock(n_workers, is_cluster=True)
        messages = by_the_clock - seconds.by_the_clock(n_workers)
        by_workers = start + (seconds.of_cores - start) / n_workers + messages
        times = [shown_seconds(each) for each in (by_the_clock, by_workers, messages, seconds.of_cores)]
        rows.append([_rows(n_rows), n_columns, n_classes, n_workers, *times])
    heads = ["rows", "columns", "classes", "workers", "one process reads", "if workers read", "messages", "CPU time"]
    return as_table(heads, rows)


def far_text(records: list[Record]) -> str:
    """Say what the table of larger tables is, and what was measured of it."""
    sizes = [each["cluster"] for each in records if each["what"] == "rounds" and each["cluster"]]
    measured = ""
    for each in (each for each in records if each["cluster"] and method_of(each) == "disk"):
        by_model = seconds_of("disk", size_of(each)).by_the_clock(each["cluster"], is_cluster=True)
        measured += (
            f" Measured: {_rows(each['n_rows'])} rows of {each['n_columns']} columns on {_where(each)}, took "
            f"{shown_seconds(each['seconds'])}, where the model says {shown_seconds(by_model)}."
        )
    return FAR_TABLES.format(fewest=min(sizes), most=max(sizes), measured=measured)


def constants_table() -> str:
    """Return the constants of the model."""
    costs = [
        [what, f"{cost.start_s:.3g} s", f"{1e6 * cost.small_s:.3g} µs", f"{1e6 * cost.many_s:.3g} µs"]
        for what, cost in cost_model.COSTS.items()
    ]
    reading = [
        [f"{form} table", f"{1e6 * cost_model.READ_S[form]:.3g} µs", f"{cost_model.READ_BYTES[form]:.0f} bytes"]
        for form in cost_model.READ_S
    ]
    memory = cost_model.MEMORY
    program = f"{memory.program / 2**20:.0f} MiB for the program, and {memory.used:.0f} bytes for each value used."
    heads = ["what", "start", "a value of the first 10 000 rows used", "a value of the others"]
    tables = as_table(heads, costs), as_table(["reading", "time of a value", "memory of a value"], reading)
    messages = cost_model.MESSAGES
    asked = (
        f"On a cluster, each of {cost_model.DISK_ROUNDS} rounds of boosting takes {1e3 * messages.ask_s:.0f} ms and "
        f"{1e3 * messages.each_s:.0f} ms for each worker besides."
    )
    return "\n\n".join([*tables, f"Memory: {program}", asked])


def write_table(records: list[Record]) -> None:
    """Write the page."""
    order = sorted(records, key=lambda each: (each["table"], each["n_columns"], each["n_rows"], each["cluster"]))
    of = {
        what: [each for each in order if each["what"] == what]
        for what in (*METHODS, "boosting", "forests", "read", "rounds")
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
        "## The model of cost\n\nIn src/bayesfloor/cli/cost_model.py, fitted to the records without a cluster.",
        constants_table(),
        deviations(order),
        model_table(order),
        far_text(order),
        far_table(),
    )
    shown = "\n" + "\n\n".join([constants_table(), deviations(order), far_text(order), far_table(), ""])
    GUIDE.write_text(SHOWN.sub(lambda _: shown, GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
