"""Do rows agree far more often than their values, and the dependence between columns, explain?

Columns are put on two sides at random, many times. Rows that agree on the first side are *mates*::

    a column that another one tells ── left out
    second side ── do rows that are no mates often agree on it? ── yes: this split tells nothing
                   no: do most mates agree on it? ──────────────── yes: copies    no: values that come again

Where rows repeat because columns have few values, or depend on each other, the mates that agree on the whole second
side come with many that agree on part of it. Copies come alone, however few digits there are. Rows of which a column
or two were changed are copies in the others: those without which most rows repeat another.
"""

from itertools import combinations

import numpy as np

from bayesfloor.data.sampling import Keys
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.hash_kernels import GOLDEN, mix64

#: Rows by which it is judged, at the most.
JUDGED_ROWS = 10_000
#: Columns that are told apart, at the most; of more, several together count as one.
MOST_COLUMNS = 32
#: Ways to put the columns on two sides.
N_SPLITS = 16
#: Share of the information in all columns that the first side has. More of it leaves fewer mates by chance.
FIRST_SIDE = 2 / 3
#: Share of rows that are no mates and agree on the second side, above which a split tells nothing.
BY_CHANCE = 0.02
#: Share of the mates that agree from which they are copies; without a column whose values come again, which may be what
#: kept rows apart that are equal by nature, it must be larger.
COPIES, CHANGED_COPIES = 0.5, 0.7
#: Fewest values of the first side at which mates must agree: few places with many rows each are modes.
FEWEST_PLACES = 10
#: Rows of equal features are copies where their targets agree with odds above this multiple of those of any two rows,
#: where nearly all of them agree or two targets rarely do by chance, and where they are few on average.
AGREE_MORE, NEARLY_ALL, RARELY, MOST_COPIES = 5.0, 0.9, 0.05, 10.0


def hashed_columns(values: Floats) -> Keys:
    """Return a hash of each value, or of those of neighbouring columns together where there are many columns."""
    n_columns = values.shape[1]
    words = mix64(np.arange(1, n_columns + 1, dtype=np.uint64) * GOLDEN)
    starts = np.linspace(0, n_columns, min(n_columns, MOST_COLUMNS), endpoint=False).astype(np.int64)
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.add.reduceat(mix64(bits ^ words), starts, axis=1)


def are_copies(columns: Keys) -> bool:
    """Tell whether rows that are equal are copies, by hashes of rows in a random order."""
    return agreement(columns, FIRST_SIDE, 0.5) >= COPIES


