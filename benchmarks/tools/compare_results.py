"""Do two versions of the package give the same results, bit for bit?

    python -m benchmarks.tools.compare_results record old.json     # with one version on the path
    python -m benchmarks.tools.compare_results record new.json     # with the other
    python -m benchmarks.tools.compare_results compare old.json new.json

`record` runs over the data sets in $BAYESFLOOR_DATA (or ../shared/data) and writes a SHA-256 checksum for each result:
edges and lengths of forests, floors with their intervals, class trees, predictions and coefficients. `compare` lists
what differs and exits with 1 if anything does.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayesfloor as bf
from benchmarks.problems.stored_sets import DATA, stored_set
from benchmarks.tools.command_line import parser_of

#: Rows of a set that classifiers and the learned floor see; forests see LARGEST.
FEW, LARGEST = 1500, 6000


def checksum(*values: Any) -> str:
    """Return a checksum of arrays, numbers and text, type and shape included."""
    digest = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        if array.dtype.kind in "OUS":
            digest.update(repr(array.tolist()).encode())
        else:
            kind = np.float64 if array.dtype.kind == "f" else np.int64
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array, kind).tobytes())
    return digest.hexdigest()[:24]


def of_forests(forests: Any) -> str:
    """Checksum all edges, with their order and their trees."""
    return checksum(forests.edges, forests.weights, forests.tree)


def floors(X: Any, y: Any) -> Iterator[tuple[str, str]]:
    """Forests and the floors from them."""
    yield "spanning_forests", of_forests(bf.spanning_forests(X))
    yield "one tree, other seed", of_forests(bf.spanning_forests(X, n_trees=1, random_state=7))
    forests = bf.class_forests(X, y)
    yield "class_forests", checksum(forests.pair_cross_counts, forests.whole.edges, forests.whole.weights)
    whole, pairs, classes = bf.bayes_error(X, y), bf.pairwise_bayes_error(X, y), bf.one_vs_rest_bayes_error(X, y)
    for name, floor in (("bayes_error", whole), ("pairwise", pairs), ("one_vs_rest", classes)):
        yield name, checksum(floor.estimate, floor.interval, floor.lower, floor.upper, floor.p_value)
    for cut in ("min-cut", "average-linkage"):
        tree = bf.build_class_tree(pairs.normalized, pairs.classes, cut=cut)
        yield f"tree by {cut}", checksum(repr(tree.to_nested()))


def learned(X: Any, y: Any) -> Iterator[tuple[str, str]]:
    """The learned floor, and choices by floors."""
    floor = bf.learned_floor(X, y)
    curve = floor.curve.value
    yield "learned_floor", checksum(floor.estimate, floor.interval, floor.reached, curve, floor.class_reached)
    weights = bf.bayes_class_weight(X, y)
    yield "bayes_class_weight", checksum(list(weights.values()))
    selector = bf.FloorSelector(n_features_to_select=3).fit(X[:, :20], y)
    yield "selector", checksum(selector.get_support())


def classifiers(X: Any, y: Any) -> Iterator[tuple[str, str]]:
    """Predictions of every classifier, trained on the even rows."""
    makers: dict[str, Callable[[], Any]] = {
        "SmartSVC": lambda: bf.SmartSVC(Cs=7, cv=5),
        "SmartSVC soft": lambda: bf.SmartSVC(C=1.0, routing="soft"),
        "LinearSVCCV": lambda: bf.LinearSVCCV(Cs=7, cv=5),
        "OneVsOneSVC": lambda: bf.OneVsOneSVC(Cs=5, cv=5),
        "HierarchicalClassifier": lambda: bf.HierarchicalClassifier(bf.LinearSVCCV(C=1.0), random_state=0),
    }
    for name, make in makers.items():
        model = make().fit(X[::2], y[::2])
        yield name, checksum(model.predict(X[1::2]))
        if hasattr(model, "predict_proba"):
            yield f"{name} probabilities", checksum(model.predict_proba(X[1::2]))


def record(file: Path) -> None:
    sums: dict[str, str] = {}
    for path in sorted(DATA.glob("*/*.npz")):
        X, y = stored_set(f"{path.parent.name}/{path.stem}")
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order[:LARGEST]], y[order[:LARGEST]]
        few_X, few_y = X[:FEW], y[:FEW]
        labels, counts = np.unique(few_y, return_counts=True)
        kept = np.isin(few_y, labels[counts >= 20])
        few_X, few_y = few_X[kept], few_y[kept]
        spread = few_X.std(axis=0)
        few_X = (few_X - few_X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        parts = [floors(X, y)]
        if few_X.shape[1] <= 100:
            parts += [learned(few_X, few_y), classifiers(few_X, few_y)]
        for part in parts:
            for name, value in part:
                sums[f"{path.stem}: {name}"] = value
                print(path.stem, name, value, flush=True)
    file.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")


def compare(old: Path, new: Path) -> int:
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    differing = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    print(f"{len(before.keys() | after.keys()) - len(differing)} results are the same, {len(differing)} differ")
    print("\n".join(differing))
    return 1 if differing else 0


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "record":
        record(*arguments.files)
    else:
        sys.exit(compare(*arguments.files))
