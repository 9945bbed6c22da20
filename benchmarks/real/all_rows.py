"""The learned floor of all rows, beside single models that are given the same rows.

    python -m venv .venv-learned && .venv-learned/bin/pip install . -r benchmarks/requirements/learned.txt
    .venv-learned/bin/python -m benchmarks.real.all_rows floors FOLDER [SET ...]
    .venv-learned/bin/python -m benchmarks.real.all_rows peers FOLDER [SET ...]
    .venv-learned/bin/python -m benchmarks.real.all_rows table FOLDER

`floors` runs `learned_floor` with all rows of a set and writes down which rows were held out. `peers` trains each model
on the rows that the stack was trained on at its largest size, and tests it on the same held-out rows; classes of which
more were held out than their share count less, as in the floor. Their settings are common ones, none was tuned. `table`
writes benchmarks/results/all_rows.md.

The sets are read from $BAYESFLOOR_DATA, or from shared/data beside the repository. What was measured stays in FOLDER.
Seconds are those of the processor, of all threads together, kernels loaded.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.held_out_rows import held_out_rows
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import as_table, write_page

SETS = {
    "letter": "paper",
    "kr-vs-k": "paper",
    "shuttle": "paper",
    "fars": "paper",
    "mnist": "extra",
    "covertype": "extra",
}


def load(name: str) -> tuple[Any, Any]:
    """Return points and labels."""
    return stored_set(f"{SETS[name]}/{name}")


def measure_floor(name: str, folder: Path) -> None:
    """Run `learned_floor` and keep what it found, and the rows that it held out."""
    X, y = load(name)
    held_out_rows(X[:: len(X) // 500], y[:: len(X) // 500])  # loads kernels
    _, seconds, (floor, held) = timed(lambda: held_out_rows(X, y))
    rows = held.learned.plan.given
    tested = rows[held.tested]
    weights = held.counted.class_weights[held.counted.codes]
    splits = {}
    for number, (train, places) in enumerate(held.splits):
        splits |= {f"train{number}": rows[train], f"places{number}": places}
    np.savez_compressed(folder / f"{name}.npz", tested=tested, weights=weights, n_splits=len(held.splits), **splits)
    result = {
        "n_rows": floor.n_rows,
        "n_features": X.shape[1],
        "n_classes": floor.n_classes,
        "n_tested": len(tested),
        "estimate": floor.estimate,
        "interval": floor.interval,
        "reached": floor.reached,
        "sizes": floor.curve.size.tolist(),
        "errors": floor.curve.value.tolist(),
        "weights": dict(list(floor.weights.items())[:3]),
        "seconds": seconds,
        "findings": [str(finding) for finding in floor.findings],
    }
    (folder / f"{name}.floor.json").write_text(json.dumps(result, indent=1))
    print(name, floor, floor.curve, f"{seconds:.0f} s", floor.weights, *floor.findings, sep="\n", flush=True)


def models(name: str) -> dict[str, Any]:
    """Return the models to compare with; kernel machines where their cost allows."""
    from lightgbm import LGBMClassifier
    from sklearn.decomposition import PCA
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from sklearn.svm import SVC

    n_trees = 30 if name == "covertype" else 100
    found = {
        "LightGBM": LGBMClassifier(n_estimators=100, num_leaves=63, random_state=0, n_jobs=1, verbose=-1),
        "ExtraTrees": ExtraTreesClassifier(n_trees, random_state=0, n_jobs=1),
    }
    if name in ("letter", "kr-vs-k", "shuttle"):
        found["RBF-SVM"] = make_pipeline(StandardScaler(), SVC(C=30.0))

    if name == "mnist":
        scaled = FunctionTransformer(in_unit, kw_args={"unit": 255.0})
        found["RBF-SVM of 50 components"] = make_pipeline(scaled, PCA(50, random_state=0), SVC(C=10.0))
    return found


def in_unit(X: Any, unit: float) -> Any:
    """Return points in another unit."""
    return X / unit


def measure_peers(name: str, folder: Path, only: list[str] | None) -> None:
    """Train each model on the rows of the stack and test it on those that were held out."""
    X, y = load(name)
    with np.load(folder / f"{name}.npz") as kept:
        arrays = dict(kept)
    tested, weights = arrays["tested"], arrays["weights"]
    file = folder / f"{name}.peers.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    for model_name, model in models(name).items():
        if model_name in known or (only and model_name not in only):
            continue

        def error_of(model: Any = model) -> float:
            wrong = np.empty(len(tested))
            for number in range(int(arrays["n_splits"])):
                train, places = arrays[f"train{number}"], arrays[f"places{number}"]
                test = tested[places]
                wrong[places] = model.fit(X[train], y[train]).predict(X[test]) != y[test]
            return float((weights * wrong).mean())

        _, seconds, error = timed(error_of)
        known[model_name] = {"error": error, "seconds": seconds}
        print(name, model_name, known[model_name], flush=True)
        file.write_text(json.dumps(known, indent=1))


def write_table(folder: Path) -> None:
    """Write what was measured as a page."""
    floors, curves, models_of = [], [], []
    for name in SETS:
        file = folder / f"{name}.floor.json"
        if not file.exists():
            continue
        found = json.loads(file.read_text())
        peers_file = folder / f"{name}.peers.json"
        peers = json.loads(peers_file.read_text()) if peers_file.exists() else {}
        best = min(peers, key=lambda model: peers[model]["error"], default="")
        best_text = f"{peers[best]['error']:.4f} ({best})" if best else "–"
        size = f"{found['n_rows']} × {found['n_features']}, {found['n_classes']}"
        low, high = found["interval"]
        row = [name, size, found["n_tested"], f"{found['estimate']:.4f}", f"{low:.4f} to {high:.4f}"]
        floors.append([*row, f"{found['reached']:.4f}", best_text, f"{found['seconds']:.0f}"])
        points = ", ".join(f"{s:.0f}: {e:.4f}" for s, e in zip(found["sizes"], found["errors"], strict=True))
        curves.append([name, points, ", ".join(found["weights"])])
        models_of += [[name, model, f"{r['error']:.4f}", f"{r['seconds']:.0f}"] for model, r in peers.items()]
    heads = ["set", "rows × features, classes", "tested", "floor", "95% interval", "reached", "best single model"]
    write_page(
        "all_rows",
        "# The learned floor of all rows",
        "`python -m benchmarks.real.all_rows`: `learned_floor(X, y)` with every row of six sets, beside single models "
        "that were trained on the same rows and tested on the same held-out ones. Seconds of the processor, all "
        "threads together, on 2 cores (aarch64) that other work ran on at the same time.",
        as_table([*heads, "seconds"], floors),
        as_table(["set", "training rows and errors", "largest exponents in the stack"], curves),
        as_table(["set", "model", "error", "seconds"], models_of),
    )


def main() -> None:
    """Read the command line and do what it says."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("floors", "peers", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--models", nargs="*")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "table":
        write_table(given.folder)
    for name in given.sets or SETS:
        if given.what == "floors":
            measure_floor(name, given.folder)
        elif given.what == "peers":
            measure_peers(name, given.folder, given.models)


if __name__ == "__main__":
    main()
