"""The floor of real data sets beside what good classifiers reach.

For each of the paper's sixteen sets (the two wine sets also without their leak, and without copies): the whole-problem
floor with its bounds and interval, from all rows, standardised; and the error of three classifiers
on a stratified 30% of the rows, trained on the rest.

    python benchmarks/floor_real.py [SET ...]

Reads the data sets from $BAYESFLOOR_DATA, or from shared/data beside the repository, and writes
benchmarks/results/floor_real.md. Takes about a quarter of an hour on two cores, half of it for fars.
docs/floor.md says what to make of the table.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor.floor import bayes_error

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "floor_real.md"

SETS = [
    *(f"paper/{name}" for name in ("abalone", "fars", "flare", "kr-vs-k", "letter", "nursery", "optdigits")),
    *(f"paper/{name}" for name in ("pageblocks", "pendigits", "satimage", "segment", "shuttle", "texture")),
    *("paper/wine_red", "extra/wine_red_noleak", "extra/wine_red_noleak distinct"),
    *("paper/wine_white", "extra/wine_white_noleak", "extra/wine_white_noleak distinct", "paper/yeast"),
]

#: A kernel machine takes hours beyond this.
LARGEST_FOR_SVC = 30_000


def classifiers(n_rows: int) -> dict[str, object]:
    chosen: dict[str, object] = {
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "extra trees": ExtraTreesClassifier(200, random_state=0),
    }
    if n_rows <= LARGEST_FOR_SVC:
        chosen["RBF SVM"] = make_pipeline(StandardScaler(), SVC(C=10.0))
    return chosen


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a set; "... distinct" keeps one of each group of rows with equal features and label."""
    file, _, distinct = name.partition(" ")
    table = np.load(DATA / f"{file}.npz", allow_pickle=False)
    X, y = table["X"].astype(np.float64), table["y"]
    if distinct:
        kept = np.sort(np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1])
        X, y = X[kept], y[kept]
    return X, y


def row_of(name: str) -> str:
    X, y = load(name)
    scaled = StandardScaler().fit_transform(X)
    draws = 3 if len(X) < 50_000 else 1
    floor = bayes_error(scaled, y, n_tie_draws=draws)
    first_tree = bayes_error(scaled, y, n_trees=1, n_tie_draws=draws)
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    errors = {}
    for kind, classifier in classifiers(len(X)).items():
        start = time.perf_counter()
        errors[kind] = 1 - classifier.fit(parts[0], parts[2]).score(parts[1], parts[3])  # type: ignore[attr-defined]
        print(f"  {name} {kind}: {errors[kind]:.4f} in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    best = min(errors.values())
    cells = [f"{errors[kind]:.3f}" if kind in errors else "–" for kind in ("boosting", "extra trees", "RBF SVM")]
    low, high = floor.interval
    codes = " ".join(finding.code for finding in floor.findings)
    mark = "**above**" if floor.estimate > best else ""
    return (
        f"| {name.split('/')[1]} | {len(X)} | {X.shape[1]} | {floor.n_classes} | {floor.estimate:.3f} | "
        f"{low:.3f} to {high:.3f} | {floor.lower:.3f} to {floor.upper:.3f} | {first_tree.estimate:.3f} | "
        f"{' | '.join(cells)} | {mark} | {codes} |"
    )


def main() -> None:
    lines = [
        "# Floors beside classifiers",
        "",
        "`python benchmarks/floor_real.py`. Floor, interval and bounds of the whole problem, all rows, standardised;",
        "three trees, forced edges dropped. Error of three classifiers on a stratified 30% of the rows, one split.",
        "What to make of it is in [docs/floor.md](../../docs/floor.md).",
        "",
        "| set | rows | features | classes | floor | 95% interval | bounds | floor, 1 tree "
        "| boosting | extra trees | RBF SVM | floor against best | findings |",
        "|" + "---|" * 13,
    ]
    print("\n".join(lines))
    for name in sys.argv[1:] or SETS:
        lines.append(row_of(name))
        print(lines[-1], flush=True)
    if len(sys.argv) == 1:
        RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
