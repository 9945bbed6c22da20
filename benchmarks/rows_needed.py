"""How many rows until a model reaches a value? Asked of a tenth or a quarter of the rows, for what all of them reach.

    python benchmarks/rows_needed.py fit FOLDER [SET ...]     predictions of the stacks, kept in FOLDER
    python benchmarks/rows_needed.py table FOLDER             write benchmarks/results/rows_needed.md

The paper's 16 sets, of which at most 10 000 rows are used, less the classes with fewer than 5 of them. `learned_floor`
is run on all, on three random tenths and on one quarter. A tenth of fewer than 400 rows is too few: 400 are taken then.
A fit that is in FOLDER is not repeated. The sets are read from $BAYESFLOOR_DATA, or from shared/data beside the
repository. One thread.
"""

import argparse
import hashlib
import os
from pathlib import Path
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from bayesfloor import learned_floor
from bayesfloor.floor.learned import estimate
from bayesfloor.floor.learned.metrics import check_metrics
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.strata import PlainRows
from bayesfloor.floor.learned.summary import summarise

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data")) / "paper"
RESULTS = ROOT / "benchmarks" / "results" / "rows_needed.md"
NOTES = ROOT / "benchmarks" / "results" / "rows_needed_notes.md"

SETS = (
    *("flare", "yeast", "wine_red", "segment", "abalone", "pageblocks", "wine_white", "texture", "satimage"),
    *("optdigits", "shuttle", "nursery", "pendigits", "kr-vs-k", "letter", "fars"),
)
#: Sets of which a tenth is too few: no quarter of them is run.
SMALL = ("flare", "yeast", "wine_red", "segment")
#: Samples of each set: share of the rows, and how many.
SAMPLES = {1.0: 1, 0.1: 3, 0.25: 1}
MOST_ROWS, FEWEST_ROWS, FEWEST_OF_CLASS = 10_000, 400, 5
CONFIDENCE = 0.95
#: Metrics of the table; the first is the one that the aims are for.
METRICS = ("error", "log_loss", "roc_auc")
#: Standard errors by which all rows must do better than the sample for the number of rows to mean anything.
SURE = 2.0


def is_design(name: str) -> bool:
    """Tell whether choices were made in view of a set."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def sample_of(name: str, share: float, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows of a set."""
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    known, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], known[counts >= FEWEST_OF_CLASS])]
    if share < 1.0:
        size = max(FEWEST_ROWS, round(share * len(rows)))
        rows = np.random.default_rng(1000 + repeat).permutation(rows)[:size]
    X = X[rows]
    return X[:, X.max(axis=0) > X.min(axis=0)], y[rows]


def fit(folder: Path, name: str, share: float, repeat: int) -> None:
    """Keep the predictions that a learned floor is made of."""
    path = folder / f"{name}-{share:g}-{repeat}.npz"
    if path.exists():
        return
    caught: dict = {}

    def keep(stacks, sizes, rows, metric, **options):
        caught.update(stacks=stacks, sizes=sizes, rows=rows, **options)
        return summarise(stacks, sizes, rows, metric, **options)

    with mock.patch.object(estimate, "summarise", keep):
        floor = learned_floor(*sample_of(name, share, repeat), n_jobs=1)
    arrays = {f"log_q{place}": stack.log_q.astype(np.float32) for place, stack in enumerate(caught["stacks"])}
    if caught["clusters"] is not None:
        arrays["clusters"] = caught["clusters"]
    np.savez(
        path, sizes=caught["sizes"], codes=caught["rows"].codes, residual_z=caught["residual_z"], **arrays
    )  # fmt: skip
    print(f"{name} {share:g} {repeat}: {floor.curve}", flush=True)


def floors_of(path: Path) -> dict[str, MetricFloor]:
    """Return the floors of all metrics from the predictions that were kept."""
    with np.load(path) as kept:
        arrays = dict(kept)
    counts = np.bincount(arrays["codes"], minlength=arrays["log_q0"].shape[-1])
    stacks = [Stack(arrays[f"log_q{place}"].astype(np.float64), np.ones((5, 1))) for place in range(3)]
    rows = PlainRows(arrays["codes"], counts)
    return {
        metric.name: estimate._metric_floor(
            metric,
            summarise(
                stacks, arrays["sizes"], rows, metric, residual_z=float(arrays["residual_z"]), confidence=CONFIDENCE,
                clusters=arrays.get("clusters"),
            ),
            CONFIDENCE,
        )
        for metric in check_metrics(METRICS, None, None, np.arange(len(counts)), counts)
    }  # fmt: skip


