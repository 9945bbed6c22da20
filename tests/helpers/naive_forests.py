"""The slow, obviously right reference: walk *all* pairs of rows, in order, into k forests.

The strict order of edges compares squared length, then a hash of the two rows' values and the
seed, then the larger rank (ascending), then the smaller rank (descending). Nothing is pruned,
nothing is approximate; everything is O(n^2) in time and memory.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class NaiveForests:
    edges: np.ndarray  # (m, 2), smaller row number first; by tree, then in the strict order
    weights: np.ndarray
    tree: np.ndarray
    sites: np.ndarray  # rows with identical values share a number

    def first(self, n_trees):
        """Forests of fewer trees: the first trees do not depend on how many were asked for."""
        kept = self.tree < n_trees
        return NaiveForests(self.edges[kept], self.weights[kept], self.tree[kept], self.sites)


def naive_forests(X, n_trees, seed=0):
    X = np.array(X, dtype=np.float64, order="C") + 0.0  # -0.0 + 0.0 is 0.0
    return _forests_of_values(X.tobytes(), X.shape, n_trees, seed)


@lru_cache(maxsize=500)  # many tests look at the same points in several ways
def _forests_of_values(values, shape, n_trees, seed):
    X = np.frombuffer(values).reshape(shape)
    i, j, d2, exponent = all_edges_in_order(X, seed)
    tree = first_tree_without_cycle(len(X), i, j, n_trees)
    kept = np.flatnonzero(tree >= 0)
    kept = kept[np.argsort(tree[kept], kind="stable")]
    edges = np.column_stack([i[kept], j[kept]])
    sites = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    forests = NaiveForests(edges, np.ldexp(np.sqrt(d2[kept]), exponent), tree[kept], sites)
    for array in vars(forests).values():
        array.flags.writeable = False
    return forests


def all_edges_in_order(X, seed):
    i, j = np.triu_indices(len(X), k=1)
    hashes = value_hashes(X)
    rank = np.empty(len(X), dtype=np.int64)
    rank[np.lexsort((*X.T[::-1], hashes))] = np.arange(len(X))  # stable: then by row number
    scaled, exponent = comfortable_scale(X)
    squares = np.zeros((len(X), len(X)))
    for column in scaled.T:
        squares += np.subtract.outer(column, column) ** 2
    d2 = squares[i, j]
    seed_word = mix64(np.array([(seed + GOLDEN) % 2**64], dtype=np.uint64))
    edge_hash = mix64((hashes[i] + hashes[j]) ^ seed_word)
    larger, smaller = np.maximum(rank[i], rank[j]), np.minimum(rank[i], rank[j])
    ranks = larger * len(X) - smaller  # by the larger one, then by the smaller one from above
    order = np.argsort(d2)
    if (np.diff(d2[order]) == 0).any():
        order = np.lexsort((ranks, edge_hash, d2))
    return i[order], j[order], d2[order], exponent


def first_tree_without_cycle(n_points, i, j, n_trees):
    """Kruskal into k forests: the tree that takes each edge, -1 where none does."""
    component = np.tile(np.arange(n_points), (n_trees, 1))
    tree = np.full(len(i), -1)
    block = max(64, n_points)
    for start in range(0, len(i), block):
        # Ends that are joined in every tree stay joined: such an edge need not be looked at.
        ends = i[start : start + block], j[start : start + block]
        still_open = (component[:, ends[0]] != component[:, ends[1]]).any(axis=0)
        for edge in start + np.flatnonzero(still_open):
            for t in range(n_trees):
                a, b = component[t, i[edge]], component[t, j[edge]]
                if a != b:
                    component[t, component[t] == a] = b
                    tree[edge] = t
                    break
        if (component == component[:, :1]).all():
            break
    return tree


def mix64(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def value_hashes(X):
    h = np.full(len(X), GOLDEN, dtype=np.uint64)
    for bits in X.view(np.uint64).T:
        h = (h ^ bits) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return mix64(h)


def comfortable_scale(X):
    """X times a power of two that leaves squares of its differences as much of float64's range as there is."""
    exponent = np.frexp(np.abs(X).max())[1] - 490
    return np.ldexp(X, -exponent), exponent


def naive_cross_counts(forests, y):
    """Cross edges per tree and pair of classes, averaged over labels within sites, by formula."""
    classes, codes = np.unique(y, return_inverse=True)
    members = np.zeros((forests.sites.max() + 1, len(classes)))
    np.add.at(members, (forests.sites, codes), 1)
    counts = np.zeros((forests.tree.max() + 1, len(classes), len(classes)))
    a, b = (members[forests.sites[ends]] for ends in forests.edges.T)
    m, is_inside = a.sum(axis=1), forests.sites[forests.edges[:, 0]] == forests.sites[forests.edges[:, 1]]
    # inside a site a = b, and two of its m copies are drawn without putting the first one back
    ways = np.where(is_inside, m * (m - 1), m * b.sum(axis=1))
    chance = (a[:, :, None] * b[:, None, :] + b[:, :, None] * a[:, None, :]) / ways[:, None, None]
    chance[:, np.arange(len(classes)), np.arange(len(classes))] = 0
    np.add.at(counts, forests.tree, chance)
    return counts


def enumerated_cross_counts(forests, y):
    """The same from its meaning: the mean over every way to deal labels out within each site."""
    classes, codes = np.unique(y, return_inverse=True)
    rows = [np.flatnonzero(forests.sites == s) for s in range(forests.sites.max() + 1)]
    total = np.zeros((forests.tree.max() + 1, len(classes), len(classes)))
    n_deals = 0
    for deal in product(*(permutations(codes[r]) for r in rows)):
        labels = np.empty(len(codes), dtype=np.int64)
        for r, dealt in zip(rows, deal, strict=True):
            labels[r] = dealt
        n_deals += 1
        for (i, j), t in zip(forests.edges, forests.tree, strict=True):
            if labels[i] != labels[j]:
                total[t, labels[i], labels[j]] += 1
                total[t, labels[j], labels[i]] += 1
    return total / n_deals
