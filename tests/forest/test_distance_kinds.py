"""Trees in other distances, equal to those that SciPy's distances have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from bayesfloor import spanning_forests
from bayesfloor.forest import plan
from forest.agreement import assert_same_partition
from forest.point_sets import make_points
from naive_forests import naive_forests

DISGUISED = ("cosine", "correlation", "mahalanobis")


@pytest.mark.parametrize("distance", ["euclidean", *DISGUISED])
@pytest.mark.parametrize(("n", "d"), [(300, 5), (250, 40)])
def test_equal_to_scipy(distance, n, d):
    X = make_points("gaussian", n, d) + 0.3
    forests = spanning_forests(X, n_trees=2, distance=distance)
    expected = linkage(pdist(X, distance), "single")
    merges = forests.to_linkage()
    assert_array_equal(merges[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert_allclose(merges[:, 2], expected[:, 2], rtol=1e-9)
    distances = squareform(pdist(X, distance))
    assert_allclose(forests.weights, distances[tuple(forests.edges.T)], rtol=1e-9)
    assert forests.distance == distance


def test_inverse_covariance_of_the_callers():
    X = make_points("gaussian", 200, 4)
    root = np.random.default_rng(0).standard_normal((4, 4))
    VI = root @ root.T
    merges = spanning_forests(X, distance="mahalanobis", VI=VI.tolist()).to_linkage()
    assert_allclose(merges[:, 2], linkage(pdist(X, "mahalanobis", VI=VI), "single")[:, 2], rtol=1e-9)


@pytest.mark.parametrize("distance", DISGUISED)
def test_core_distances_in_the_metric(distance):
    X = make_points("gaussian", 250, 6) + 0.5
    distances = squareform(pdist(X, distance))
    core = np.sort(distances, axis=1)[:, 4]
    reach = np.maximum(distances, np.maximum.outer(core, core))
    expected = linkage(squareform(reach, checks=False), "single")[:, 2]
    for given in (4, core):
        forests = spanning_forests(X, n_trees=1, distance=distance, core_distances=given)
        assert_allclose(forests.to_linkage()[:, 2], expected, rtol=1e-9)
        assert_allclose(forests.core_distances, core, rtol=1e-9)


@pytest.mark.parametrize("distance", DISGUISED)
@pytest.mark.parametrize("d", [3, 7, 33])
def test_identical_rows_stay_identical(distance, d):
    """Wherever they stand, and however a product of matrices rounds there."""
    rows = np.random.default_rng(0).integers(0, 50, 301)
    X = np.random.default_rng(1).standard_normal((50, d))[rows]
    forests = spanning_forests(X, distance=distance, n_trees=1)
    assert_same_partition(forests.sites, rows)
    assert np.count_nonzero(forests.weights == 0.0) == 301 - len(np.unique(rows))


@pytest.mark.parametrize("distance", ["cosine", "correlation"])
@pytest.mark.parametrize("factor", [2.0**-600, 2.0**600])
def test_rows_of_any_length(distance, factor):
    """Their squares would overflow or vanish."""
    X = make_points("gaussian", 100, 5)
    expected = spanning_forests(X, distance=distance)
    found = spanning_forests(X * factor ** (np.arange(100) % 2)[:, None], distance=distance)
    assert_array_equal(found.edges, expected.edges)
    assert_array_equal(found.weights, expected.weights)


def test_far_from_zero():
    X = make_points("gaussian", 150, 6)
    shifted = X + 1e8 * np.arange(1, 151)[:, None]
    exact = shifted - 1e8 * np.arange(1, 151)[:, None]  # what is left of X there
    found = spanning_forests(shifted, distance="correlation", n_trees=1)
    assert_allclose(found.weights, spanning_forests(exact, distance="correlation", n_trees=1).weights, rtol=1e-6)
    wide = X * 10.0 ** np.arange(-60, 60, 20) + 1e3
    scaled = (wide - 1e3) * 10.0 ** -np.arange(-60.0, 60, 20)
    kept = np.ptp(wide, axis=0) > 0
    one = spanning_forests(wide[:, kept], distance="mahalanobis", n_trees=1)
    assert_allclose(
        one.weights, spanning_forests(scaled[:, kept], distance="mahalanobis", n_trees=1).weights, rtol=1e-6
    )


def test_the_transformation_is_what_is_stated():
    """The Euclidean trees of points that the caller has transformed."""
    X = make_points("gaussian", 220, 3)
    points = X / np.linalg.norm(X, axis=1, keepdims=True)
    forests = spanning_forests(X, distance="cosine")
    assert_array_equal(forests.edges, naive_forests(points, 3).edges)
    assert_allclose(forests.weights, naive_forests(points, 3).weights ** 2 / 2, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "distance", "message"),
    [
        ([[1.0, 2.0], [0.0, -0.0], [0.0, 0.0]], "cosine", r"no distance for row 1, which is zero.*\(2 such rows\)"),
        ([[1.0, 2.0], [0.1, 0.1], [3.0, 1.0]], "correlation", "no distance for row 1, which is constant"),
        ([[1.0], [2.0], [3.0]], "correlation", r"no distance for row 0, which is constant.*\(3 such rows\)"),
        ([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], "mahalanobis", "singular: column 1 is constant"),
        ([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]], "mahalanobis", "singular: its rank is 1, of 2 columns and 3 rows"),
        ([[1.0, 2.0], [2.0, 3.0]], "mahalanobis", "singular: its rank is 1"),
        ([[1.0, 2.0], [2.0, 4.0]], "manhattan", "'distance' parameter must be one of 'euclidean', 'cosine'"),
        ([[1.0, 2.0], [2.0, 4.0]], None, "'distance' parameter must be one of"),
        ([[1.0, np.nan], [2.0, 4.0]], "cosine", "contains NaN"),
    ],
)
def test_rows_that_a_metric_has_no_distance_for(X, distance, message):
    with pytest.raises(ValueError, match=message):
        spanning_forests(X, distance=distance)


@pytest.mark.parametrize(
    ("VI", "message"),
    [
        (np.eye(3), r"its shape is \(3, 3\)"),
        ([[1.0, 0.5], [0.0, 1.0]], "not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite"),
        ([[1.0, np.inf], [np.inf, 1.0]], "NaN or infinity"),
        ("VI", "'VI' parameter must be a symmetric"),
    ],
)
def test_what_is_no_inverse_covariance(VI, message):
    with pytest.raises(ValueError, match=message):
        spanning_forests([[0.0, 1.0], [2.0, 5.0], [3.0, 3.0]], distance="mahalanobis", VI=VI)


def test_what_cannot_be_had_is_refused_early(tmp_path):
    X = make_points("gaussian", 50, 2)
    np.save(tmp_path / "points.npy", X)
    with pytest.raises(ValueError, match="VI belongs to distance='mahalanobis', and distance is 'euclidean'"):
        spanning_forests(X, VI=np.eye(2))
    with pytest.raises(ValueError, match="distance='cosine' needs all rows in memory"):
        spanning_forests(X, distance="cosine", client=object())
    with (
        plan.override(partition_rows=10),
        pytest.raises(ValueError, match="distance='cosine' needs all rows in memory"),
    ):
        spanning_forests(tmp_path / "points.npy", distance="cosine")
    assert spanning_forests(tmp_path / "points.npy", distance="cosine").distance == "cosine"