def asked(folder: Path) -> list[dict]:
    """Ask every sample for what all rows reach."""
    records = []
    for name in SETS:
        whole = folder / f"{name}-1-0.npz"
        if not whole.exists():
            continue
        of_all = floors_of(whole)
        for share, n_repeats in SAMPLES.items():
            for repeat in range(n_repeats):
                path = folder / f"{name}-{share:g}-{repeat}.npz"
                if share == 1.0 or not path.exists():
                    continue
                for metric, floor in floors_of(path).items():
                    target = of_all[metric]
                    needed = floor.rows_for(float(np.clip(target.reached, *floor.bounds)))
                    true = float(target.curve.size[0])
                    gain = abs(floor.reached - target.reached) * (
                        1 if (target.reached > floor.reached) == floor.larger_is_better else -1
                    )
                    errors = [each.curve.covariance[0, 0] for each in (floor, target)]
                    records.append(
                        {
                            "set": name,
                            "design": is_design(name),
                            "share": share,
                            "metric": metric,
                            "train": needed.n_train,
                            "from": floor.reached,
                            "to": target.reached,
                            "is_sure": gain > SURE * sum(errors) ** 0.5,
                            "true": true,
                            "needed": needed,
                            "within": bool(0.5 <= needed.rows / true <= 2.0),
                            "holds": needed.interval[0] <= true <= needed.interval[1],
                        }
                    )
    return records


def summary_line(label: str, records: list[dict]) -> str:
    """Return a row of the table of figures."""
    if not records:
        return f"| {label} | 0 | – | – | – | – |"
    share = {name: sum(each[name] for each in records) for name in ("within", "holds")}
    n, open_ended = len(records), sum(np.isinf(each["needed"].interval[1]) for each in records)
    early = sum(each["needed"].interval[1] < each["true"] for each in records)
    cells = [f"{100 * count / n:.0f}%" for count in (share["within"], share["holds"], early, open_ended)]
    return f"| {label} | {n} | {' | '.join(cells)} |"


def write_table(folder: Path) -> None:
    """Write the page."""
    records = asked(folder)
    lines = [
        "# How many rows until a model reaches a value",
        "",
        "Made by `python benchmarks/rows_needed.py fit FOLDER` and `… table FOLDER`. Each sample is asked for what the",
        "same stack reaches with all rows (at most 10 000).",
        "",
        NOTES.read_text().strip(),
        "",
        "*within 2*: the number is right within a factor of 2. *holds*: the 95% interval holds it. *too early*: the",
        "interval ends before it. *open*: the interval has no end within 100 times the rows. A fall is *sure* where",
        f"all rows do better than the sample by more than {SURE:g} standard errors; where it is not, no number of rows",
        "can be told from another.",
        "",
        "| samples | n | within 2 | holds | too early | open |",
        "|---|---|---|---|---|---|",
    ]
    for metric in METRICS:
        of_metric = [each for each in records if each["metric"] == metric]
        for half, is_half in (("design", True), ("held-out", False)):
            for share, name in ((0.1, "a tenth"), (0.25, "a quarter")):
                chosen = [each for each in of_metric if each["design"] == is_half and each["share"] == share]
                lines.append(summary_line(f"{metric}, {half} sets, {name}", chosen))
                sure = [each for each in chosen if each["is_sure"]]
                lines.append(summary_line(f"{metric}, {half} sets, {name}, sure falls", sure))
        lines.append(summary_line(f"**{metric}, all**", of_metric))
    lines += ["", "The error, sample by sample:", ""]
    lines += ["| set | half | share | trained on | error | asked for | rows in fact | rows | interval | verdict |"]
    lines += ["|---|---|---|---|---|---|---|---|---|---|"]
    for each in records:
        if each["metric"] == "error":
            needed = each["needed"]
            low, high = needed.interval
            half = "design" if each["design"] else "held-out"
            lines.append(
                f"| {each['set']} | {half} | {each['share']:g} | {each['train']:.0f} | {each['from']:.4f} | "
                f"{each['to']:.4f} | {each['true']:.0f} | {needed.rows:.0f} | {low:.0f} to {high:.0f} | "
                f"{needed.verdict} |"
            )
    RESULTS.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["fit", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    if options.command == "table":
        write_table(options.folder)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        for share, n_repeats in SAMPLES.items():
            for repeat in range(0 if name in SMALL and share == 0.25 else n_repeats):
                fit(options.folder, name, share, repeat)


if __name__ == "__main__":
    main()
