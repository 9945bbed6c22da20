"""Estimators of the floor held against labels that are redrawn on purpose: FeeBee's protocol on ten real sets.

    python -m benchmarks.truth.redrawn_labels run [--sets mnist letter] [--rows 1500] [--workers 2] [--records FILE]
    python -m benchmarks.truth.redrawn_labels table [--records FILE]

Where a share p of the labels is redrawn from all C classes alike, the floor is (1 - p) R + p (1 - 1/C), where R is that
of the clean labels (Renggli et al. 2021). R lies between 0 and the clean error: the least of three models that are
trained on all other rows, at most 20 000, or by ten folds where fewer than 4000 are left. So the floor lies between two
lines. The score of an estimator is the area between it and the line that it crosses, over all shares from 0 to 1, in
percent: *below* the lower line, a floor that is too low; *above* the upper one, too high.

Features are standardised for nearest rows and the SVM. Errors of models and of nearest rows are those of five folds.
The bound of one nearest row is Cover and Hart's. That of 5, 15 and 50 is e / (1 + 1/√k), and the least of all four
counts as that of k-NN. With extrapolation, the error of the nearest row follows a + b n^-c over four sizes, and a
is put in place of it. No setting of the library was chosen by this page. Figures are recorded in
benchmarks/results/redrawn_labels.jsonl, or in FILE, as soon as they are there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor import bayes_error, learned_floor
from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "redrawn_labels.jsonl"
#: Sets by name, and the number of principal components that stand for their columns; None for the columns themselves.
SETS: dict[str, tuple[str, int | None]] = {
    "mnist": ("extra/mnist", None),
    "mnist, 32 components": ("extra/mnist", 32),
    **{
        name: (f"paper/{name}", None)
        for name in ("letter", "pendigits", "optdigits", "satimage", "segment", "texture", "shuttle")
    },
    "covertype": ("extra/covertype", None),
}
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
#: Rows of a set that a model is trained on to learn the clean error, at the most; ten folds where there are fewer.
MOST_ROWS, FEWEST_ROWS = 20_000, 4000
N_NEIGHBOURS = (1, 5, 15, 50)
#: Exponents of the curve of the nearest row that are tried.
EXPONENTS = np.linspace(0.05, 2.0, 40)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def models() -> dict[str, Any]:
    """Return the models of which the best is taken."""
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "extra trees": ExtraTreesClassifier(300, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "SVM": make_pipeline(StandardScaler(), SVC(C=10.0)),
    }


def sample_of(name: str, n: int) -> tuple[Floats, Ints, Floats, Ints]:
    """Return the rows that are used and all others, in random order; classes of fewer than 5 rows are left out."""
    file, n_components = SETS[name]
    arrays = stored_arrays(file)
    order = np.random.default_rng(0).permutation(len(arrays["y"]))[: n + MOST_ROWS]
    X, y = arrays["X"][order].astype(np.float64), arrays["y"][order]
    counts = np.bincount(y[:n], minlength=int(y.max()) + 1)
    is_kept = counts[y] >= 5
    n = int(is_kept[:n].sum())
    X, y = X[is_kept], np.unique(y[is_kept], return_inverse=True)[1]
    if n_components is not None:
        X = PCA(n_components, random_state=0).fit(X[:n]).transform(X)
    varies = X[:n].min(axis=0) < X[:n].max(axis=0)
    return X[:n, varies], y[:n], X[n:, varies], y[n:]


def clean_error(name: str, n: int) -> float:
    """Return the least error of three models on the rows that are used, trained on others."""
    X, y, others, of_others = sample_of(name, n)
    errors = []
    for of_model in ("extra trees", "boosting", "SVM"):
        model = models()[of_model]
        if len(others) >= FEWEST_ROWS:
            errors.append(float(np.mean(model.fit(others, of_others).predict(X) != y)))
        else:
            rows, labels = np.concatenate([X, others]), np.concatenate([y, of_others])
            folds = StratifiedKFold(10, shuffle=True, random_state=0)
            errors.append(float(np.mean(cross_val_predict(model, rows, labels, cv=folds) != labels)))
    return min(errors)


def redrawn(y: Ints, share: float) -> Ints:
    """Draw a share of the labels anew, from all classes alike."""
    rng = np.random.default_rng(int(1000 * share) + 1)
    chosen = rng.permutation(len(y))[: round(share * len(y))]
    y = y.copy()
    y[chosen] = rng.integers(0, y.max() + 1, len(chosen))
    return y


def floor_with(share: float, clean: float, n_classes: int) -> float:
    """Return the floor of labels of which a share was redrawn."""
    return (1.0 - share) * clean + share * (1.0 - 1.0 / n_classes)


def bound_of_nearest(error: float, n_classes: int) -> float:
    """Return Cover and Hart's lower bound of the floor from the error of the nearest row."""
    most = 1.0 - 1.0 / n_classes
    return most * (1.0 - max(1.0 - error / most, 0.0) ** 0.5)


def end_of_curve(sizes: Floats, errors: Floats) -> float:
    """Return a of the curve a + b n^-c, with a and b not below 0, that is nearest to errors."""
    found = []
    for exponent in EXPONENTS:
        falling = sizes**-exponent
        slope, end = np.polyfit(falling, errors, 1)
        if end < 0.0:
            slope, end = float(falling @ errors / (falling @ falling)), 0.0
        if slope < 0.0:
            slope, end = 0.0, float(errors.mean())
        found.append((float(((end + slope * falling - errors) ** 2).sum()), float(end)))
    return min(found)[1]


