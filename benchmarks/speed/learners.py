"""What the families of learners cost, and how well each learner predicts, beside those of another checkout by turns.

    python -m benchmarks.speed.learners --base OTHER/src                     CPU seconds; writes results/learners.md
    python -m benchmarks.speed.learners --base OTHER/src --losses design     losses of each learner, printed
    python -m benchmarks.speed.learners --base OTHER/src --losses held-out   the same of sets that nothing was chosen by

A family is called for the 15 training sets of five folds, as the learned floor does: four, two and one of them, which
predict the others. Each checkout has a process of its own, of one thread; they take turns, family by family. Kernels
are loaded or compiled before, on the smallest training set. Figures are medians of three, of fewer where that takes
long. Beside them, one fit of scikit-learn's histogram boosting to four folds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.tools.measuring import Version, serve, set_threads

set_threads(1)

# The libraries below read the number of threads when they are loaded.
import numpy as np  # noqa: E402
from sklearn import datasets  # noqa: E402

from benchmarks.problems.stored_sets import stored_set  # noqa: E402
from benchmarks.tools.command_line import parser_of  # noqa: E402
from benchmarks.tools.pages import RESULTS, ROOT, as_table, notes_of, this_machine, write_page  # noqa: E402
from benchmarks.tools.records import append_record, read_records  # noqa: E402

THIS = "benchmarks.speed.learners"
N_FOLDS = 5
#: Numbers of folds that a model is trained on, as in `bayesfloor.floor.learned.splits`.
LENGTHS = (4, 2, 1)
#: Most rows of a set whose losses are compared.
MOST_ROWS = 2000

#: What the families are measured beside.
PEER = "scikit-learn"
RECORDS = RESULTS / "learners.jsonl"
#: Seconds of one family on one set after which it is not measured again.
ENOUGH = 20.0

Data = tuple[np.ndarray, np.ndarray]


def _classes(n: int, d: int, n_classes: int) -> Data:
    return datasets.make_classification(
        n, d, n_informative=d // 2, n_redundant=d // 4, n_classes=n_classes, flip_y=0.1, random_state=0
    )


def _numbers(n: int, d: int) -> Data:
    return datasets.make_friedman1(n, d, noise=1.0, random_state=0)


def _as_classes(X: np.ndarray, y: np.ndarray) -> Data:
    return X, y.astype(np.int64)


def _bits(n: int, d: int, n_used: int) -> Data:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, d)).astype(np.float64)
    return X, (X[:, :n_used].sum(axis=1) + (rng.random(n) < 0.1)).astype(np.int64) % 2


def _stored(name: str, rows: int) -> Data:
    X, y = stored_set(name if "/" in name else f"paper/{name}")
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


def _rings(name: str) -> Data:
    """Return a set whose classes are numbers."""
    X, y = _stored(name, MOST_ROWS)
    return X, y.astype(np.float64)


#: Sets whose cost is measured.
TIMED: dict[str, Callable[[], Data]] = {
    "300 × 14 × 3 classes": lambda: _classes(300, 14, 3),
    "2000 × 20 × 4 classes": lambda: _classes(2000, 20, 4),
    "10 000 × 64 × 4 classes": lambda: _classes(10_000, 64, 4),
    "letter, 2000 × 16 × 26 classes": lambda: _stored("letter", 2000),
    "nursery, 4000 × 19 × 4 classes": lambda: _stored("nursery", 4000),
    "2000 × 20, numbers": lambda: _numbers(2000, 20),
    "10 000 × 20, numbers": lambda: _numbers(10_000, 20),
}

#: Sets that changes were chosen by.
DESIGN: dict[str, Callable[[], Data]] = {
    **{name: lambda name=name: _stored(name, MOST_ROWS) for name in (
        "abalone", "flare", "letter", "nursery", "optdigits", "satimage", "wine_red", "yeast",
    )},
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "mixture of 4": lambda: _classes(2000, 20, 4),
    "mixture of 2": lambda: _classes(1000, 30, 2),
    "moons": lambda: datasets.make_moons(800, noise=0.3, random_state=0),
    "parity of 3 bits": lambda: _bits(2000, 12, 3),
    "parity of 2 of 40 bits": lambda: _bits(1500, 40, 2),
    "parity of 5 of 8 bits": lambda: _bits(2000, 8, 5),
    "diabetes, a number": lambda: datasets.load_diabetes(return_X_y=True),
    "Friedman 1, a number": lambda: _numbers(1000, 10),
    "Friedman 2, a number": lambda: datasets.make_friedman2(1000, noise=50.0, random_state=0),
    "Friedman 3, a number": lambda: datasets.make_friedman3(2000, noise=0.1, random_state=0),
    "sparse, a number": lambda: datasets.make_regression(500, 60, n_informative=8, noise=30.0, random_state=0),
    "abalone, a number": lambda: _rings("abalone"),
    "wine_red, a number": lambda: _rings("extra/wine_red_noleak"),
    "letter, a number": lambda: _rings("letter"),
}  # fmt: skip

#: Sets that are looked at once, when all is chosen.
HELD_OUT: dict[str, Callable[[], Data]] = {
    **{name: lambda name=name: _stored(name, MOST_ROWS) for name in (
        "fars", "kr-vs-k", "pageblocks", "pendigits", "segment", "shuttle", "texture", "wine_white",
    )},
    "Gaussian quantiles": lambda: datasets.make_gaussian_quantiles(n_samples=1000, n_features=6, random_state=0),
    "Hastie": lambda: _as_classes(*datasets.make_hastie_10_2(1500, random_state=0)),
    "circles": lambda: datasets.make_circles(600, noise=0.2, factor=0.5, random_state=0),
    "mixture of 6": lambda: _classes(1500, 40, 6),
    "parity of 4 bits": lambda: _bits(2000, 8, 4),
    "wine_white, a number": lambda: _rings("extra/wine_white_noleak"),
    "kr-vs-k, a number": lambda: _rings("kr-vs-k"),
    "pendigits, a number": lambda: _rings("pendigits"),
    "linear, a number": lambda: datasets.make_regression(800, 20, n_informative=20, noise=50.0, random_state=1),
    "S curve, a number": lambda: datasets.make_s_curve(800, noise=0.2, random_state=0),
    "Swiss roll, a number": lambda: datasets.make_swiss_roll(800, noise=1.0, random_state=0),
    "Friedman 1 of 30, a number": lambda: _numbers(600, 30),
}  # fmt: skip

SETS = TIMED | DESIGN | HELD_OUT


# --- in the process of a checkout


class Fit(NamedTuple):
    """A training set, the rows that it predicts, and their targets."""

    train: Any
    test: np.ndarray
    truth: np.ndarray
    size: int


@cache
def fits_of(name: str) -> tuple[dict[str, Any], list[Fit]]:
    """Return the families that suit a set, and its training sets, the largest first."""
    from bayesfloor.learn.learner import Look
    from bayesfloor.learn.registry import CLASS_LEARNERS, NUMBER_LEARNERS, suited
    from bayesfloor.learn.training_rows import Train, relative_spread, standardised

    X, y = SETS[name]()
    X, is_number = np.asarray(X, np.float64), y.dtype.kind == "f"
    y = y if is_number else np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(1).permutation(len(X))
    X, y = X[order], y[order]
    folds, fits = np.arange(len(X)) % N_FOLDS, []
    for size, length in enumerate(LENGTHS):
        for start in range(N_FOLDS):
            known = np.isin(folds, (start + np.arange(length)) % N_FOLDS)
            tested = np.isin(folds, (start - 1 - length * np.arange((N_FOLDS - 1) // length)) % N_FOLDS)
            points, test = standardised(X[known], X[tested])
            if is_number:
                mean, spread = y[known].mean(), y[known].std()
                train, truth = Train.of_numbers(points, (y[known] - mean) / spread), (y[tested] - mean) / spread
            else:
                train, truth = Train(points, y[known], int(y.max()) + 1), y[tested]
            fits.append(Fit(train._replace(spread=relative_spread(X[known])), test, truth, size))
    return suited(NUMBER_LEARNERS if is_number else CLASS_LEARNERS, Look(X)), fits


def loss_of(predicted: np.ndarray, fit: Fit) -> float:
    """Return the mean log-loss of probabilities, or the mean squared error, as the stack would have them."""
    from bayesfloor.learn.training_rows import safe

    if fit.train.n_classes:
        return float(-np.log(safe(predicted, fit.train)[np.arange(len(fit.truth)), fit.truth]).mean())
    held = np.clip(predicted, fit.train.y.min() - 1.0, fit.train.y.max() + 1.0)
    return float(((held - fit.truth) ** 2).mean())


def measured(name: str, family: str) -> dict[str, Any]:
    """Return CPU and wall seconds of a family on a set, and the losses of its learners for each size."""
    from bayesfloor.learn.learner import Rows, fit_predict

    families, fits = fits_of(name)
    fit_predict(families[family], fits[-1].train, None, 0, Rows(fits[-1].test))
    used, started = time.process_time(), time.perf_counter()
    found = [fit_predict(families[family], fit.train, None, seed, Rows(fit.test)) for seed, fit in enumerate(fits)]
    seconds = time.process_time() - used, time.perf_counter() - started
    losses = {
        learner: [
            float(np.mean([loss_of(of_fit[learner], fit) for of_fit, fit in zip(found, fits, strict=True)
                           if fit.size == size]))
            for size in range(len(LENGTHS))
        ]
        for learner in found[0]
    }  # fmt: skip
    return {"seconds": seconds, "losses": losses}


def scikit_learn_fit(name: str) -> dict[str, Any]:
    """Return the seconds of one fit of scikit-learn's histogram boosting, and of its predictions."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    train, test, *_ = fits_of(name)[1][0]
    kind = HistGradientBoostingClassifier if train.n_classes else HistGradientBoostingRegressor
    used, started = time.process_time(), time.perf_counter()
    model = kind(random_state=0).fit(train.X, train.y)
    model.predict(test)
    return {"seconds": (time.process_time() - used, time.perf_counter() - started)}


