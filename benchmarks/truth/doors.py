"""Does every function that shows a figure say what the report says?

    python -m benchmarks.truth.doors run [--workers 2]
    python -m benchmarks.truth.doors table            write benchmarks/results/doors.md

Twelve tables of trust.py in which rows belong together or follow each other in time, four with a leak, and twelve clean
ones. The report, learned_floor or regression_floor (of a frame, of a CSV file and of arrays), floor_gap of a plain
forest, a stack's `fit`, `compare_features` and `bayesfloor fit` are asked. Figures are what each shows first, and the
honest one where it differs; *named* is whether the first line names what was planted. Models are a few quick families,
so that figures are comparable between doors, and not the best that can be had. Arrays have no names, and numbers that
repeat may be ids or counts: rows of one are taken to belong together where they stand together, which they do not in
these tables. Each table is recorded in benchmarks/results/doors.jsonl.
"""

import contextlib
import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import bayesfloor as bf
from bayesfloor.cli import main
from bayesfloor.exceptions import TrustWarning
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.trust import CLEAN, table_of

RECORDS = RESULTS / "doors.jsonl"
APART = ("patients", "machines", "stores", "routes", "students", "households", "turning_days", "turning_years")
APART += ("turning_dates_of_numbers", "rising_dates_of_numbers", "turning_hours", "rising_years_of_numbers")
LEAKS = ("copied_label", "logarithm", "telling_id", "other_unit")
NOTHING = tuple(name for name in CLEAN["design"] if not name.startswith(("sorted", "easy", "town", "gaps")))[:12]
#: Quick families, of which nearest rows know a group again.
FAMILIES = {"classification": ["neighbours", "gaussian", "trees"], "regression": ["neighbours", "linear", "trees"]}


def doors(table: pd.DataFrame, target: str, task: str, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each door with a call that returns its first line, its figure, and the honest one."""
    is_number = task == "regression"
    floor_of: Any = bf.regression_floor if is_number else bf.learned_floor
    how = {"learners": FAMILIES[task], "n_jobs": 1}
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    X, y = table.drop(columns=target), table[target]
    numbers = X.select_dtypes("number")

    def of_floor(*given: Any) -> tuple[str, float, float]:
        found = floor_of(*given, **how)
        return repr(found), found.reached, found.honest.reached

    def of_report() -> tuple[str, float, float]:
        found = bf.difficulty_report(table, target, effort="fast", n_jobs=1)
        as_asked, reached = found.verdict.as_asked, found.learned.reached
        return found.verdict.trust_sentence, reached if as_asked is None else as_asked.reached, reached

    def of_gap() -> tuple[str, float, float]:
        forest = (RandomForestRegressor if is_number else RandomForestClassifier)(
            50, min_samples_leaf=3, random_state=0
        )
        found = bf.floor_gap(forest, numbers, y, **how)
        return found.sentence(), found.value, found.learned.honest.reached

    def of_fit() -> tuple[str, float, float]:
        model = (bf.StackedRegressor if is_number else bf.StackedClassifier)(**how).fit(X, y)
        return (
            model.floor_.sentence(),
            model.floor_.reached,
            model.held_out_.metrics["r2" if is_number else "error"].value,
        )

    def of_comparison() -> tuple[str, float, float]:
        found = bf.compare_features({"all": "passthrough", "first": [str(X.columns[0])]}, target, X=table, **how)
        reached = found.features[[each.name for each in found.features].index("all")].reached
        return found.sentence(), reached, reached

    def of_command() -> tuple[str, float, float]:
        out, err = io.StringIO(), io.StringIO()
        call = f"fit {path} --target {target} --out {folder / 'model.skops'} --json --threads 1"
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(call.split())

        result = json.loads(out.getvalue())["result"]
        value = result["held_out_r2" if is_number else "held_out_error"]
        return err.getvalue(), value, value

    yield "report", of_report
    yield "floor of a frame", lambda: of_floor(table, target)
    yield "floor of a file", lambda: of_floor(str(path), target)
    if numbers.notna().all(axis=None):
        yield "floor of arrays", lambda: of_floor(numbers.to_numpy(float), y.to_numpy())
        yield "gap of a forest", of_gap
    yield "fit of a stack", of_fit
    yield "compare", of_comparison
    yield "bayesfloor fit", of_command


def measure(name: str) -> dict:
    """Ask every door for one table."""
    table, target, columns = table_of(name)
    task = "regression" if table[target].dtype.kind == "f" and table[target].nunique() > 20 else "classification"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for door, call in doors(table, target, task, Path(folder)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                said, shown, honest = call()
            # arrays have no names: a column is the x and its place
            places = {
                f"x{place}"
                for place, each in enumerate(table.drop(columns=target).select_dtypes("number"))
                if each in columns
            }
            of_numbers = set(columns) <= set(table.select_dtypes("number").columns)
            wanted = places if door == "floor of arrays" else set(columns)
            found[door] = {
                "shown": round(float(shown), 4),
                "honest": round(float(honest), 4),
                "is_named": all(f"'{each}'" in said or f'"{each}"' in said for each in wanted) if columns else None,
                "can_be_named": of_numbers or door not in ("floor of arrays", "gap of a forest"),
                "is_alarm": any(issubclass(each.category, TrustWarning) for each in caught),
                "said": said[:200],
            }
    return {"name": name, "planted": list(columns), "task": task, "doors": found}


def run(workers: int) -> None:
    """Measure the tables that were not measured yet."""
    done = {record["name"] for record in read_records(RECORDS)}
    measure_all(measure, [(name,) for name in (*APART, *LEAKS, *NOTHING) if name not in done], RECORDS, workers)


def write_table() -> None:
    """Write the page."""
    records = read_records(RECORDS)
    order = {name: place for place, name in enumerate((*APART, *LEAKS, *NOTHING))}
    records.sort(key=lambda record: order[record["name"]])
    names = list(dict.fromkeys(door for record in records for door in record["doors"]))
    counts = []
    for door in names:
        own = [(record, record["doors"][door]) for record in records if door in record["doors"]]
        planted = [each["is_named"] for record, each in own if record["planted"] and each["can_be_named"]]
        alarms = [each["is_alarm"] for record, each in own if not record["planted"]]
        counts.append((door, f"{sum(planted)} of {len(planted)}", f"{sum(alarms)} of {len(alarms)}"))
    rows = []
    for record in records:
        cells = []
        for door in names:
            each = record["doors"].get(door)
            if each is None:
                cells.append("–")
                continue
            figure = f"{each['shown']:.3f}"
            if each["honest"] != each["shown"]:
                figure += f" → {each['honest']:.3f}"
            is_silent = record["planted"] and each["can_be_named"] and not each["is_named"]
            cells.append(f"**{figure}**" if is_silent or (each["is_alarm"] and not record["planted"]) else figure)
        rows.append((record["name"], ", ".join(record["planted"]) or "–", *cells))
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    about += (
        " In the table of figures, bold is a door that names nothing, or a false alarm; an arrow leads to `honest`."
    )
    heads = as_table(("door", "planted and named in the first line", "false alarms"), counts)
    write_page("doors", "# Every door", about, heads, as_table(("table", "planted", *names), rows))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.workers)
    else:
        write_table()
