"""Feature selection by the floor: how fast, and does it find what is there?

Speed: 10 of 60 features of 4000 rows, `FloorSelector` beside scikit-learn's `SequentialFeatureSelector` with five
nearest neighbours and five folds, which also looks at every feature in every step. One after the other, on all cores.
Seconds of processor time, over all threads and processes, depend less on what else the machine is doing.

Finding: data in which the useful features are known, ten seeds each. What is among the first five chosen (the
first two of an exclusive or), beside the univariate scores of scikit-learn; and what "auto" selects.

    python -m benchmarks.truth.selection [speed] [finding]

Writes benchmarks/results/selection.md. Takes about a quarter of an hour on two cores, half of it for the peer.
"""

import os
import resource
from collections.abc import Callable

import numpy as np
from joblib.externals.loky import get_reusable_executor
from sklearn.datasets import make_classification
from sklearn.feature_selection import SequentialFeatureSelector, f_classif, mutual_info_classif
from sklearn.neighbors import KNeighborsClassifier

from bayesfloor import FloorSelector
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import table_head, table_row, this_machine, write_page

N_SEEDS = 10

Data = tuple[np.ndarray, np.ndarray]


def gaussian(seed: int, n: int = 1000, n_features: int = 50) -> Data:
    """Two classes whose means differ in the first five features, by 1.6 down to 1.2 standard deviations."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, n_features))
    X[:, :5] += np.where(y[:, None] == 1, 0.5, -0.5) * np.linspace(1.6, 1.2, 5)
    return X, y


def corners(seed: int, n_clusters: int = 1, n_classes: int = 3) -> Data:
    """Clusters on the corners of a cube of five dimensions, turned and sheared; the rest is noise."""
    return make_classification(
        1000,
        50,
        n_informative=5,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=n_clusters,
        shuffle=False,
        random_state=seed,
    )


def exclusive_or(seed: int) -> Data:
    """The class is the sign of the product of the first two of 20 features: neither says anything alone."""
    X = np.random.default_rng(seed).standard_normal((1000, 20))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def top(scores: np.ndarray, n: int) -> set[int]:
    return set(np.argsort(-scores)[:n].tolist())


def first_chosen(n: int, **options: object) -> Callable[[np.ndarray, np.ndarray], set[int]]:
    return lambda X, y: set(FloorSelector(n, **options).fit(X, y).get_support(indices=True).tolist())


def auto(**options: object) -> Callable[[np.ndarray, np.ndarray], set[int]]:
    return lambda X, y: set(FloorSelector(**options).fit(X, y).get_support(indices=True).tolist())


def univariate(n: int) -> dict[str, Callable[[np.ndarray, np.ndarray], set[int]]]:
    return {
        f"F test, first {n}": lambda X, y: top(f_classif(X, y)[0], n),
        f"mutual information, first {n}": lambda X, y: top(mutual_info_classif(X, y, random_state=0), n),
    }


FORWARD = {
    "forward, first 5": first_chosen(5),
    "forward, first 5, one tree": first_chosen(5, n_trees=1),
    "forward, auto": auto(),
    **univariate(5),
}
CASES = {
    "5 of 50, Gaussian, 2 classes": (gaussian, 5, FORWARD),
    "5 of 50, corners, 3 classes, 1 cluster each": (corners, 5, FORWARD),
    "5 of 50, corners, 2 classes, 2 clusters each": (lambda seed: corners(seed, 2, 2), 5, FORWARD),
    "2 of 20, exclusive or": (
        exclusive_or,
        2,
        {
            "forward, first 2": first_chosen(2),
            "backward, last 2": first_chosen(2, direction="backward"),
            "backward, auto": auto(direction="backward"),
            **univariate(2),
        },
    ),
}


def measure_finding() -> list[str]:
    lines = table_head("data", "method", "useful features found, by seed", "others chosen, mean")
    print("\n".join(lines))
    for case, (make, n_useful, methods) in CASES.items():
        for method, choose in methods.items():
            chosen = [choose(*make(seed)) for seed in range(N_SEEDS)]
            found = [len(each & set(range(n_useful))) for each in chosen]
            others = np.mean([len(each) - n for each, n in zip(chosen, found, strict=True)])
            lines.append(table_row([case, method, " ".join(map(str, found)), f"{others:.1f}"]))
            print(lines[-1], flush=True)
    return lines


def processor_seconds() -> float:
    """Processor time of this process and of worker processes, which count once they have ended."""
    get_reusable_executor().shutdown(wait=True)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure_speed() -> list[str]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 60))
    y = (X[:, :5].sum(axis=1) + rng.standard_normal(4000) > 0).astype(int)
    FloorSelector(2).fit(X[:300, :8], y[:300])  # compile before the clock starts
    neighbours = SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=10, cv=5, n_jobs=os.cpu_count())
    lines = table_head("method", "seconds", "processor seconds", "of the 5 useful features, among 10")
    print("\n".join(lines))
    for name, selector in {
        "FloorSelector(10)": FloorSelector(10),
        "FloorSelector(10, n_trees=1)": FloorSelector(10, n_trees=1),
        "SequentialFeatureSelector, 5 neighbours, 5 folds": neighbours,
    }.items():
        seconds, used, fitted = timed(lambda selector=selector: selector.fit(X, y), processor_seconds)
        lines.append(table_row([name, f"{seconds:.1f}", f"{used:.1f}", fitted.get_support()[:5].sum()]))
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("parts", nargs="*", choices=["speed", "finding", []])
    wanted = parser.parse_args().parts or ["speed", "finding"]
    speed = measure_speed() if "speed" in wanted else []
    finding = measure_finding() if "finding" in wanted else []
    if speed and finding:
        write_page(
            "selection",
            "# Feature selection by the floor",
            f"`python -m benchmarks.truth.selection` on {this_machine()}. Load of the machine over the last fifteen "
            f"minutes, this included: {os.getloadavg()[2]:.1f}.",
            "## Speed: 10 of 60 features of 4000 rows",
            "\n".join(speed),
            "## Finding what is there: ten seeds each",
            "\n".join(finding),
        )


if __name__ == "__main__":
    main()