def columns_of_copies(columns: Keys, n_fewest: float) -> Ints | None:
    """Find the columns in which rows are copies, where one or two others were changed.

    Parameters
    ----------
    columns : ndarray of shape (n, n_columns)
        Hashes of rows in a random order.
    n_fewest : float
        Rows that must repeat another.

    Returns
    -------
    ndarray or None
        None where rows are no copies.
    """
    n_columns = columns.shape[1]
    total, by_column = columns.sum(axis=1), np.ascontiguousarray(columns.T)
    for n_changed in (1, 2)[: n_columns // 2]:
        sets = [list(changed) for changed in combinations(range(n_columns), n_changed)]
        repeats = [_n_repeats(total - by_column[changed].sum(axis=0)) for changed in sets]
        changed = sets[int(np.argmax(repeats))]
        if max(repeats) < max(n_fewest, FEWEST_PLACES):
            continue
        left = np.delete(np.arange(n_columns), changed)
        is_new = all(_n_repeats(by_column[column]) == 0 for column in changed)
        # of many pairs of columns, one hides best that others depend on each other: then some split shows it
        share = agreement(columns[:, left], *((FIRST_SIDE, 0.5) if n_changed == 1 else (0.5, 0.0)))
        if share >= (COPIES if is_new else CHANGED_COPIES):
            return left
    return None


def agreement(columns: Keys, side: float, quantile: float) -> float:
    """Return the share of the rows that agree on one side of the columns that agree on the other.

    Parameters
    ----------
    columns : ndarray of shape (n, n_columns)
        As from `hashed_columns`, of rows in a random order.
    side : float
        Share of the information that the first side has.
    quantile : float
        Of the splits, which one counts.

    Returns
    -------
    float
        0 where no split tells anything.
    """
    n, rng, shares = len(columns), np.random.default_rng(0), []
    if n < FEWEST_PLACES:
        return 0.0
    columns, information = _telling(columns)
    for _ in range(N_SPLITS if len(information) > 1 else 0):
        is_first = _first_side(information, side, rng)
        first, second = columns[:, is_first].sum(axis=1), columns[:, ~is_first]
        order = np.argsort(first, kind="stable")
        is_mate = first[order[1:]] == first[order[:-1]]
        others = np.append(np.roll(order, n // 2), np.roll(order, n // 3))
        by_chance = _agree(second, np.tile(order, 2), others)[first[np.tile(order, 2)] != first[others]]
        if np.count_nonzero(is_mate) < FEWEST_PLACES or by_chance.sum() > BY_CHANCE * len(by_chance):
            continue
        agrees = _agree(second, order[1:], order[:-1])[is_mate]
        n_places = len(np.unique(first[order[1:][is_mate][agrees]]))
        shares.append(float(agrees.mean()) if n_places >= FEWEST_PLACES else 0.0)
    return float(np.quantile(shares, quantile)) if shares else 0.0


def _agree(columns: Keys, i: Ints, j: Ints) -> Bools:
    return (columns[i] == columns[j]).all(axis=1)


def _n_repeats(hashes: Keys) -> int:
    ordered = np.sort(hashes)  # several times as fast as np.unique
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _telling(columns: Keys) -> tuple[Keys, Floats]:
    """Leave out columns that are constant, or a function of another one; return the bits that each of the others has.

    Every column of a table of copies is a function of every other one. So only rows count that are not equal.
    """
    n = len(columns)
    counts = [np.unique(column, return_counts=True)[1] for column in columns.T]
    chance = np.array([float(each @ (each - 1)) / (n * (n - 1)) for each in counts])
    n_values = np.array([len(each) for each in counts])
    kept = n_values > 1
    for place in np.argsort(-n_values, kind="stable"):
        ordered = columns[np.argsort(columns[:, place], kind="stable")]
        agrees = (ordered[1:] == ordered[:-1])[ordered[1:, place] == ordered[:-1, place]]
        agrees = agrees[~agrees.all(axis=1)]
        if kept[place] and len(agrees) >= FEWEST_PLACES:
            kept &= ~agrees.all(axis=0) | (np.arange(len(kept)) == place)
    return columns[:, kept], -np.log2(np.maximum(chance, 1 / n))[kept]


def _first_side(information: Floats, side: float, rng: np.random.Generator) -> Bools:
    """Put columns on two sides at random, about as much information on the first as is asked for."""
    is_first, held = np.zeros(len(information), bool), np.zeros(2)
    for place in np.argsort(-information * rng.uniform(0.5, 1.5, len(information))):
        is_first[place] = held[0] * (1 - side) <= held[1] * side if held.any() else rng.random() < side
        held[int(not is_first[place])] += information[place]
    if is_first.all() or not is_first.any():
        is_first[rng.integers(len(information))] ^= True
    return is_first


def are_copied_targets(is_same: Bools, is_copy: Bools, y: Floats) -> bool:
    """Tell whether rows that equal the one before them, y included, were copied rather than measured again.

    Measured again, a number with many values hardly ever comes out the same. One with few values may, but then some
    rows of equal features differ in it, unless there is next to no noise; and designs measure a place often.
    """
    n_same, n_copies = int(is_same.sum()), int(is_copy.sum())
    if not n_copies or n_copies == len(y) - 1:
        return False
    n_places = int(np.count_nonzero(is_same[1:] & ~is_same[:-1]))
    if n_same + n_places > MOST_COPIES * n_places:
        return False
    shares = np.unique(y, return_counts=True)[1] / len(y)
    by_chance = float(shares @ shares)
    agree = n_copies / n_same
    odds = (n_copies + 0.5) / (n_same - n_copies + 0.5)
    return odds > AGREE_MORE * by_chance / (1.0 - by_chance) and (agree > NEARLY_ALL or by_chance < RARELY)
