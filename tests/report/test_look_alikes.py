"""Rows that look like another class."""

import numpy as np
from sklearn.datasets import make_blobs

from bayesfloor import spanning_forests
from bayesfloor.report.look_alikes import find_look_alikes


def naive(forests, codes, n_classes):
    """The same in plain loops."""
    neighbours = {row: [] for row in range(forests.n_samples)}
    for (i, j), length in zip(forests.edges.tolist(), forests.weights.tolist(), strict=True):
        neighbours[i].append((j, length))
        neighbours[j].append((i, length))

    def trust(j, i):
        others = [codes[k] == codes[j] for k, _ in neighbours[j]]
        return (sum(others) - (codes[i] == codes[j]) + 0.5) / len(others)

    found = {}
    for i in range(forests.n_samples):
        word = np.zeros(n_classes)
        for j, _ in neighbours[i]:
            word[codes[j]] += trust(j, i)
        for label in range(n_classes):
            near = [(length, j) for j, length in neighbours[i] if codes[j] == label]
            score = (word[label] - word[codes[i]]) / (word.sum() + 1.0)
            if label != codes[i] and near and score > found.get(i, (0.0,))[0]:
                found[i] = (score, label, min(near)[0])
    return found


def test_against_plain_loops():
    X, codes = make_blobs(150, centers=4, cluster_std=3.0, random_state=5)
    forests = spanning_forests(X)
    expected = naive(forests, codes, 4)
    found = find_look_alikes(forests, codes, 4, 1000)
    assert {each.row for each in found} == set(expected)
    assert len(found) > 20
    for each in found:
        score, label, distance = expected[each.row]
        np.testing.assert_allclose([each.score, each.distance], [score, distance], rtol=1e-12)
        assert each.looks_like == label == codes[each.other]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)


def test_no_more_than_asked_for():
    X, codes = make_blobs(150, centers=4, cluster_std=3.0, random_state=5)
    forests = spanning_forests(X)
    assert find_look_alikes(forests, codes, 4, 7) == find_look_alikes(forests, codes, 4, 1000)[:7]


def test_identical_rows_with_different_labels():
    X = np.repeat([[0.0], [5.0], [9.0]], 12, axis=0)
    codes = np.repeat([0, 0, 1], 12)
    codes[3] = 1
    first, *others = find_look_alikes(spanning_forests(X), codes, 2, 60)
    assert (first.row, first.looks_like, first.distance) == (3, 0, 0.0)
    assert all(each.score < first.score for each in others)
