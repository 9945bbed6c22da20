"""How many rows until a model reaches a value? Asked of a tenth or a quarter of the rows, for what all of them reach.

    python -m benchmarks.real.rows_needed run [SET ...]     record each sample in benchmarks/results/rows_needed.jsonl
    python -m benchmarks.real.rows_needed table             write benchmarks/results/rows_needed.md

The paper's 16 sets, of which at most 10 000 rows are used, less the classes with fewer than 5 of them. `learned_floor`
is run on all, on three random tenths and on one quarter. A tenth of fewer than 400 rows is too few: 400 are taken then.
A sample that is recorded is not run again. The sets are read from $BAYESFLOOR_DATA, or from shared/data beside the
repository. One thread.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from bayesfloor import learned_floor
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "rows_needed.jsonl"
SETS = (
    *("flare", "yeast", "wine_red", "segment", "abalone", "pageblocks", "wine_white", "texture", "satimage"),
    *("optdigits", "shuttle", "nursery", "pendigits", "kr-vs-k", "letter", "fars"),
)
#: Sets of which a tenth is too few: no quarter of them is run.
SMALL = ("flare", "yeast", "wine_red", "segment")
#: Samples of each set: share of the rows, and how many.
SAMPLES = {1.0: 1, 0.1: 3, 0.25: 1}
MOST_ROWS, FEWEST_ROWS, FEWEST_OF_CLASS = 10_000, 400, 5
#: Metrics of the table; the first is the one that the aims are for.
METRICS = ("error", "log_loss", "roc_auc")
#: Standard errors by which all rows must do better than the sample for the number of rows to mean anything.
SURE = 2.0


def is_design(name: str) -> bool:
    """Tell whether choices were made in view of a set."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def sample_of(name: str, share: float, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows of a set."""
    X, y = stored_set(f"paper/{name}")
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    known, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], known[counts >= FEWEST_OF_CLASS])]
    if share < 1.0:
        size = max(FEWEST_ROWS, round(share * len(rows)))
        rows = np.random.default_rng(1000 + repeat).permutation(rows)[:size]
    X = X[rows]
    return X[:, X.max(axis=0) > X.min(axis=0)], y[rows].astype(np.int64)


def measure(name: str, share: float, repeat: int, whole: dict[str, Any] | None) -> dict[str, Any]:
    """Estimate a sample; with the record of all rows, ask for what they reach."""
    floor = learned_floor(*sample_of(name, share, repeat), metric=METRICS, n_jobs=1)
    record: dict[str, Any] = {"set": name, "share": share, "repeat": repeat, "metrics": {}}
    for metric, found in floor.metrics.items():
        own = {"reached": found.reached, "train": float(found.curve.size[0])}
        own |= {"variance": float(found.curve.covariance[0, 0]), "larger_is_better": found.larger_is_better}
        if whole is not None:
            needed = found.rows_for(float(np.clip(whole["metrics"][metric]["reached"], *found.bounds)))
            own |= {"rows": float(needed.rows), "interval": [float(end) for end in needed.interval]}
            own |= {"trained_on": float(needed.n_train), "verdict": str(needed.verdict)}
        record["metrics"][metric] = own
    return record


def run(sets: Sequence[str]) -> None:
    """Measure what is not recorded: all rows of a set first."""
    done = {(record["set"], record["share"], record["repeat"]): record for record in read_records(RECORDS)}
    for name in sets:
        for share, n_repeats in SAMPLES.items():
            for repeat in range(0 if name in SMALL and share == 0.25 else n_repeats):
                if (name, share, repeat) not in done:
                    whole = None if share == 1.0 else done[name, 1.0, 0]
                    done[name, share, repeat] = measure(name, share, repeat, whole)
                    append_record(RECORDS, done[name, share, repeat])
                    print(name, share, repeat, done[name, share, repeat]["metrics"], flush=True)


def asked() -> list[dict]:
    """Return what every sample said when it was asked for what all rows reach."""
    records = read_records(RECORDS)
    of_all = {record["set"]: record["metrics"] for record in records if record["share"] == 1.0}
    found = []
    for record in (record for record in records if record["share"] < 1.0):
        for metric, own in record["metrics"].items():
            whole = of_all[record["set"]][metric]
            better = 1 if own["larger_is_better"] else -1
            gain, true = better * (whole["reached"] - own["reached"]), whole["train"]
            low, high = own["interval"]
            found.append(
                {
                    "set": record["set"],
                    "design": is_design(record["set"]),
                    "share": record["share"],
                    "metric": metric,
                    "from": own["reached"],
                    "to": whole["reached"],
                    "is_sure": gain > SURE * (own["variance"] + whole["variance"]) ** 0.5,
                    "true": true,
                    "within": 0.5 <= own["rows"] / true <= 2.0,
                    "holds": low <= true <= high,
                    **{key: own[key] for key in ("rows", "interval", "trained_on", "verdict")},
                }
            )
    return found


def summary_cells(label: str, records: list[dict]) -> list[Any]:
    """Return a row of the table of figures."""
    n = len(records)
    if not n:
        return [label, 0, "–", "–", "–", "–"]
    open_ended = sum(np.isinf(each["interval"][1]) for each in records)
    early = sum(each["interval"][1] < each["true"] for each in records)
    counts = (*(sum(each[key] for each in records) for key in ("within", "holds")), early, open_ended)
    return [label, n, *(f"{100 * count / n:.0f}%" for count in counts)]


def write_table() -> None:
    """Write the page."""
    records = asked()
    rows = []
    for metric in METRICS:
        of_metric = [each for each in records if each["metric"] == metric]
        for half in HALVES:
            for share, name in ((0.1, "a tenth"), (0.25, "a quarter")):
                is_half = half == "design"
                chosen = [each for each in of_metric if each["design"] == is_half and each["share"] == share]
                sure = [each for each in chosen if each["is_sure"]]
                rows.append(summary_cells(f"{metric}, {half} sets, {name}", chosen))
                rows.append(summary_cells(f"{metric}, {half} sets, {name}, sure falls", sure))
        rows.append(summary_cells(f"**{metric}, all**", of_metric))
    samples = []
    for each in (each for each in records if each["metric"] == "error"):
        low, high = each["interval"]
        row = [each["set"], "design" if each["design"] else "held-out", f"{each['share']:g}"]
        row += [f"{each['trained_on']:.0f}", f"{each['from']:.4f}", f"{each['to']:.4f}", f"{each['true']:.0f}"]
        samples.append([*row, f"{each['rows']:.0f}", f"{low:.0f} to {high:.0f}", each["verdict"]])
    heads = ["set", "half", "share", "trained on", "error", "asked for", "rows in fact", "rows", "interval", "verdict"]
    write_page(
        "rows_needed",
        "# How many rows until a model reaches a value",
        "Made by `python -m benchmarks.real.rows_needed run` and `… table`. Each sample is asked for what the same "
        "stack reaches with all rows (at most 10 000).",
        notes_of("rows_needed"),
        "*within 2*: the number is right within a factor of 2. *holds*: the 95% interval holds it. *too early*: the "
        "interval ends before it. *open*: the interval has no end within 100 times the rows. A fall is *sure* where "
        f"all rows do better than the sample by more than {SURE:g} standard errors; where it is not, no number of rows "
        "can be told from another.",
        as_table(["samples", "n", "within 2", "holds", "too early", "open"], rows),
        "The error, sample by sample:",
        as_table(heads, samples),
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    options = parser.parse_args()
    if options.command == "table":
        write_table()
    else:
        run(options.sets or SETS)


if __name__ == "__main__":
    main()