def answer(name: str, family: str | None = None) -> Any:
    """Return what a family takes and reaches on a set; without one, the families that suit the set."""
    if family is None:
        return list(fits_of(name)[0])
    return scikit_learn_fit(name) if family == PEER else measured(name, family)


# --- in the process that compares them


def measure_speed(base: Version, new: Version, names: list[str], families: set[str], repeats: int) -> None:
    """Record CPU seconds of the families that are not recorded yet, and of one fit of scikit-learn's boosting."""
    known = {(record["set"], record["family"]) for record in read_records(RECORDS)}
    for name in names:
        for family in (*new.ask(name), PEER):
            if (name, family) in known or (families and family not in families):
                continue
            seconds: list[list[float]] = []
            while not seconds or (len(seconds) < repeats and np.sum(seconds) * (1.0 + 1.0 / len(seconds)) < ENOUGH):
                seconds.append([each.ask(name, family)["seconds"][0] for each in (base, new)])
            medians = [statistics.median(of_one) for of_one in zip(*seconds, strict=True)]
            append_record(RECORDS, {"set": name, "family": family, "before": medians[0], "now": medians[1]})
            print(name, family, *(f"{median:.2f}" for median in medians), flush=True)


def speed_tables() -> list[str]:
    """Return tables of what is recorded: all families of each set, and each of them."""
    parts, totals = [], []
    for name in TIMED:
        of_set = {record["family"]: record for record in read_records(RECORDS) if record["set"] == name}
        one_fit = of_set.pop(PEER, None)
        if one_fit is None:
            continue  # which is measured last
        sums = [sum(record[when] for record in of_set.values()) for when in ("before", "now")]
        rows = [[family, record["before"], record["now"]] for family, record in of_set.items()]
        rows = [[family, f"{a:.2f}", f"{b:.2f}", f"{a / b:.2f}"] for family, a, b in [*rows, ["all", *sums]]]
        parts.append(f"## {name}\n\n" + as_table(["family", "before, CPU s", "now, CPU s", "before / now"], rows))
        fit = (one_fit["before"] + one_fit["now"]) / 2.0
        totals.append([name, *rows[-1][1:], f"{fit:.2f}", *(f"{total / fit:.1f}" for total in sums)])
    header = ["all families", "before, CPU s", "now, CPU s", "before / now", "one fit of scikit-learn's, CPU s",
              "as many fits before", "now"]  # fmt: skip
    return [as_table(header, totals), *parts]


