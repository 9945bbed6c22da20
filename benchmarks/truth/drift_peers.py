"""Other tests of whether two tables differ, for drift.py; each takes the tables and returns a p-value.

Those of evidently, alibi-detect and deepchecks say yes or no by their own rules: 0 stands for a yes, 1 for a no. They
run in environments of their own (benchmarks/requirements/drift.txt, drift_deepchecks.txt), without bayesfloor:

    python -m benchmarks.truth.drift_peers [--repeats 10] [--tests evidently] [--out FILE.jsonl]
"""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks.problems.drift_pairs import SAME, SHIFTS, pair_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS
from benchmarks.tools.records import append_record, read_records

Frame = pd.DataFrame
Array = NDArray[np.float64]
RECORDS = RESULTS / "drift.jsonl"
#: Pairs of each kind of shift, and of each kind without one; of each for tests that take seconds.
N_SHIFTED, N_SAME, N_PEERS = 25, 100, 10


def points_of(old: Frame, new: Frame) -> tuple[Array, NDArray[np.bool_]]:
    """Return the rows of both tables as numbers of equal scale; gaps at the median, and a column that marks them."""
    both = pd.concat([old, new], ignore_index=True)
    gaps = both.isna()
    numeric = both.select_dtypes("number").columns
    filled = both.assign(**{name: both[name].fillna(both[name].median()) for name in numeric})
    dummies = pd.get_dummies(filled, dtype=float)
    X = np.column_stack([dummies.to_numpy(float), gaps.loc[:, gaps.any()].to_numpy(float)])
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return X, np.arange(len(both)) >= len(old)


def each_column(old: Frame, new: Frame) -> float:
    """Kolmogorov-Smirnov and chi-squared tests of each column and of its gaps, by Bonferroni."""
    found = []
    for name in old.columns:
        a, b = old[name].dropna(), new[name].dropna()
        if pd.api.types.is_numeric_dtype(a):
            found.append(float(stats.ks_2samp(a, b).pvalue))
        else:
            levels = sorted(set(a) | set(b))
            counts = np.array([[np.sum(side == level) for level in levels] for side in (a, b)])
            found.append(float(stats.chi2_contingency(counts).pvalue) if len(levels) > 1 else 1.0)
        gaps = np.array([[side[name].isna().sum(), side[name].notna().sum()] for side in (old, new)])
        if gaps[:, 0].any():
            found.append(float(stats.fisher_exact(gaps).pvalue))
    return min(1.0, len(found) * min(found))


def _classifier_test(model: Any, old: Frame, new: Frame) -> float:
    """Train on half of the rows; are more of the other half told apart than by chance (Lopez-Paz and Oquab 2017)?"""
    from sklearn.model_selection import train_test_split

    X, y = points_of(old, new)
    smaller = min(y.sum(), (~y).sum())
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == side))[:smaller] for side in (False, True)])
    if smaller < 4:
        return 1.0
    train, test = train_test_split(rows, test_size=0.5, stratify=y[rows], random_state=0)
    right = int((model.fit(X[train], y[train]).predict(X[test]) == y[test]).sum())
    return float(stats.binomtest(right, len(test), 0.5, alternative="greater").pvalue)


def logistic_classifier(old: Frame, new: Frame) -> float:
    """The classifier test with logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return _classifier_test(LogisticRegression(max_iter=1000), old, new)


def forest_classifier(old: Frame, new: Frame) -> float:
    """The classifier test with a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return _classifier_test(RandomForestClassifier(100, random_state=0), old, new)


def kernel_mean(old: Frame, new: Frame) -> float:
    """Maximum mean discrepancy, a Gaussian kernel of the median distance, 499 permutations (Gretton et al. 2012)."""
    from scipy.spatial.distance import pdist, squareform

    X, y = points_of(old, new)
    distances = pdist(X, "sqeuclidean")
    kernel = squareform(np.exp(-distances / np.median(distances)))
    rng = np.random.default_rng(0)
    weights = np.where(y, 1.0 / y.sum(), -1.0 / (~y).sum())
    deals = np.vstack([weights, *(rng.permutation(weights) for _ in range(499))])
    found = ((deals @ kernel) * deals).sum(axis=1)
    return float(np.mean(found >= found[0] * (1 - 1e-12)))


