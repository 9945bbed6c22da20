"""Errors of the same probabilities at telling classes from the rest and from each other."""

import numpy as np
import pytest

from bayesfloor.floor.learned.stack_errors import confusion_matrix, errors_by_class, errors_of_pairs


def test_against_plain_loops():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), (2, 200))
    codes = rng.integers(0, 4, 200)
    named, weights = q.argmax(axis=-1), np.ones(200)
    against_rest = errors_by_class(q, codes, weights)
    in_pairs = errors_of_pairs(confusion_matrix(named, codes, weights, 4))
    for a in range(4):
        assert against_rest[a] == pytest.approx(np.mean((named == a) != (codes == a)))
        assert in_pairs[a, a] == 0
        for b in set(range(4)) - {a}:
            wrong = ((codes == a) & (named == b)) | ((codes == b) & (named == a))
            assert in_pairs[a, b] == pytest.approx(wrong.sum() / 2 / np.isin(codes, [a, b]).sum())


def test_a_class_without_rows():
    q, codes = np.array([[[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]]), np.array([0, 1])
    assert errors_by_class(q, codes, np.ones(2)).tolist() == [0, 0, 0]
    confusion = confusion_matrix(q.argmax(axis=-1), codes, np.ones(2), 3)
    assert errors_of_pairs(confusion).tolist() == np.zeros((3, 3)).tolist()
