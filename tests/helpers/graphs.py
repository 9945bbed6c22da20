"""Symmetric weights of many kinds, and trees in a form that can be compared."""

import numpy as np
from hypothesis import strategies as st


def symmetric(matrix):
    upper = np.triu(matrix, 1)
    return (upper + upper.T).astype(float)


def cycle(n):
    return symmetric(np.eye(n, k=1) + np.eye(n, k=n - 1))


def grid(side):
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    return np.kron(line, np.eye(side)) + np.kron(np.eye(side), line)


def star(n):
    matrix = np.zeros((n, n))
    matrix[0, 1:] = 1
    return symmetric(matrix)


def kinds(n, seed=0):
    """Graphs of n vertices, a perfect square, in which minimum cuts look different; all are connected."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, n))
    block = np.arange(n) // 5
    points = rng.standard_normal((n, 3))
    far = ((points[:, None] - points) ** 2).sum(axis=2)
    return {
        "uniform": symmetric(dense),
        "exponential": symmetric(rng.exponential(size=(n, n))),
        "heavy tail": symmetric(dense**-2),
        "sparse": cycle(n) / 10 + symmetric(dense * (rng.random((n, n)) < 0.15)),
        "blocks": symmetric(dense * np.where(block[:, None] == block, 1, 0.02)),
        "near and far": symmetric(np.exp(-far)),
        "one factor": symmetric(np.outer(dense[0], dense[0])),
        "equal": symmetric(np.ones((n, n))),
        "integers": symmetric(rng.integers(0, 4, (n, n)) + np.eye(n, k=1)),
        "sparse integers": cycle(n) + symmetric(rng.random((n, n)) < 0.15),
        "cycle": cycle(n),
        "grid": grid(round(n**0.5)),
        "star": star(n),
    }


@st.composite
def tied_weights(draw, most=8):
    """Small graphs full of ties and zeros; sums are exact in binary, so a tie is a tie."""
    n = draw(st.integers(2, most))
    values = draw(st.sampled_from([(0, 1), (0, 0, 1), (0, 1, 2, 3), (1, 2), (0, 0, 0, 0.125, 1024), (0.25, 0.5, 7)]))
    cells = draw(st.lists(st.sampled_from(values), min_size=n * n, max_size=n * n))
    return symmetric(np.reshape(cells, (n, n)))


def random_tree(labels, rng):
    """Nested lists of labels, cut at random."""
    labels = rng.permutation(list(labels)).tolist()
    where = int(rng.integers(1, len(labels)))
    return [random_tree(part, rng) if len(part) > 1 else part[0] for part in (labels[:where], labels[where:])]


def as_sets(tree, names=None):
    """The tree as the set of its splits, each a pair of sets of labels."""
    names = tree.classes.tolist() if names is None else names
    return {
        frozenset([frozenset(names[c] for c in node.left), frozenset(names[c] for c in node.right)])
        for node in tree.nodes
    }


def below(node):
    return np.array(sorted(node.left + node.right))