#: Tests that need SciPy and scikit-learn alone.
OWN: dict[str, Callable[[Frame, Frame], float]] = {
    "KS per column": each_column,
    "logistic": logistic_classifier,
    "random forest": forest_classifier,
    "MMD": kernel_mean,
}


def by_evidently(old: Frame, new: Frame) -> float:
    """Whether half of the columns drift, evidently's default for a data set."""
    from evidently import Report
    from evidently.presets import DataDriftPreset

    found = Report([DataDriftPreset()]).run(new, old).dict()["metrics"]
    count = next(each["value"] for each in found if "DriftedColumnsCount" in str(each))
    return 0.0 if count["share"] >= 0.5 else 1.0


def by_alibi(old: Frame, new: Frame) -> float:
    """alibi-detect's TabularDrift at 5%: KS and chi-squared per column, by Bonferroni. It knows no gaps."""
    from alibi_detect.cd import TabularDrift

    both = pd.concat([old, new], ignore_index=True)
    kinds: dict[int, Any] = {}
    values = np.zeros(both.shape)
    for place, name in enumerate(both.columns):
        if pd.api.types.is_numeric_dtype(both[name]):
            values[:, place] = both[name].fillna(both[name].median())
        else:
            values[:, place] = both[name].astype("category").cat.codes
            kinds[place] = None
    test = TabularDrift(values[: len(old)], p_val=0.05, categories_per_feature=kinds or None)
    return 0.0 if test.predict(values[len(old) :])["data"]["is_drift"] else 1.0


def by_deepchecks(old: Frame, new: Frame) -> float:
    """deepchecks' MultivariateDrift with its default condition: a drift score, from the AUC of a model, above .25."""
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.checks import MultivariateDrift

    text = [name for name in old.columns if not pd.api.types.is_numeric_dtype(old[name])]
    check = MultivariateDrift(n_top_columns=1).add_condition_overall_drift_value_less_than()
    result = check.run(Dataset(old, cat_features=text), Dataset(new, cat_features=text), with_display=False)
    return 1.0 if result.passed_conditions() else 0.0


#: Tests of other libraries, by the module that they need.
OTHERS: dict[str, tuple[str, Callable[[Frame, Frame], float]]] = {
    "evidently": ("evidently", by_evidently),
    "alibi-detect": ("alibi_detect", by_alibi),
    "deepchecks": ("deepchecks", by_deepchecks),
}


def keys(repeats: int) -> list[tuple[str, int]]:
    """List the pairs that are compared: kinds without a target, with their seeds."""
    kinds = [name for name, kind in (SHIFTS | SAME).items() if not kind.has_target]
    return [(name, seed) for name in kinds for seed in range(repeats)]


def main() -> None:
    from importlib.util import find_spec

    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=N_PEERS)
    parser.add_argument("--tests", nargs="+", choices=OTHERS, default=OTHERS)
    parser.add_argument("--out", type=Path, default=RECORDS)
    arguments = parser.parse_args()
    import warnings

    warnings.simplefilter("ignore")
    done = {(each["kind"], each["seed"], each["test"]) for each in read_records(arguments.out)}
    for test, (module, compare) in OTHERS.items():
        if test not in arguments.tests or find_spec(module) is None:
            continue
        for name, seed in keys(arguments.repeats):
            if (name, seed, test) not in done:
                started = perf_counter()
                p_value = compare(*pair_of(name, seed))
                seconds = round(perf_counter() - started, 3)
                append_record(
                    arguments.out, {"kind": name, "seed": seed, "test": test, "p_value": p_value, "seconds": seconds}
                )
        print(test, "done", flush=True)


if __name__ == "__main__":
    main()