def compare_losses(base: Version, new: Version, names: list[str], families: set[str]) -> list[str]:
    """Return a table with a row for each learner: its loss now, as a share of what it was, over sets and sizes."""
    ratios: dict[str, list[list[float]]] = {}
    for name in names:
        for family in new.ask(name):
            if families and family not in families:
                continue
            before, now = (each.ask(name, family)["losses"] for each in (base, new))
            task = "numbers" if name.endswith("a number") else "classes"
            for learner, losses in now.items():
                of_sizes = [b / a for a, b in zip(before[learner], losses, strict=True)]
                ratios.setdefault(f"{learner} ({task})", []).append(of_sizes)
                if max(abs(ratio - 1.0) for ratio in of_sizes) > 0.02:
                    print(name, learner, *(f"{a:.4f}->{b:.4f}" for a, b in zip(before[learner], losses, strict=True)))
        print(name, flush=True)
    rows = []
    for learner, of_sets in ratios.items():
        logs = np.log(of_sets)
        of_set = logs.mean(axis=1)
        error = of_set.std(ddof=1) / len(of_set) ** 0.5 if len(of_set) > 1 else float("nan")
        if not np.any(logs):
            continue  # the same to the last bit
        rows.append([learner, len(of_set), *(f"{np.exp(m):.4f}" for m in logs.mean(axis=0)),
                     f"{np.exp(of_set.mean()):.4f}", f"{error:.4f}", f"{np.exp(of_set.max()):.3f}"])  # fmt: skip
    header = ["learner", "sets", "4 folds", "2 folds", "1 fold", "all", "standard error", "worst set"]
    return [as_table(header, rows)]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--base", type=Path, help="src folder of the checkout to compare with")
    parser.add_argument("--losses", choices=("design", "held-out"))
    parser.add_argument("--only", action="append", default=[], help="sets whose names have this in them")
    parser.add_argument("--family", action="append", default=[], help="one family")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(answer)
        return
    if options.base is None:
        parser.error("--base is needed")
    group = {None: TIMED, "design": DESIGN, "held-out": HELD_OUT}[options.losses]
    names = [name for name in group if not options.only or any(part in name for part in options.only)]
    versions = [Version(source, THIS, n_threads=1) for source in (options.base.resolve(), ROOT / "src")]
    if options.losses:
        print(*compare_losses(*versions, names, set(options.family)), sep="\n\n")
    else:
        measure_speed(*versions, names, set(options.family), options.repeats)
        write_page("learners", "# Cost of the learners", this_machine(), notes_of("learners"), *speed_tables())
    for each in versions:
        each.close()


if __name__ == "__main__":
    main()
