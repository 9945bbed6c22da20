"""Labels permuted, from a file to what is reached: a small part of benchmarks/truth/permutation.py."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.truth import permutation


@pytest.mark.slow
@pytest.mark.parametrize("table", permutation.KINDS)
def test_nobody_sees_the_labels_of_any_table(table):
    records = [permutation.run_one(table, seed, ["gaussian", "nominal", "linear"]) for seed in range(4)]
    values = np.array([record["value"] for record in records])
    no_skill = 0.0 if permutation.KINDS[table].is_number else 0.5
    # four values tell little of their own deviation: Student's quantile, one in a hundred tables by chance
    reach = stats.t.ppf(0.99, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    assert values.mean() < no_skill + max(reach, 0.03)
    assert sum(record["is_covered"] for record in records) >= 3
