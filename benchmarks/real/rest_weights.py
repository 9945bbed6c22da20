"""Class weights of one class against the rest: of all rows, or of the positive class alone?

    python -m benchmarks.real.rest_weights run [--workers 1]
    python -m benchmarks.real.rest_weights table      write benchmarks/results/rest_weights.md from the records

With three classes or more, two things can be meant by ``class_weight="balanced"`` of linear SVMs for each class
against the rest. *Rows*: each row weighs by its own class in all of these problems, as `LinearSVCCV` has it.
*Positives*: in the problem of a class its own rows weigh by its weight and all others 1, which is what liblinear does,
and so scikit-learn's `LinearSVC`. *None*: no weights.

The paper's 16 sets, at most 4000 rows, three splits, 70% to train on; points scaled by the training part. C is the one
of 2^-10, 2^-6, …, 2^6 with the best balanced accuracy in three folds, of each way by itself; the solver is the same.
Each record is appended to benchmarks/results/rest_weights.jsonl as soon as it is there.
"""

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from bayesfloor.classify.linear.linear_svm import fold_rows, solve_problems
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.threads import WorkerPool
from benchmarks.problems.stored_sets import stored_set
from benchmarks.real.classify import PAPER_ARI
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "rest_weights.jsonl"
CS = np.exp2(np.arange(-10.0, 7.0, 4.0))
WAYS = ("rows", "positives", "none")
N_SPLITS = 3
MAX_ROWS = 4000


def predictions(X: np.ndarray, codes: np.ndarray, X_test: np.ndarray, way: str) -> np.ndarray:
    """Return the codes of test rows at each C, (n_Cs, n_test)."""
    classes, counts = np.unique(codes, return_counts=True)
    balanced = len(codes) / len(classes) / counts
    scores = np.empty((len(CS), len(X_test), len(classes)))
    for place, code in enumerate(classes):
        positive = codes == code
        weight = np.ones(len(codes))
        if way == "rows":
            weight = balanced[np.searchsorted(classes, codes)]
        elif way == "positives":
            weight = np.where(positive, balanced[place], 1.0)
        rows = fold_rows(X, positive.astype(np.int64), weight, None, fold_keys(X, 0))
        solved = solve_problems(rows, np.array([[-1, 1]], np.int8), CS, WorkerPool(1))[0][0, :, 0]
        scores[:, :, place] = solved[:, :-1] @ X_test.T + solved[:, -1:]
    return classes[scores.argmax(axis=2)]


def measure(name: str, split: int) -> list[dict]:
    """Fit and test all ways on one split of a set."""
    X, y = stored_set(f"paper/{name}")
    codes = np.unique(y, return_inverse=True)[1]
    if len(codes) > MAX_ROWS:
        X, _, codes, _ = train_test_split(X, codes, train_size=MAX_ROWS, stratify=codes, random_state=split)
    X, X_test, codes, truth = train_test_split(X, codes, test_size=0.3, stratify=codes, random_state=split)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    records = []
    for way in WAYS:
        held_out = np.empty((len(CS), len(codes)), codes.dtype)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=split).split(X, codes):
            held_out[:, test] = predictions(X[train], codes[train], X[test], way)
        best = int(np.argmax([balanced_accuracy_score(codes, each) for each in held_out]))
        predicted = predictions(X, codes, X_test, way)[best]
        record = {
            "data": name,
            "split": split,
            "way": way,
            "n_rows": len(codes),
            "C": float(CS[best]),
            "accuracy": round(float(accuracy_score(truth, predicted)), 4),
            "balanced": round(float(balanced_accuracy_score(truth, predicted)), 4),
        }
        records.append(record)
    return records


def run(workers: int) -> None:
    done = {(each["data"], each["split"]) for each in read_records(RECORDS)}
    keys = [(name, split) for name in PAPER_ARI for split in range(N_SPLITS)]
    measure_all(measure, [key for key in keys if key not in done], RECORDS, workers)


def write_tables(records: list[dict]) -> None:
    """Write the page, with whatever has been measured."""
    sets = [name for name in PAPER_ARI if any(each["data"] == name for each in records)]
    means = {
        (name, way, figure): float(np.mean([e[figure] for e in records if e["data"] == name and e["way"] == way]))
        for name in sets
        for way in WAYS
        for figure in ("balanced", "accuracy")
    }
    rows = [
        [name, *(f"{means[name, way, figure]:.3f}" for figure in ("balanced", "accuracy") for way in WAYS)]
        for name in sets
    ]
    said = []
    for figure, called in (("balanced", "Balanced accuracy"), ("accuracy", "Accuracy")):
        more = np.array([means[name, "rows", figure] - means[name, "positives", figure] for name in sets])
        error = more.std(ddof=1) / len(more) ** 0.5
        said.append(
            f"{called}: *rows* less *positives* is {more.mean():+.4f} ± {error:.4f} (mean over sets and its standard "
            f"error); higher by more than .005 on {np.sum(more > 0.005)} sets, lower on {np.sum(more < -0.005)}."
        )
    write_page(
        "rest_weights",
        "# Class weights of one class against the rest",
        "Made by `python -m benchmarks.real.rest_weights run` and `… table`; means over three splits.",
        notes_of("rest_weights"),
        as_table(["set", *(f"{called}, {way}" for called in ("balanced accuracy", "accuracy") for way in WAYS)], rows),
        *said,
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.command == "table":
        write_tables(read_records(RECORDS))
    else:
        run(chosen.workers)
