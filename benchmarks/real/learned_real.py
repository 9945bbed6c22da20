"""The learned floor on real sets: what it reaches beside other models, and whether its intervals hold.

    python -m venv .venv-learned && .venv-learned/bin/pip install . -r benchmarks/requirements/learned.txt
    .venv-learned/bin/python -m benchmarks.real.learned_real peers FOLDER [SET ...] [--sizes 2000 10000]
    .venv-learned/bin/python -m benchmarks.real.learned_real more FOLDER [SET ...]
    .venv-learned/bin/python -m benchmarks.real.learned_real floors FOLDER [SET ...] [--sizes 500 2000 10000] [--again]
    .venv-learned/bin/python -m benchmarks.real.learned_real table FOLDER

`peers` cross-validates five models on 11 sets. Each has a few settings; the one with the least error on a fifth of the
first fold's training rows is taken for all folds. `floors` runs `learned_floor` on the same rows and folds, and on
smaller samples of all sets. `more` trains models on all rows of a set but a fifth (at most 100 000), and tests them on
that fifth, which no sample has rows of. A model whose error is surely below the lower end of an interval (one-sided
binomial test, 1%) falsifies it. `table` writes
benchmarks/results/learned_real.md.

The sets are read from $BAYESFLOOR_DATA, or from shared/data beside the repository. A sample of n rows is the first n of
one random order, less the classes that have fewer than 5 rows among them; one of the 11 sets that has fewer rows is
used whole, and no other model is then tested on new rows. What was measured stays in FOLDER and is not measured again,
unless `--again` is given. Files there are named by the rows and folds that they are for. All models run on one thread.
"""

import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.held_out_rows import stack_errors
from benchmarks.tools.pages import as_table, write_page

#: Sets beside other models: those with the most rows, images and one-hot tables among them, and a noisy one.
COMPARED = (
    *("satimage", "optdigits", "pendigits", "letter", "shuttle", "nursery", "kr-vs-k", "wine_white_noleak"),
    *("fars", "mnist", "covertype"),
)
#: All sets. In wine_red and wine_white the label's own score is among the features.
SETS = (
    *COMPARED,
    *("abalone", "flare", "pageblocks", "segment", "texture", "yeast", "wine_red_noleak", "wine_red", "wine_white"),
)
#: Sets whose labels are a function of the features, so that their floor is 0.
IS_ZERO = {"kr-vs-k", "nursery", "wine_red", "wine_white"}
EXTRA = {"wine_red_noleak", "wine_white_noleak", "mnist", "covertype"}
#: Columns that share a unit keep their scale.
IMAGES = {"mnist", "optdigits"}
#: Sets of so many columns and classes that boosting takes minutes: one setting, a fifth of the columns, fewer trees.
SLOW = {"mnist"}

COMPARED_SIZES = (2000, 10_000)
SIZES = (500, *COMPARED_SIZES)
N_FOLDS = 5
#: Fewest rows of a class in a sample.
FEWEST = 5
MOST_TRAIN, MOST_TEST = 100_000, 20_000
#: Training rows beyond which a kernel machine takes hours.
MOST_FOR_SVM = 20_000
PEERS = ("LightGBM", "RBF SVM", "MLP", "extra trees", "scikit-learn's boosting")
#: Level of the test that falsifies a lower end.
LEVEL = 0.01


class Sample(NamedTuple):
    """Rows of a set, and the fold of each."""

    X: np.ndarray
    y: np.ndarray
    rows: np.ndarray
    folds: np.ndarray

    @property
    def key(self) -> str:
        """Name the rows and folds."""
        return hashlib.sha256(self.rows.tobytes() + self.folds.tobytes()).hexdigest()[:10]


