"""`bayesfloor fit` and `predict` of numbers on real tables, beside scikit-learn's gradient boosting.

    python -m benchmarks.real.fit_numbers run [SET ...] [--islp FOLDER]     measure what is not recorded yet
    python -m benchmarks.real.fit_numbers table                             write benchmarks/results/fit_numbers.md

The tables are those of `regression_real.py`. Each is cut five times into three quarters to fit on and a quarter to
predict, at random. The commands get CSV files, and no option but the target and the task. Boosting is
HistGradientBoostingRegressor as it comes, with text columns as categories; its intervals are those of two fits of the
5% and the 95% quantile. *Inside* is the share of the quarter whose number lies in its 90% interval, *width* the mean
width as a share of the deviation of the number. Seconds are by the clock, of reading, fitting and predicting with the
commands, and of fitting and predicting with boosting, on one thread.
"""

import contextlib
import csv
import io
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split

from bayesfloor.cli import main
from benchmarks.real.regression_real import SETS
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "fit_numbers.jsonl"
N_SPLITS, CONFIDENCE = 5, 0.9
#: What the target is called in the files.
TARGET = "the number"


def call(*words: Any) -> None:
    """Run a command, and fail where it fails."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        if code := main([*map(str, words), "--threads", "1"]):
            raise RuntimeError(f"{words[0]} exits with {code}: {said.getvalue()}")


def by_commands(train: pd.DataFrame, test: pd.DataFrame, folder: Path) -> np.ndarray:
    """Return predictions, and lower and upper ends, as 'bayesfloor predict' writes them."""
    train.to_csv(folder / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(folder / "test.csv", index=False)
    model, out = folder / "model.skops", folder / "predicted.csv"
    options = "--target", TARGET, "--task", "regression", "--force"
    call("fit", folder / "train.csv", "--out", model, *options)
    call("predict", model, folder / "test.csv", "--confidence", CONFIDENCE, "--out", out, "--force")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[name]) for name in ("predicted", "low", "high")] for row in rows])


def by_boosting(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Return the same of boosting, and the seconds of its predictions alone."""

    def fit(**how: Any) -> np.ndarray:
        model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0, **how)
        return model.fit(train.drop(columns=TARGET), train[TARGET]).predict(test.drop(columns=TARGET))

    seconds, _, predicted = timed(fit)
    tail = (1.0 - CONFIDENCE) / 2.0
    ends = [fit(loss="quantile", quantile=level) for level in (tail, 1.0 - tail)]
    return np.column_stack([predicted, *ends]), seconds


def judged(found: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return R², RMSE, the share inside the intervals and their width."""
    predicted, low, high = found.T
    return {
        "r2": float(r2_score(y, predicted)),
        "rmse": float(root_mean_squared_error(y, predicted)),
        "inside": float(np.mean((low <= y) & (y <= high))),
        "width": float(np.mean(high - low) / y.std()),
    }


def measure(name: str, islp: Path | None) -> dict[str, Any]:
    """Return figures of a table for each split."""
    X, y = SETS[name](islp)
    frame = X.assign(**{TARGET: y})
    categories = dict.fromkeys(X.select_dtypes(exclude="number"), "category")
    record: dict[str, Any] = {"set": name, "n": len(y), "d": X.shape[1], "landmarks": [], "boosting": []}
    for seed in range(N_SPLITS):
        train, test = train_test_split(frame, test_size=0.25, random_state=seed)
        y_test = test[TARGET].to_numpy()
        with tempfile.TemporaryDirectory() as folder:
            seconds, _, found = timed(partial(by_commands, train, test, Path(folder)))
        record["landmarks"].append(judged(found, y_test) | {"seconds": seconds})
        typed = frame.astype(categories)
        found, seconds = by_boosting(typed.loc[train.index], typed.loc[test.index])
        record["boosting"].append(judged(found, y_test) | {"seconds": seconds})
    return record


def run(names: list[str], islp: Path | None) -> None:
    """Measure the sets that were not measured yet."""
    done = {record["set"] for record in read_records(RECORDS)}
    measure_all(measure, [(name, islp) for name in names if name not in done], RECORDS, 1)


def means_of(splits: list[dict[str, float]]) -> pd.Series:
    """Return means over splits, but the median of the seconds: the first of all loads and compiles code."""
    frame = pd.DataFrame(splits)
    return pd.Series(frame.mean().to_dict() | {"seconds": frame["seconds"].median()})


def write_table(records: list[dict[str, Any]]) -> None:
    """Write the page."""
    rows, means = [], []
    for record in sorted(records, key=lambda each: list(SETS).index(each["set"])):
        ours, other = map(means_of, (record["landmarks"], record["boosting"]))
        means.append((ours, other))
        rows.append(
            [
                record["set"],
                record["n"],
                record["d"],
                *(f"{each['r2']:.3f}" for each in (ours, other)),
                *(f"{each['rmse']:.4g}" for each in (ours, other)),
                *(f"{each['inside']:.1%}, {each['width']:.2f}" for each in (ours, other)),
                *(f"{each['seconds']:.2f}" for each in (ours, other)),
            ]
        )
    n_better = sum(ours["r2"] > other["r2"] for ours, other in means)
    inside, of_quantiles = (np.array([each[place]["inside"] for each in means]) for place in (0, 1))
    header = ["set", "n", "columns", "R²", "boosting", "RMSE", "boosting", "inside, width", "quantiles of boosting"]
    write_page(
        "fit_numbers",
        "# Models of numbers by `fit` and `predict`",
        f"Made by `python -m benchmarks.real.fit_numbers run` and `… table`, on {this_machine()}. Means over "
        f"{N_SPLITS} splits, three quarters of the rows to fit on and one to predict. The intervals were designed "
        "on simulated rows, and no choice about them was made on these tables.",
        f"R² is above that of default boosting on {n_better} of {len(rows)} tables. The 90% intervals hold "
        f"{inside.mean():.1%} of new rows in the mean over tables ({inside.min():.1%} to {inside.max():.1%}); those of "
        f"boosting's quantiles {of_quantiles.mean():.1%} ({of_quantiles.min():.1%} to {of_quantiles.max():.1%}).",
        as_table([*header, "s", "boosting: s"], rows),
        "*Width* is the mean width of the intervals as a share of the deviation of the number. *s* is the median wall "
        "time on one thread: of both commands, with reading and writing the files; of boosting, of one fit and its "
        "predictions.",
        notes_of("fit_numbers"),
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--islp", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.sets or list(SETS), chosen.islp)
    else:
        write_table(read_records(RECORDS))
