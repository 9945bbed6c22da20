"""Compiled minimum cut of a dense graph, ties included; `cuts` says how the pieces fit together.

Vertices that no minimum cut separates are merged into supervertices until nothing is left to find. H is the matrix of
weights between the m supervertices, `supervertex` gives that of each vertex, and `degree` the weight between a
supervertex and all others, which is the value of cutting it off.
"""

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@kernel(plain=True)
def degrees_and_bound(sorted_weights: Floats, order: Ints, member: Bools, codes: Ints) -> tuple[Floats, float]:
    """Return each member's degree, and a lower bound on cuts with two or more vertices on each side.

    Row a of `sorted_weights` ascends, and ``order[a]`` are its columns. A side of j vertices leaves
    each of them at least its n − j smallest weights to the other side.
    """
    n = codes.shape[0]
    degrees = np.empty(n)
    least = np.full(n + 1, np.inf)  # least[t]: of all vertices the lowest sum of t smallest weights
    second = np.full(n + 1, np.inf)  # and the second lowest
    for i in range(n):
        a = codes[i]
        total = 0.0
        taken = 0
        for t in range(order.shape[1]):
            b = order[a, t]
            if member[b] and b != a:
                total += sorted_weights[a, t]
                taken += 1
                if total < least[taken]:
                    second[taken] = least[taken]
                    least[taken] = total
                elif total < second[taken]:
                    second[taken] = total
        degrees[i] = total
    bound = np.inf
    for j in range(2, n // 2 + 1):
        bound = min(bound, least[n - j] + (j - 1) * second[n - j])
    return degrees, bound


@kernel(plain=True)
def connected_components(weights: Floats, codes: Ints) -> tuple[Ints, int]:
    """Number the components of the graph among `codes`, each in the order of its first code."""
    n = codes.shape[0]
    component = np.full(n, -1)
    queue = np.empty(n, np.int64)
    n_components = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = n_components
        queue[0] = root
        first, n_queued = 0, 1
        while first < n_queued:
            a = codes[queue[first]]
            first += 1
            for i in range(n):
                if component[i] < 0 and weights[a, codes[i]] > 0.0:
                    component[i] = n_components
                    queue[n_queued] = i
                    n_queued += 1
        n_components += 1
    return component, n_components


@kernel(plain=True)
def comes_first(left: Bools, other: Bools) -> bool:
    """Tell whether one cut goes before another of the same value.

    Both are given by their left side, which holds vertex 0. The more balanced cut goes first, then
    the one with the smaller left side, then the one whose left side has the smaller vertices.
    """
    n = left.shape[0]
    size, other_size = 0, 0
    for v in range(n):
        size += left[v]
        other_size += other[v]
    balance, other_balance = min(size, n - size), min(other_size, n - other_size)
    if balance != other_balance:
        return balance > other_balance
    if size != other_size:
        return size < other_size
    for v in range(n):
        if left[v] != other[v]:
            return left[v]
    return False


@kernel(plain=True)
def offer(left: Bools, value: float, best: Bools, lowest: float, tie: float) -> float:
    """Keep a cut in `best` if it is lower than what is there, or ties and comes first; return the lowest value."""
    if value * (1.0 + tie) < lowest or (value <= lowest * (1.0 + tie) and comes_first(left, best)):
        for v in range(left.shape[0]):
            best[v] = left[v]
    return min(value, lowest)


@kernel(plain=True)
def offer_supervertices(
    H: Floats, m: int, supervertex: Ints, degree: Floats, best: Bools, lowest: float, tie: float
) -> float:
    """Offer the cuts that split one supervertex off all others."""
    n = supervertex.shape[0]
    left = np.empty(n, np.bool_)
    for a in range(m):
        total = 0.0
        for b in range(m):
            total += H[a, b]
        degree[a] = total
    for a in range(m):
        if degree[a] <= lowest * (1.0 + tie):
            for v in range(n):
                left[v] = (supervertex[v] == a) == (supervertex[0] == a)
            lowest = offer(left, degree[a], best, lowest, tie)
    return lowest


@kernel(plain=True)
def merge_supervertices(H: Floats, m: int, label: Ints, n_labels: int, supervertex: Ints, spare: Floats) -> None:
    """Merge supervertices of equal label."""
    for a in range(n_labels):
        for b in range(n_labels):
            spare[a, b] = 0.0
    for a in range(m):
        la = label[a]
        for b in range(m):
            spare[la, label[b]] += H[a, b]
    for a in range(n_labels):
        for b in range(n_labels):
            H[a, b] = spare[a, b]
        H[a, a] = 0.0
    for v in range(supervertex.shape[0]):
        supervertex[v] = label[supervertex[v]]


@kernel(plain=True)
def join(parent: Ints, a: int, b: int) -> bool:
    """Join two sets, each of which has its smallest supervertex as root; tell whether they were two."""
    while parent[a] != a:
        a = parent[a]
    while parent[b] != b:
        b = parent[b]
    parent[max(a, b)] = min(a, b)
    return a != b


@kernel(plain=True)
def label_sets(parent: Ints, label: Ints) -> int:
    """Number the sets; return how many there are."""
    n_labels = 0
    for a in range(parent.shape[0]):  # a parent is never larger than its child
        if parent[a] == a:
            label[a] = n_labels
            n_labels += 1
        else:
            label[a] = label[parent[a]]
    return n_labels


@kernel(plain=True)
def label_majorities(H: Floats, m: int, degree: Floats, tie: float, label: Ints) -> int:
    """Give a supervertex the label of the one that has more than half its degree; return the number of labels.

    A cut between the two gets lower if the supervertex changes sides. Only cutting it off alone may be
    minimal, and such cuts have been offered.
    """
    parent = np.arange(m)
    for a in range(m):
        for b in range(m):
            if H[a, b] > 0.5 * degree[a] * (1.0 + tie):
                join(parent, a, b)
                break
    return label_sets(parent, label)


@kernel(plain=True)
def label_adjacent(H: Floats, m: int, limit: float, label: Ints) -> int:
    """Give one label to neighbours in maximum adjacency order that every cut up to `limit` keeps together.

    The order takes next the supervertex with the highest weight to those before it. Stoer and Wagner: that
    weight is the value of the minimum cut between the supervertex and the one just before it, among the
    supervertices so far. More supervertices can only raise it.
    """
    reach = np.zeros(m)
    last = 0
    label[0] = 0
    n_labels = 1
    for _ in range(m - 1):
        reach[last] = -np.inf
        for b in range(m):
            reach[b] += H[last, b]
        following = 0
        for b in range(m):
            if reach[b] > reach[following]:
                following = b
        if reach[following] > limit:
            label[following] = label[last]
        else:
            label[following] = n_labels
            n_labels += 1
        last = following
    return n_labels


@kernel(plain=True)
def send_flow(residual: Floats, m: int, source: int, sink: int, negligible: float) -> None:
    """Turn capacities into what a maximum flow leaves of them, by shortest augmenting paths."""
    before = np.empty(m, np.int64)
    queue = np.empty(m, np.int64)
    while True:
        for b in range(m):
            before[b] = -1
        before[source] = source
        queue[0] = source
        first, n_queued = 0, 1
        while first < n_queued and before[sink] < 0:
            a = queue[first]
            first += 1
            for b in range(m):
                if before[b] < 0 and residual[a, b] > negligible:
                    before[b] = a
                    queue[n_queued] = b
                    n_queued += 1
        if before[sink] < 0:
            return
        amount = np.inf
        b = sink
        while b != source:
            amount = min(amount, residual[before[b], b])
            b = before[b]
        b = sink
        while b != source:
            residual[before[b], b] -= amount
            residual[b, before[b]] += amount
            b = before[b]


@kernel(plain=True)
def find_leading_to(sink: int, residual: Floats, m: int, negligible: float) -> Bools:
    """Mark the supervertices from which capacity is left to the sink."""
    marked = np.zeros(m, np.bool_)
    marked[sink] = True
    stack = np.empty(m, np.int64)
    stack[0] = sink
    n_stack = 1
    while n_stack > 0:
        n_stack -= 1
        b = stack[n_stack]
        for a in range(m):
            if not marked[a] and residual[a, b] > negligible:
                marked[a] = True
                stack[n_stack] = a
                n_stack += 1
    return marked


@kernel(plain=True)
def offer_cuts_between(
    H: Floats, m: int, source: int, sink: int, supervertex: Ints, best: Bools, lowest: float, tie: float
) -> float:
    """Offer every minimum cut that separates two supervertices with a positive weight between them.

    Picard and Queyranne: after a maximum flow, these are the sets with the source and without the sink
    from which no capacity is left. If they are minimal in the whole graph, the weight between the two
    supervertices keeps them from crossing, so each contains the one before. Then it is enough to add up strongly
    connected components as Tarjan finds them: each after all that it leads to.
    """
    n = supervertex.shape[0]
    negligible = 1e-3 * tie * lowest
    residual = np.empty((m, m))
    for a in range(m):
        for b in range(m):
            residual[a, b] = H[a, b]
    send_flow(residual, m, source, sink, negligible)
    flow = 0.0
    for b in range(m):
        flow += H[source, b] - residual[source, b]

    leads_to_sink = find_leading_to(sink, residual, m, negligible)
    left = np.empty(n, np.bool_)
    closed = np.zeros(m, np.bool_)
    number = np.full(m, -1)
    low = np.empty(m, np.int64)
    following = np.zeros(m, np.int64)
    path = np.empty(m, np.int64)
    stack = np.empty(m, np.int64)
    n_met = 0
    for turn in range(-1, m):
        root = source if turn < 0 else turn
        if leads_to_sink[root] or number[root] >= 0:
            continue
        path[0] = stack[0] = root
        n_path = n_stack = 1
        number[root] = low[root] = n_met
        n_met += 1
        while n_path > 0:
            a = path[n_path - 1]
            if following[a] < m:
                b = following[a]
                following[a] += 1
                if residual[a, b] > negligible:
                    if number[b] < 0:
                        number[b] = low[b] = n_met
                        n_met += 1
                        path[n_path] = stack[n_stack] = b
                        n_path += 1
                        n_stack += 1
                    elif not closed[b]:
                        low[a] = min(low[a], number[b])
                continue
            n_path -= 1
            if n_path > 0:
                low[path[n_path - 1]] = min(low[path[n_path - 1]], low[a])
            if low[a] < number[a]:
                continue
            while not closed[a]:
                n_stack -= 1
                closed[stack[n_stack]] = True
            if not closed[source]:
                continue
            for v in range(n):
                left[v] = closed[supervertex[v]] == closed[supervertex[0]]
            if flow * (1.0 + tie) < lowest or comes_first(left, best):
                value = 0.0
                for c in range(m):
                    if closed[c]:
                        for d in range(m):
                            if not closed[d]:
                                value += H[c, d]
                lowest = offer(left, value, best, lowest, tie)
    return lowest


@kernel(plain=True)
def minimum_cut(weights: Floats, tie: float) -> Bools:
    """Return the left side of the minimum cut of a connected graph, of tied cuts the one that comes first.

    Overwrites `weights`.
    """
    n = weights.shape[0]
    H, spare = weights, np.empty((n, n))
    m = n
    supervertex = np.arange(n)
    label = np.empty(n, np.int64)
    degree = np.empty(n)
    best = np.ones(n, np.bool_)
    lowest = offer_supervertices(H, m, supervertex, degree, best, np.inf, tie)
    while m > 2:
        n_labels = label_majorities(H, m, degree, tie, label)
        if n_labels == m:
            n_labels = label_adjacent(H, m, lowest * (1.0 + tie), label)
        if n_labels == m:
            # The last supervertex in adjacency order ties with the minimum, so at least one pair is joined here.
            parent = np.arange(m)
            limit = lowest * (1.0 + 2.0 * tie)  # another order of summation may differ in the last digits
            for source in range(m):
                if degree[source] <= limit:
                    sink = 0
                    for a in range(1, m):
                        if H[source, a] > H[source, sink]:
                            sink = a
                    if join(parent, source, sink):
                        lowest = offer_cuts_between(H, m, source, sink, supervertex, best, lowest, tie)
            n_labels = label_sets(parent, label)
        merge_supervertices(H, m, label, n_labels, supervertex, spare)
        m = n_labels
        if m > 1:
            lowest = offer_supervertices(H, m, supervertex, degree, best, lowest, tie)
    return best