class Held(NamedTuple):
    """Rows to train on, and rows to test on that no sample has unless it takes nearly all."""

    train: np.ndarray
    test: np.ndarray

    @property
    def key(self) -> str:
        """Name the rows."""
        return hashlib.sha256(self.train.tobytes() + self.test.tobytes()).hexdigest()[:10]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and labels; columns that never change are left out."""
    arrays = stored_arrays(f"{'extra' if name in EXTRA else 'paper'}/{name}")
    X, y = arrays["X"], arrays["y"].astype(np.int64)
    return X[:, X.max(axis=0) > X.min(axis=0)].astype(np.float32 if X.dtype == np.uint8 else np.float64), y


def order_of(y: np.ndarray) -> np.ndarray:
    """Return the random order that all samples are taken from."""
    return np.random.default_rng(0).permutation(len(y)).astype(np.int64)


def sample_of(X: np.ndarray, y: np.ndarray, size: int) -> Sample:
    """Take the first rows of the random order, and deal them out to folds."""
    rows = order_of(y)[:size]
    known, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], known[counts >= FEWEST])]
    folds = np.empty(len(rows), np.int64)
    for fold, (_, test) in enumerate(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(rows, y[rows])):
        folds[test] = fold
    return Sample(X[rows], np.unique(y[rows], return_inverse=True)[1], rows, folds)


def held_of(y: np.ndarray) -> Held:
    """Take test rows from the end of the random order, and all others to train on."""
    order = order_of(y)
    n_test = min(MOST_TEST, len(y) // 5)
    return Held(order[:-n_test][:MOST_TRAIN], order[-n_test:])


# Models


def scaled(name: str, final: Any) -> Any:
    """Standardise columns before a model; those of images share a scale, and large images are projected."""
    if name not in IMAGES:
        return make_pipeline(StandardScaler(), final)
    spread = FunctionTransformer(lambda X: X / X.max())
    return make_pipeline(spread, PCA(50, random_state=0), final) if name == "mnist" else make_pipeline(spread, final)


def settings_of(name: str, peer: str, n_rows: int) -> list[dict[str, Any]]:
    """Return the settings to choose from."""
    found: list[dict[str, Any]]
    if peer == "LightGBM":
        found = [{"num_leaves": 31}, {"num_leaves": 8, "min_child_samples": 5, "colsample_bytree": 0.5}]
    elif peer == "scikit-learn's boosting":
        found = [{"max_leaf_nodes": 31}, {"max_leaf_nodes": 8, "min_samples_leaf": 5, "max_features": 0.5}]
    elif peer == "RBF SVM":
        found = [{"C": C, "times": times} for C in (3.0, 30.0) for times in (1.0, 0.3)]
    elif peer == "MLP":
        found = [
            {"hidden_layer_sizes": hidden, "alpha": alpha, "max_iter": 100 if n_rows < 4000 else 60}
            for hidden, alpha in (([128], 0.001), ([128], 1.0), ([64, 64], 0.1))
        ]
    else:
        found = [{"max_features": "sqrt"}, {"max_features": 0.5}, {"max_features": "sqrt", "min_samples_leaf": 3}]
    if name in SLOW and peer in ROUNDS:
        return [found[0] | {"colsample_bytree" if peer == "LightGBM" else "max_features": 0.2}]
    return found


def model_of(name: str, peer: str, setting: dict[str, Any]) -> Any:
    """Return a model that has not been trained."""
    if peer == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1, **setting)
    if peer == "scikit-learn's boosting":
        return HistGradientBoostingClassifier(early_stopping=False, random_state=0, **setting)
    if peer == "RBF SVM":
        return scaled(name, ScaledSVC(**setting))
    if peer == "MLP":
        return scaled(name, MLPClassifier(batch_size=64, random_state=0, **setting))
    return ExtraTreesClassifier(200, n_jobs=1, random_state=0, **setting)


class ScaledSVC(SVC):
    """A kernel machine whose gamma is a multiple of scikit-learn's "scale"."""

    def __init__(self, C: float = 1.0, times: float = 1.0):
        super().__init__(C=C, cache_size=500)
        self.times = times

    def fit(self, X: np.ndarray, y: np.ndarray) -> "ScaledSVC":
        """Train."""
        self.gamma = self.times / (X.shape[1] * X.var())
        return super().fit(X, y)


