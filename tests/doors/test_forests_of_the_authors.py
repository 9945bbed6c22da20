"""Cross-edge counts of iris and wine, equal to those of the paper's authors' own code.

Their counts are cumulative over 1, 2 and 3 trees. They break ties by row order; where that could
matter (`n_tied_distances` above zero) only what no row permutation changed is compared, which the
golden files record for three trees.
"""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import class_forests, spanning_forests
from helpers.one_case import for_each

LOADERS = {"iris": load_iris, "wine": load_wine}
VARIANTS = ["raw", "standardized", "jitter"]


def load(name, variant):
    X, y = LOADERS[name](return_X_y=True)
    if variant == "standardized":
        X = StandardScaler().fit_transform(X)
    elif variant == "jitter":
        noise = np.random.RandomState(12345).standard_normal(X.shape)
        X = X + 1e-3 * noise * X.std(0).mean()
    return X, y


@pytest.mark.parametrize("name", LOADERS)
def test_counts_are_those_of_the_authors(name, golden_dir):
    written = json.loads((golden_dir / f"{name}.json").read_text())
    for variant in VARIANTS:
        golden = written[variant]
        X, y = load(name, variant)
        for seed in (0, 1, 2):
            result = class_forests(X, y, random_state=seed)
            assert result.class_counts.tolist() == golden["class_counts"]
            of_pairs = result.pair_cross_counts.cumsum(axis=0)
            of_whole = result.whole.cross_counts(y).cumsum(axis=0)
            if golden["n_tied_distances"] == 0:
                for n_trees, expected in golden["pairwise_cross_edges_cumulative"].items():
                    np.testing.assert_array_equal(of_pairs[int(n_trees) - 1], expected)
                for n_trees, expected in golden["ovr_cross_edge_matrix_cumulative"].items():
                    np.testing.assert_array_equal(of_whole[int(n_trees) - 1], expected)
            for found, key in ((of_pairs[2], "pairwise_cross_edges"), (of_whole[2].sum(axis=1), "ovr_cross_edges")):
                lowest = np.array(golden[f"{key}_3_perm_min"])
                settled = lowest == np.array(golden[f"{key}_3_perm_max"])
                assert settled.any()
                np.testing.assert_array_equal(found[settled], lowest[settled])


@for_each("name", LOADERS)
def test_neither_float32_nor_the_order_of_rows_matters(name):
    for variant in VARIANTS:
        X, y = load(name, variant)
        single = class_forests(X.astype(np.float32), y)
        # Distances tied in decimals round apart, and in float32 to another order: other points.
        is_tied = (name, variant) == ("iris", "raw")
        double = class_forests(X.astype(np.float32).astype(np.float64) if is_tied else X, y)
        np.testing.assert_array_equal(single.pair_cross_counts, double.pair_cross_counts)
        np.testing.assert_array_equal(single.whole.cross_counts(y), double.whole.cross_counts(y))
        moved = np.random.default_rng(0).permutation(len(y))
        expected = spanning_forests(X).cross_counts(y)
        np.testing.assert_allclose(spanning_forests(X[moved]).cross_counts(y[moved]), expected)
