"""Do the names of the classes decide anything? SmartSVC under three namings, and beside all pairs of classes.

    python -m benchmarks.real.class_names run --state after [--what made|paper] [--workers 1]
    python -m benchmarks.real.class_names table      write benchmarks/results/class_names.md from the records

Class trees are cut where the least weight is lost. Floors of easy classes are 0, and those of hopeless ones 1: these
cuts tie, and what breaks the tie decides what a linear SVM at each node can do. A state is any word: run it once with
the sources of each state on the path.

- *made*: 24 problems of 5 to 100 classes, 40 rows of each to train on and 40 to test. Centres are scaled so that the
  nearest other centre is 6 standard deviations away, for the median class. What breaks ties was chosen on the design
  half, normal centres and noise; the held-out half has centres in a cube or in clusters, noise of another covariance or
  with heavy tails, and classes of unequal size. It was run once, after that.
- *paper*: the paper's 16 sets, at most 4000 rows, 70% to train on; points scaled by the training part.

Trees and predictions are compared at C = 1. Scores are those of C chosen by cross-validation, 5 folds and 7 values from
2^-12 to 2^12 (3 folds and 3 values from 2^-4 for made problems), under the first naming. Each record is appended to
benchmarks/results/class_names.jsonl as soon as it is there.
"""

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import accuracy_score, adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bayesfloor import OneVsOneSVC, SmartSVC
from benchmarks.problems.stored_sets import stored_set
from benchmarks.real.classify import PAPER_ARI
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "class_names.jsonl"
SIZES = (5, 10, 20, 30, 60, 100)
#: Columns, centres and noise of the made problems of each half, two of each number of classes.
KINDS = {
    "design": {3: ("normal", "normal"), 8: ("normal", "normal")},
    "held-out": {4: ("cube", "other covariance"), 12: ("clusters", "heavy tails")},
}
MADE = [(half, n, d) for half, kinds in KINDS.items() for n in SIZES for d in kinds]
N_NAMINGS = 3
MAX_ROWS = 4000
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def made(half: str, n_classes: int, n_features: int) -> Split:
    """Draw a made problem: rows to train on, their classes, rows to test, their classes."""
    centres_of, noise_of = KINDS[half][n_features]
    rng = np.random.default_rng([half == "held-out", n_classes, n_features])
    centres = rng.standard_normal((n_classes, n_features))
    if centres_of == "cube":
        centres = rng.random((n_classes, n_features))
    elif centres_of == "clusters":
        centres += 3.0 * rng.standard_normal((n_classes // 5, n_features))[np.arange(n_classes) % (n_classes // 5)]
    apart = squareform(pdist(centres)) + np.diag(np.full(n_classes, np.inf))
    centres *= 6.0 / np.median(apart.min(axis=1))
    sizes = np.full(n_classes, 80)
    if half == "held-out":
        sizes = rng.integers(30, 160, n_classes)
    y = np.repeat(np.arange(n_classes), sizes)
    noise = rng.standard_normal((len(y), n_features))
    if noise_of == "other covariance":
        mixing = rng.standard_normal((n_features, n_features))
        noise = noise @ (mixing / np.linalg.norm(mixing, axis=0))
    elif noise_of == "heavy tails":
        noise /= np.sqrt(rng.chisquare(5, (len(y), 1)) / 3.0)  # variance 1
    return scaled(centres[y] + noise, y, 0.5)


def of_paper(name: str) -> Split:
    """Read one of the paper's sets."""
    X, y = stored_set(f"paper/{name}")
    if len(y) > MAX_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MAX_ROWS, stratify=y, random_state=0)
    return scaled(X, y, 0.3)


def scaled(X: np.ndarray, y: np.ndarray, test_size: float) -> Split:
    X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def splits_of(tree, old_name: np.ndarray) -> set:
    """Return the splits of a tree by the first names of the classes."""
    sides = ((node.left, node.right) for node in tree.nodes)
    return {frozenset(frozenset(old_name[list(side)].tolist()) for side in pair) for pair in sides}


def measure(state: str, what: str, *key: str) -> dict:
    """Fit one problem under all namings, and tune it under the first."""
    X, y, X_test, y_test = of_paper(*key) if what == "paper" else made(key[0], int(key[1]), int(key[2]))
    y, y_test = (np.searchsorted(np.unique(y), each) for each in (y, y_test))
    n_classes = int(y.max()) + 1
    trees, predictions = [], []
    for naming in range(N_NAMINGS):
        name = np.random.default_rng(naming).permutation(n_classes) if naming else np.arange(n_classes)
        fitted = SmartSVC(1.0, n_jobs=1).fit(X, name[y])
        trees.append(splits_of(fitted.tree_, np.argsort(name)))
        predictions.append(np.argsort(name)[fitted.predict(X_test)])
    if what == "paper":
        tuning = {"Cs": np.exp2(np.arange(-12.0, 13.0, 4.0)), "cv": 5, "n_jobs": 1}
    else:
        tuning = {"Cs": np.exp2(np.arange(-4.0, 5.0, 4.0)), "cv": 3, "n_jobs": 1}
    record = {
        "state": state,
        "what": what,
        "key": list(key),
        "n_rows": len(y),
        "n_classes": n_classes,
        "same_trees": all(tree == trees[0] for tree in trees[1:]),
        "equal": round(min(float(np.mean(each == predictions[0])) for each in predictions[1:]), 4),
        "at_1": [round(float(accuracy_score(y_test, each)), 4) for each in predictions],
        "depth": fitted.tree_.depth,
    }
    methods = {"smart": SmartSVC, "pairs": OneVsOneSVC}
    for method, classifier in methods.items():
        predicted = classifier(**tuning).fit(X, y).predict(X_test)
        record[method] = round(float(accuracy_score(y_test, predicted)), 4)
        record[f"{method}_ari"] = round(float(adjusted_rand_score(y_test, predicted)), 4)
    return record


def run(state: str, what: str | None, workers: int) -> None:
    done = {(each["state"], each["what"], *each["key"]) for each in read_records(RECORDS)}
    keys = [(state, "made", half, str(n), str(d)) for half, n, d in MADE]
    keys += [(state, "paper", name) for name in PAPER_ARI]
    wanted = [key for key in keys if key not in done and what in (None, key[1])]
    measure_all(measure, wanted, RECORDS, workers)


def write_tables(records: list[dict]) -> None:
    """Write the page, with whatever has been measured."""
    found = {(each["state"], *each["key"]): each for each in records}
    states = list(dict.fromkeys(each["state"] for each in records))
    parts = []
    for half in HALVES:
        keys = [(half, str(n), str(d)) for n in SIZES for d in KINDS[half]]
        rows = [made_row(key, found, states) for key in keys if all((state, *key) in found for state in states)]
        header = ["classes", "columns", "all pairs", *(f"{state} {value}" for state in states for value in MADE_VALUES)]
        parts += [f"## Made problems: {half}", as_table(header, rows), made_sentence(keys, found, states)]
    keys = [(name,) for name in PAPER_ARI if all((state, name) in found for state in states)]
    header = ["set", "rows", "all pairs", *(f"{state} {value}" for state in states for value in PAPER_VALUES)]
    parts += ["## The paper's sets", as_table(header, [paper_row(key, found, states) for key in keys])]
    parts.append(paper_sentence(keys, found, states))
    write_page(
        "class_names",
        "# Names of classes, and cuts that tie",
        "Made by `python -m benchmarks.real.class_names run --state …` and `… table`. *Same tree*: under three namings "
        "of the classes. *Equal*: the smallest share of test rows with the same prediction as under the first naming, "
        "at C = 1.",
        notes_of("class_names"),
        *parts,
    )


MADE_VALUES = ("accuracy", "same tree", "equal", "depth")
PAPER_VALUES = ("ARI", "same tree", "equal")


def made_row(key: tuple, found: dict, states: list[str]) -> list:
    row = [key[1], key[2], f"{found[(states[-1], *key)]['pairs']:.3f}"]
    for state in states:
        each = found[(state, *key)]
        row += [f"{each['smart']:.3f}", "yes" if each["same_trees"] else "no", f"{each['equal']:.3f}", each["depth"]]
    return row


def made_sentence(keys: list[tuple], found: dict, states: list[str]) -> str:
    said = []
    for state in states:
        gaps = {key: found[(state, *key)]["pairs"] - found[(state, *key)]["smart"] for key in keys}
        few = max(gap for key, gap in gaps.items() if int(key[1]) <= 30)
        many = max(gap for key, gap in gaps.items() if int(key[1]) > 30)
        said.append(
            f"{state}: at most {few:.3f} below all pairs up to 30 classes, {many:.3f} with 60 and 100; "
            f"{np.mean(list(gaps.values())):.3f} on average."
        )
    return "\n\n".join(said)


def paper_row(key: tuple, found: dict, states: list[str]) -> list:
    row = [key[0], found[(states[-1], *key)]["n_rows"], f"{found[(states[-1], *key)]['pairs_ari']:.3f}"]
    for state in states:
        each = found[(state, *key)]
        row += [f"{each['smart_ari']:.3f}", "yes" if each["same_trees"] else "no", f"{each['equal']:.3f}"]
    return row


def paper_sentence(keys: list[tuple], found: dict, states: list[str]) -> str:
    said = []
    for state in states:
        all_of = [found[(state, *key)] for key in keys]
        said.append(
            f"{state}: mean ARI {np.mean([each['smart_ari'] for each in all_of]):.4f}, the same tree under all namings "
            f"on {sum(each['same_trees'] for each in all_of)} of {len(keys)} sets."
        )
    return "\n\n".join(said)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--state", default="after")
    parser.add_argument("--what", choices=["made", "paper"], default=None)
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.command == "table":
        write_tables(read_records(RECORDS))
    else:
        run(chosen.state, chosen.what, chosen.workers)