def choose(name: str, peer: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the setting that is best on a fifth of the rows, and with it the number of rounds of boosting.

    Errors of a few hundred rows jump: among settings of boosting within half a standard error of the least error, that
    of the least log-loss is taken.
    """
    train, held = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y)
    tried: list[tuple[float, float, dict[str, Any]]] = []
    for setting in settings_of(name, peer, len(y)):
        model = model_of(name, peer, setting)
        rounds = rounds_of(name, peer)
        if not rounds:
            error = float((model.fit(X[train], y[train]).predict(X[held]) != y[held]).mean())
            tried.append((error, 0.0, setting))
            continue
        model.set_params(**{ROUNDS[peer]: max(rounds)}).fit(X[train], y[train])
        if peer == "LightGBM":
            predicted = {n: model.predict_proba(X[held], num_iteration=n) for n in rounds}
        else:
            predicted = {n: p for n, p in enumerate(model.staged_predict_proba(X[held]), 1) if n in rounds}
        for n, p in predicted.items():
            error = float((p.argmax(axis=1) != y[held]).mean())
            tried.append((error, log_loss(y[held], p, labels=model.classes_), setting | {ROUNDS[peer]: n}))
    least = min(error for error, _, _ in tried)
    near = least + 0.5 * np.sqrt(least * (1.0 - least) / len(held))
    return min((each for each in tried if each[0] <= near), key=lambda each: (each[1], each[0]))[2]


ROUNDS = {"LightGBM": "n_estimators", "scikit-learn's boosting": "max_iter"}


def rounds_of(name: str, peer: str) -> tuple[int, ...]:
    """Return numbers of rounds to choose from; none where there are no rounds."""
    if peer == "LightGBM":
        return (60,) if name in SLOW else (25, 50, 100, 200, 400)
    if peer == "scikit-learn's boosting":  # several times as slow
        return (40,) if name in SLOW else (25, 50, 100)
    return ()


# Commands


def measure_peers(folder: Path, name: str, X: np.ndarray, y: np.ndarray, size: int) -> None:
    """Cross-validate every model on a sample."""
    sample = sample_of(X, y, size)
    for peer in PEERS:
        path = folder / "peers" / f"{name}-{size}-{peer}-{sample.key}.npz".replace(" ", "_")
        if path.exists():
            continue
        started = time.process_time()
        first = sample.folds != 0
        setting = choose(name, peer, sample.X[first], sample.y[first])
        wrong = np.empty(len(sample.y), bool)
        for fold in range(N_FOLDS):
            train, test = sample.folds != fold, sample.folds == fold
            fitted = model_of(name, peer, setting).fit(sample.X[train], sample.y[train])
            wrong[test] = fitted.predict(sample.X[test]) != sample.y[test]
        seconds = time.process_time() - started
        save(path, wrong, {"setting": setting, "seconds": round(seconds, 1)})
        print(f"{name} {size}: {peer} {wrong.mean():.4f} {setting} in {seconds:.0f} s", flush=True)


def measure_more(folder: Path, name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Train models on all rows but the held ones."""
    held = held_of(y)
    n_train = len(held.train)
    for peer in ("LightGBM", "RBF SVM", "MLP", "extra trees"):
        path = folder / "more" / f"{name}-{peer}-{held.key}.npz".replace(" ", "_")
        if path.exists() or (peer == "RBF SVM" and n_train > MOST_FOR_SVM):
            continue
        started = time.process_time()
        setting: dict[str, Any] = {
            "LightGBM": {"n_estimators": 200, "num_leaves": 31, "colsample_bytree": 0.2 if name in SLOW else 1.0},
            "RBF SVM": {"C": 30.0},
            "MLP": {"hidden_layer_sizes": [128], "alpha": 0.01},
            "extra trees": {"max_features": "sqrt" if X.shape[1] > 60 else 0.5},
        }[peer]
        model = model_of(name, peer, setting)
        if peer == "MLP":
            # As many steps as 100 rounds of 20 000 rows take.
            model.set_params(mlpclassifier__max_iter=max(10, min(100, 2_000_000 // n_train)))
        fitted = model.fit(X[held.train], y[held.train])
        wrong = fitted.predict(X[held.test]) != y[held.test]
        seconds = time.process_time() - started
        save(path, wrong, {"setting": setting, "n_train": n_train, "seconds": round(seconds, 1)})
        print(f"{name}: {peer} {wrong.mean():.4f} of {n_train} rows in {seconds:.0f} s", flush=True)


def measure_floor(folder: Path, name: str, X: np.ndarray, y: np.ndarray, size: int, again: bool) -> None:
    """Run the learned floor on a sample, and keep which rows its stack is wrong on."""
    sample = sample_of(X, y, size)
    path = folder / "floors" / f"{name}-{size}-{sample.key}.npz"
    if path.exists() and not again:
        return
    started = time.process_time()
    floor, rows, is_wrong = stack_errors(sample.X, sample.y, cv=PredefinedSplit(sample.folds))
    wrong = np.empty(len(sample.y), bool)
    wrong[rows] = is_wrong
    assert len(rows) == len(wrong)
    record = {
        "estimate": floor.estimate,
        "interval": [float(end) for end in floor.interval],
        "reached": floor.reached,
        "majority": floor.majority_error,
        "residual_z": floor.residual_z,
        "findings": [finding.code for finding in floor.findings],
        "weights": {learner: round(weight, 3) for learner, weight in floor.weights.items() if weight > 0.005},
        "wall": round(floor.seconds, 1),
        "seconds": round(time.process_time() - started, 1),
    }
    save(path, wrong, record)
    low, high = record["interval"]
    print(
        f"{name} {size}: {floor.estimate:.4f} [{low:.4f}, {high:.4f}], reached {floor.reached:.4f}, "
        f"{floor.seconds:.1f} s ({record['seconds']} of CPU) {' '.join(record['findings'])}",
        flush=True,
    )


def save(path: Path, wrong: np.ndarray, record: dict[str, Any]) -> None:
    """Write rows that a model is wrong on, and what else is known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, wrong=wrong, record=json.dumps(record))
    part.replace(path)


def read(path: Path) -> tuple[np.ndarray, dict[str, Any]] | None:
    """Return what `save` has written, or None."""
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["wrong"], json.loads(str(arrays["record"]))


# Results


class Measured(NamedTuple):
    """All that was measured of a set at one size."""

    name: str
    size: int
    key: str
    y: np.ndarray
    n_features: int
    floor: tuple[np.ndarray, dict[str, Any]] | None
    peers: dict[str, tuple[np.ndarray, dict[str, Any]]]
    more: dict[str, tuple[np.ndarray, dict[str, Any]]]

    @property
    def falsified_by(self) -> list[str]:
        """Return models whose error is surely below the lower end."""
        if self.floor is None:
            return []
        low = self.floor[1]["interval"][0]
        models = [(f"{peer}, same rows", wrong) for peer, (wrong, _) in self.peers.items()]
        models += [(peer, wrong) for peer, (wrong, _) in self.more.items()]
        found = [model for model, wrong in models if stats.binom.cdf(wrong.sum(), len(wrong), low) < LEVEL]
        return ["its floor of 0", *found] if self.name in IS_ZERO and low > 0 else found


def all_measured(folder: Path) -> Iterator[Measured]:
    """Read what was measured of each set and size."""
    for name in SETS:
        X, y = load(name)
        held = held_of(y)
        more = {
            peer: found
            for peer in PEERS
            if (found := read(folder / "more" / f"{name}-{peer}-{held.key}.npz".replace(" ", "_")))
        }
        for size in SIZES:
            if size > len(y) and name not in COMPARED:
                continue
            sample = sample_of(X, y, size)
            peers = {
                peer: found
                for peer in PEERS
                if (found := read(folder / "peers" / f"{name}-{size}-{peer}-{sample.key}.npz".replace(" ", "_")))
            }
            # Rows that the sample has not, of its classes.
            fresh = ~np.isin(held.test, sample.rows) & np.isin(y[held.test], y[sample.rows])
            tested = {peer: (wrong[fresh], record) for peer, (wrong, record) in more.items() if fresh.any()}
            floor = read(folder / "floors" / f"{name}-{size}-{sample.key}.npz")
            yield Measured(name, size, sample.key, sample.y, X.shape[1], floor, peers, tested)


def write_table(folder: Path) -> None:
    """Write the page."""
    measured = list(all_measured(folder))
    parts = [
        "# The learned floor on real sets",
        "Made by `benchmarks/real/learned_real.py`, which says what is measured and how. Errors in percent.",
    ]
    for size in COMPARED_SIZES:
        cells = [m for m in measured if m.size == size and m.floor and len(m.peers) == len(PEERS)]
        if cells:
            parts += [f"## Beside other models: {size} rows", of_peers(cells)]
    parts += ["## Do the intervals hold?", of_intervals([m for m in measured if m.floor])]
    write_page("learned_real", *parts)


def of_peers(cells: list[Measured]) -> str:
    """One row for each set: what was reached, beside the peers on the same rows and folds."""
    rows, n_good = [], 0
    for m in cells:
        assert m.floor is not None
        wrong, record = m.floor
        errors = {peer: float(found[0].mean()) for peer, found in m.peers.items()}
        best = min(errors, key=errors.__getitem__)
        behind = wrong.astype(float) - m.peers[best][0]
        mean, standard_error = float(behind.mean()), float(behind.std(ddof=1) / np.sqrt(len(behind)))
        is_good = mean <= standard_error
        n_good += is_good
        shown = [f"**{100 * errors[peer]:.2f}**" if peer == best else f"{100 * errors[peer]:.2f}" for peer in PEERS]
        rows.append(
            [
                *(m.name, len(m.y), m.n_features, len(np.unique(m.y)), f"{100 * record['reached']:.2f}", *shown),
                f"{100 * mean:+.2f} ± {100 * standard_error:.2f}",
                "" if is_good else "behind",
                f"{record['seconds']:.0f}",
                " / ".join(f"{m.peers[peer][1]['seconds']:.0f}" for peer in PEERS),
            ]
        )
    header = ["set", "rows", "features", "classes", "reached", *PEERS, "behind the best", "", "CPU s", "CPU s of each"]
    text = (
        f"Within one standard error of the best model, or better: {n_good} of {len(cells)} sets. *Behind* is reached "
        "less the best model's error on the same rows, with its paired standard error. The time of a model includes "
        "the choice of its setting."
    )
    return f"{text}\n\n{as_table(header, rows)}"


def of_intervals(cells: list[Measured]) -> str:
    """One row for each set and size: the interval, and the best model of more rows."""
    rows, falsified = [], []
    for m in cells:
        assert m.floor is not None
        record = m.floor[1]
        low, high = record["interval"]
        by = m.falsified_by
        if by:
            falsified.append(f"{m.name} at {len(m.y)}")
        best = ""
        if m.more:
            model = min(m.more, key=lambda peer: float(m.more[peer][0].mean()))
            wrong, about = m.more[model]
            best = f"{100 * wrong.mean():.2f} ({model}, {about['n_train']} rows, tested on {len(wrong)})"
        rows.append(
            [
                *(m.name, len(m.y), f"{100 * record['estimate']:.2f}", f"{100 * low:.2f} to {100 * high:.2f}"),
                *(f"{100 * record['reached']:.2f}", best, ", ".join(by), " ".join(record["findings"])),
            ]
        )
    header = ["set", "rows", "floor", "95% interval", "reached", "best model of more rows", "falsified by", "findings"]
    text = f"Intervals whose lower end a model falsifies: {', '.join(falsified) or 'none'} (of {len(cells)})."
    return f"{text}\n\n{as_table(header, rows)}"


def main() -> None:
    """Run one command."""
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=("peers", "more", "floors", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    asked = parser.parse_args()
    if asked.command == "table":
        write_table(asked.folder)
        return
    sets = {"peers": COMPARED, "more": SETS, "floors": SETS}[asked.command]
    sizes = asked.sizes or {"peers": COMPARED_SIZES, "floors": SIZES}.get(asked.command, (0,))
    warnings.simplefilter("ignore", ConvergenceWarning)  # the number of rounds is fixed
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    for size in sizes:
        for name in asked.sets or sets:
            X, y = load(name)
            if asked.command == "peers":
                measure_peers(asked.folder, name, X, y, size)
            elif asked.command == "more":
                measure_more(asked.folder, name, X, y)
            elif size <= len(y) or name in COMPARED:
                measure_floor(asked.folder, name, X, y, size, asked.again)


if __name__ == "__main__":
    main()
