"""Errors of the same probabilities at telling classes from the rest and from each other."""

import numpy as np

from bayesfloor.floor.learned.stack_errors import errors_by_class


def test_against_plain_loops():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), 200)
    q[:20] = 0.25  # ties
    codes = rng.integers(0, 4, 200)
    against_rest, in_pairs = errors_by_class(q, codes, np.ones(len(codes)))
    named = q.argmax(axis=1)
    for a in range(4):
        assert against_rest[a] == np.mean((named == a) != (codes == a))
        assert in_pairs[a, a] == 0
        for b in range(4):
            if a != b:
                rows = np.flatnonzero((codes == a) | (codes == b))
                wrong = 0.0
                for row in rows:
                    own, other = (a, b) if codes[row] == a else (b, a)
                    wrong += 1.0 if q[row, other] > q[row, own] else 0.5 if q[row, other] == q[row, own] else 0.0
                assert in_pairs[a, b] == wrong / len(rows)


def test_a_class_without_rows():
    against_rest, in_pairs = errors_by_class(np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]), np.array([0, 1]), np.ones(2))
    assert against_rest.tolist() == [0, 0, 0]
    assert in_pairs.tolist() == np.zeros((3, 3)).tolist()
