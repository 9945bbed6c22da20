"""How rows are cut into partitions."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesfloor.forest.partitions.layout import MOST_PARTITION_BYTES, cut_rows, rows_per_partition
from forest.point_sets import make_labels, make_points


@pytest.mark.parametrize("n_features", [1, 64, 784, 100_000])
def test_partitions_stay_small_while_rows_grow(n_features):
    sizes = [rows_per_partition(n, n_features, 8) for n in (10**3, 10**5, 10**7, 10**9)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == rows_per_partition(10**12, n_features, 8)  # no longer depends on the number of rows
    assert all(8 * n_features * size <= max(MOST_PARTITION_BYTES, 8 * n_features) for size in sizes)


@pytest.mark.parametrize("most_rows", [2, 7, 100, 5000])
@pytest.mark.parametrize("n_classes", [1, 3, 50])
def test_every_row_is_in_one_partition_of_its_class(n_classes, most_rows):
    X, y = make_points("some_copies", 1000, 3), make_labels(1000, n_classes)
    order = np.random.default_rng(0).permutation(1000).astype(np.int32)
    rank = np.argsort(order)
    layout = cut_rows(order, y, n_classes, X, most_rows)
    assert_array_equal(np.sort(layout.rows), np.arange(1000))
    assert [c for unit in layout.units for c in unit.classes] == list(range(n_classes))
    assert [b for unit in layout.units for b in unit.partitions] == list(range(layout.n_partitions))
    assert np.diff(layout.partition_starts).min() > 0
    for unit in layout.units:
        for partition in unit.partitions:
            rows, parts = layout.rows_of(partition), layout.part_starts(unit, partition)
            assert len(rows) <= most_rows
            assert len(parts) == len(unit.classes) + 1
            for c, first, last in zip(unit.classes, parts[:-1], parts[1:], strict=True):
                assert set(y[rows[first:last]]) == {c}
                assert np.all(np.diff(rank[rows[first:last]]) > 0)


def test_partitions_are_of_neighbours():
    line = np.random.default_rng(0).permutation(1000.0 * np.arange(1000)).reshape(-1, 1)
    layout = cut_rows(np.arange(1000, dtype=np.int32), np.zeros(1000, np.int64), 1, line, 130)
    assert layout.n_partitions == 8
    widths = [np.ptp(line[layout.rows_of(partition)]) for partition in range(8)]
    assert widths == [124_000.0] * 8
