"""Series of pandas beside a frame: the rows of both must have the same names, since they are matched by their place."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

import bayesfloor as bf
from one_case import for_each

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0, "u", "v")
NUMBERS = X[:, 0] + 0.5 * RNG.normal(size=N)
SHUFFLED = RNG.permutation(N)
HOW, HOW_NUMBERS = {"learners": ["gaussian"], "effort": "fast"}, {"learners": ["linear"], "effort": "fast"}
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
PERMUTED = {
    "learned_floor": lambda X, y, z, v: bf.learned_floor(X, y, **HOW),
    "groups": lambda X, y, z, v: bf.learned_floor(X, y.to_numpy(), groups=v, **HOW),
    "time": lambda X, y, z, v: bf.learned_floor(X, y.to_numpy(), time=v, **HOW),
    "sample_weight": lambda X, y, z, v: bf.learned_floor(X, y.to_numpy(), sample_weight=v, **HOW),
    "by": lambda X, y, z, v: bf.learned_floor(X, y.to_numpy(), by=v, **HOW),
    "groups beside y": lambda X, y, z, v: bf.learned_floor(X.to_numpy(), y.sort_index(), groups=v, **HOW),
    "regression_floor": lambda X, y, z, v: bf.regression_floor(X, z, **HOW_NUMBERS),
    "bayes_error": lambda X, y, z, v: bf.bayes_error(X, y),
    "floor_gap": lambda X, y, z, v: bf.floor_gap(GaussianNB(), X, y),
    "predictions": lambda X, y, z, v: bf.floor_gap(None, X, y.to_numpy(), predictions=y),
    "difficulty_report": lambda X, y, z, v: bf.difficulty_report(X, y, effort="fast"),
    "compare_features": lambda X, y, z, v: bf.compare_features({"as it is": "passthrough"}, y, X=X, **HOW),
    "drift": lambda X, y, z, v: bf.drift(X, X, y=(y, y), learners=None),
    "bayes_class_weight": lambda X, y, z, v: bf.bayes_class_weight(X, y),
    "class_forests": lambda X, y, z, v: bf.class_forests(X, y),
    "soft_label_floor": lambda X, y, z, v: bf.soft_label_floor(pd.DataFrame({"u": [0.5] * N, "v": 0.5}), y),
    "StackedClassifier": lambda X, y, z, v: bf.StackedClassifier().fit(X, y),
    "StackedRegressor": lambda X, y, z, v: bf.StackedRegressor().fit(X, z),
    "LandmarkClassifier": lambda X, y, z, v: bf.LandmarkClassifier().fit(X, y),
    "BayesErrorEstimator": lambda X, y, z, v: bf.BayesErrorEstimator().fit(X, y),
    "BayesErrorEstimator.partial_fit": lambda X, y, z, v: bf.BayesErrorEstimator().partial_fit(X, y),
    "SmartSVC": lambda X, y, z, v: bf.SmartSVC().fit(X, y.to_numpy(), sample_weight=v),
    "LinearSVCCV": lambda X, y, z, v: bf.LinearSVCCV().fit(X, y.to_numpy(), groups=v),
    "FloorSelector": lambda X, y, z, v: bf.FloorSelector(1).fit(X, y),
    "TablePreparer": lambda X, y, z, v: bf.TablePreparer().fit(X, y),
}


@for_each("door", PERMUTED)
def test_series_of_another_order_are_refused(door):
    """As statsmodels refuses them: by place, an error of .006 became .45."""
    y, z, values = (pd.Series(each).iloc[SHUFFLED] for each in (LABELS, NUMBERS, np.arange(N) // 2 + 1))
    with pytest.raises(ValueError, match=r"400 rows in common with .*, in another order"):
        PERMUTED[door](FRAME, y, z, values)


def test_rows_with_other_names_are_refused_and_those_without_are_not():
    part, y = FRAME.iloc[5:], pd.Series(LABELS[5:])
    with pytest.raises(ValueError, match="The index of y is not that of X: it has 390 rows in common with X"):
        bf.bayes_error(part, y)
    expected = bf.bayes_error(X[5:], LABELS[5:]).estimate
    same = [(part, y.to_numpy()), (part, y.set_axis(part.index)), (X[5:], y), (pl.from_pandas(FRAME)[5:], y)]
    same.append((part, pl.Series(LABELS[5:].tolist())))
    for points, labels in same:
        assert bf.bayes_error(points, labels).estimate == expected
