"""Kernels that turn the scores of binary problems into decisions about classes."""

import numpy as np

from bayesfloor.runtime.kernels import kernel


@kernel
def linear_scores(X, coef, intercept):
    """Return X @ coef + intercept, each row summed in the same order whatever the other rows.

    coef is (d, n_problems): the inner loop runs over problems and is a vector operation.
    """
    n, d = X.shape
    n_problems = coef.shape[1]
    scores = np.empty((n, n_problems))
    for i in range(n):
        for p in range(n_problems):
            scores[i, p] = intercept[p]
        for j in range(d):
            x = X[i, j]
            for p in range(n_problems):
                scores[i, p] += x * coef[j, p]
    return scores


@kernel
def votes(scores, n_classes):
    """Return for each class the votes it gets, ties broken by how clear they are.

    Scores are those of the pairs (0, 1), (0, 2), …, (1, 2), …; above zero speaks for the second class of a pair. The
    sum of the scores, squeezed into (-1/3, 1/3), is added to the number of votes.
    """
    n = scores.shape[0]
    result = np.zeros((n, n_classes))
    strength = np.empty(n_classes)
    for i in range(n):
        for k in range(n_classes):
            strength[k] = 0.0
        pair = 0
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                score = scores[i, pair]
                strength[a] -= score
                strength[b] += score
                if score > 0.0:
                    result[i, b] += 1.0
                else:
                    result[i, a] += 1.0
                pair += 1
        for k in range(n_classes):
            result[i, k] += strength[k] / (3.0 * (abs(strength[k]) + 1.0))
    return result


@kernel
def dag_margins(scores, n_classes):
    """Return for each class its smallest signed score in the tests of Platt's directed acyclic graph.

    Scores are those of `votes`. The first of the classes still in meets the last, and the loser leaves. Only the one
    that stays has no score below zero, or is the first of those that have none.
    """
    n = scores.shape[0]
    result = np.full((n, n_classes), np.inf)
    for i in range(n):
        first, last = 0, n_classes - 1
        while first < last:
            score = scores[i, first * (2 * n_classes - first - 1) // 2 + last - first - 1]
            result[i, first] = min(result[i, first], -score)
            result[i, last] = min(result[i, last], score)
            if score > 0.0:
                first += 1
            else:
                last -= 1
    return result


@kernel
def follow(scores, children):
    """Follow each row from the root to a class: right where a node's score is above zero.

    children (n_nodes, 2) holds for the left and the right side a node, or ~code of a class.
    """
    n = scores.shape[0]
    codes = np.empty(n, np.int64)
    for i in range(n):
        place = 0
        while place >= 0:
            place = children[place, 1 if scores[i, place] > 0.0 else 0]
        codes[i] = ~place
    return codes