def estimates_of(X: Floats, y: Ints, n_classes: int) -> dict[str, float]:
    """Return what each estimator says of one sample."""
    folds = KFold(5, shuffle=True, random_state=0)

    def error_of(model: Any, rows: slice = slice(None)) -> float:
        return float(np.mean(cross_val_predict(model, X[rows], y[rows], cv=folds) != y[rows]))

    def nearest(k: int) -> Any:
        return make_pipeline(StandardScaler(), KNeighborsClassifier(k))

    learned = learned_floor(X, y, n_jobs=1)
    trees = bayes_error(X, y, n_jobs=1)
    near = {k: error_of(nearest(k)) for k in N_NEIGHBOURS}
    bounds = [bound_of_nearest(near[1], n_classes), *(near[k] / (1.0 + k**-0.5) for k in N_NEIGHBOURS[1:])]
    sizes = np.array([len(y) >> halvings for halvings in (3, 2, 1, 0)])
    curve = np.array([*(error_of(nearest(1), slice(int(size))) for size in sizes[:-1]), near[1]])
    return {
        "learned floor": learned.estimate,
        "its lower end": learned.interval[0],
        "its upper end": learned.interval[1],
        "spanning trees": trees.estimate,
        "GHP, lower bound": trees.lower,
        "GHP, upper bound": trees.upper,
        "1-NN, Cover–Hart": bounds[0],
        "k-NN": min(bounds),
        "1-NN, extrapolated": bound_of_nearest(end_of_curve(sizes * 0.8, curve), n_classes),
        "best of four models": min(error_of(model) for model in models().values()),
    }


def measure(name: str, n: int, share: float | None) -> dict:
    """Estimate the floor of a set with a share of its labels redrawn; with None, find the clean error."""
    if share is None:
        return {"set": name, "n": n, "share": None, "clean": clean_error(name, n)}
    X, y, *_ = sample_of(name, n)
    n_classes = int(y.max()) + 1
    _, seconds, found = timed(lambda: estimates_of(X, redrawn(y, share), n_classes))
    rounded = {each: round(float(value), 5) for each, value in found.items()}
    return {"set": name, "n": n, "share": share, "classes": n_classes, "seconds": round(seconds, 1), **rounded}


def run(names: list[str], n: int, workers: int, file: Path) -> None:
    """Measure what was not measured yet, the dearest first."""
    done = {(record["set"], record["n"], record["share"]) for record in read_records(file)}
    keys = [(name, n, share) for share in (None, *SHARES) for name in names]
    measure_all(measure, [key for key in keys if key not in done], file, workers)


def area(heights: Floats) -> float:
    """Return the area over shares from 0 to 1, in percent; what is below 0 does not count."""
    return float(100.0 * np.trapezoid(np.maximum(heights, 0.0), SHARES))


def write_table(file: Path) -> None:
    """Write the page."""
    records = read_records(file)
    clean = {record["set"]: record["clean"] for record in records if record["share"] is None}
    of_sets = {
        name: sorted((r for r in records if r["set"] == name and r["share"] is not None), key=lambda r: r["share"])
        for name in SETS
    }
    of_sets = {name: found for name, found in of_sets.items() if len(found) == len(SHARES) and name in clean}
    estimators = [name for name in next(iter(of_sets.values()))[0] if name not in _OF_RECORD]
    below: dict[str, list[float]] = {name: [] for name in estimators}
    above: dict[str, list[float]] = {name: [] for name in estimators}
    n_met = n_cells = 0
    for name, found in of_sets.items():
        lines = np.array([[floor_with(r["share"], error, r["classes"]) for error in (0.0, clean[name])] for r in found])
        for estimator in estimators:
            values = np.array([record[estimator] for record in found])
            below[estimator].append(area(lines[:, 0] - values))
            above[estimator].append(area(values - lines[:, 1]))
        low, high = (np.array([record[f"its {end} end"] for record in found]) for end in ("lower", "upper"))
        n_met += int(((low <= lines[:, 1]) & (high >= lines[:, 0])).sum())
        n_cells += len(found)
    points = [name for name in estimators if name not in ("its lower end", "its upper end")]
    summary = sorted((float(np.mean(below[name]) + np.mean(above[name])), name) for name in points)
    mean_rows = [
        (name, f"{np.mean(below[name]):.2f}", f"{np.mean(above[name]):.2f}", f"{total:.2f}") for total, name in summary
    ]
    by_set = [
        (
            name,
            found[0]["classes"],
            f"{100 * clean[name]:.1f}",
            *(f"{below[each][place]:.1f} / {above[each][place]:.1f}" for each in points),
        )
        for place, (name, found) in enumerate(of_sets.items())
    ]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    n = ", ".join(map(str, sorted({record["n"] for record in records})))
    met = f"The range of the learned floor meets the two lines in {n_met} of {n_cells} cells."
    write_page(
        "redrawn_labels",
        "# Redrawn labels: FeeBee's protocol",
        about,
        notes_of("redrawn_labels"),
        f"## Mean of {len(of_sets)} sets, samples of {n} rows",
        as_table(("estimator", "below", "above", "both"), mean_rows),
        met,
        "## Each set: below / above",
        as_table(("set", "classes", "clean error, %", *points), by_set),
    )


#: What a record holds beside estimates.
_OF_RECORD = ("set", "n", "share", "classes", "seconds")
_COMMANDS: dict[str, Callable[[Any], None]] = {
    "run": lambda given: run(given.sets, given.rows, given.workers, given.records),
    "table": lambda given: write_table(given.records),
}


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=list(_COMMANDS))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--workers", "--processes", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    arguments = parser.parse_args()
    _COMMANDS[arguments.what](arguments)
