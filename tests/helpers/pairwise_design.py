"""Few combinations instead of all: a design in which any two levels of different factors meet.

Nearly all faults that depend on settings depend on one or two of them, so that such a design finds what the full
product finds (Cohen, Dalal, Fredman & Patton 1997), with about as many cases as the two largest factors have together.
"""

from itertools import combinations, product


def all_pairs(*factors):
    """Rows of one level of each factor, chosen greedily and always alike.

    >>> all_pairs("ab", [1, 2], [True, False])
    [('a', 1, True), ('a', 2, False), ('b', 1, False), ('b', 2, True)]
    """
    factors = [list(levels) for levels in factors]
    sizes = [range(len(levels)) for levels in factors]
    missing = dict.fromkeys(
        ((f, a), (g, b)) for f, g in combinations(range(len(factors)), 2) for a, b in product(sizes[f], sizes[g])
    )
    used = [dict.fromkeys(size, 0) for size in sizes]
    rows = []
    while missing:
        row = dict(next(iter(missing)))
        for factor, size in enumerate(sizes):
            if factor not in row:

                def worth(level, factor=factor, row=row):
                    """How many pairs are new, then how seldom the level was used."""
                    new = sum(tuple(sorted([(factor, level), other])) in missing for other in row.items())
                    return new, -used[factor][level]

                row[factor] = max(size, key=worth)
        for pair in combinations(sorted(row.items()), 2):
            missing.pop(pair, None)
        for factor, level in row.items():
            used[factor][level] += 1
        rows.append(tuple(levels[row[factor]] for factor, levels in enumerate(factors)))
    return rows
