"""The loops written for vectors: as kernels compile them and as the interpreter runs them."""

import numpy as np
import pytest

from bayesfloor.forest.sweep.vectors import LANES, LEADING, VECTOR, box_gap, sixteen_distances
from bayesfloor.runtime.kernels import kernel


@kernel
def compiled_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes):
    return box_gap(low_a, high_a, at_a, low_b, high_b, at_b, n_axes)


@kernel
def compiled_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out):
    return sixteen_distances(point, at_point, n_axes, local, at_local, width, limit, out, at_out)


@pytest.mark.parametrize("n_axes", [LANES, 2 * LANES, 5 * LANES])
def test_gaps(n_axes):
    rng = np.random.default_rng(n_axes)
    corners = rng.standard_normal((2, 2, 3 * n_axes)).astype(np.float32)
    (low_a, low_b), (high_a, high_b) = corners.min(axis=0), corners.max(axis=0)
    arguments = low_a, high_a, n_axes, low_b, high_b, 2 * n_axes, n_axes
    gaps = np.maximum(
        np.maximum(low_b[2 * n_axes :] - high_a[n_axes:-n_axes], low_a[n_axes:-n_axes] - high_b[2 * n_axes :]), 0
    )
    assert compiled_gap(*arguments) == pytest.approx(np.sum(gaps.astype(float) ** 2), rel=1e-5)
    assert box_gap(*arguments) == pytest.approx(compiled_gap(*arguments), rel=1e-5)
    assert compiled_gap(low_a, high_a, 0, low_a, high_a, 0, n_axes) == 0.0


@pytest.mark.parametrize("n_axes", [1, 3, 8, 17])
def test_distances(n_axes):
    rng = np.random.default_rng(n_axes)
    width = 3 * VECTOR
    point, others = rng.standard_normal(n_axes + 2), rng.standard_normal((n_axes, width))
    arguments = point.astype(np.float32), 2, n_axes, others.astype(np.float32).ravel(), VECTOR, width
    found = np.full((2, width), np.float32(-1.0))
    ways = compiled_distances, sixteen_distances
    least = [way(*arguments, np.float32(np.inf), row, VECTOR) for way, row in zip(ways, found, strict=True)]
    squares = (others[:, VECTOR : 2 * VECTOR] - point[2:, None]) ** 2
    expected = np.sum(squares, axis=0)
    for row, lowest in zip(found, least, strict=True):
        np.testing.assert_allclose(row[VECTOR : 2 * VECTOR], expected, rtol=1e-5)
        assert lowest == row[VECTOR : 2 * VECTOR].min()
        assert np.all(row[:VECTOR] == -1.0)
        assert np.all(row[2 * VECTOR :] == -1.0)
    # Beyond the limit along the leading axes, the others do not matter.
    along_leading = np.sum(squares[:LEADING], axis=0).min()
    for way, row in zip(ways, found, strict=True):
        assert way(*arguments, np.float32(0.99 * along_leading), row, VECTOR) == pytest.approx(along_leading, rel=1e-5)
        assert way(*arguments, np.float32(1.01 * along_leading), row, VECTOR) == pytest.approx(expected.min(), rel=1e-5)
