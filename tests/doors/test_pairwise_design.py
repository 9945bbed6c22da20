"""The design that other tests take their cases from."""

from itertools import combinations, product

from helpers.one_case import for_each
from helpers.pairwise_design import all_pairs


@for_each("sizes", [(3, 2), (1, 4, 3), (4, 4, 4), (7, 5, 3, 2, 2)])
def test_any_two_levels_meet(sizes):
    rows = all_pairs(*map(range, sizes))
    for (f, m), (g, n) in combinations(enumerate(sizes), 2):
        assert {(row[f], row[g]) for row in rows} == set(product(range(m), range(n)))
    largest, second = sorted(sizes)[:-3:-1]
    assert largest * second <= len(rows) <= 1.5 * largest * second
