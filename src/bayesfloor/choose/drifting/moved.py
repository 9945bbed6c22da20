"""What moved between two tables: columns, levels, gaps, and rows of a kind that one of them has more of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayesfloor.choose.drifting.permutations import deal_names, share_as_large, smallest_of
from bayesfloor.choose.drifting.results import ColumnMove, LevelMove, RowKind
from bayesfloor.choose.drifting.scores import Part, orthonormal
from bayesfloor.choose.drifting.two_samples import TwoSampleTest, squared_sums
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.text import figure, percent, quoted
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, TextColumn, distinct_numbers
from bayesfloor.tables.profiles import ColumnProfile

#: Levels of one column, and kinds of rows, that are listed at the most.
_MOST_LEVELS, _MOST_KINDS = 10, 5
#: Leaves of the tree that looks for kinds of rows, and rows of one at the least: a number, and a share of the rows.
_N_LEAVES, _FEWEST_ROWS, _LEAST_SHARE = 5, 10, 0.02
#: Levels of a category that conditions may name.
_MOST_NAMED = 20


def gap_of(column: Column) -> Callable[[Bools], float]:
    """Return what tells, of rows by their table, how far the values of a column lie apart, between 0 and 1.

    For numbers this is the largest distance between the two distribution functions (Kolmogorov and Smirnov), for
    categories half the sum of the differences between shares (total variation); rows without a value are left out.
    """
    if isinstance(column, TextColumn):
        return lambda is_new: float(np.abs(np.diff(_level_shares(column, is_new), axis=0)).sum() / 2.0)
    assert isinstance(column, NumberColumn | DateColumn)
    return _gap_by(column.values, ~column.gaps)


def _gap_by(values: Floats, known: Bools) -> Callable[[Bools], float]:
    order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
    last = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))  # of each distinct value

    def gap(is_new: Bools) -> float:
        n_new = int(is_new[order].sum())
        if n_new in (0, len(order)):
            return 0.0
        new = np.cumsum(is_new[order])[last]
        return float(np.abs(new / n_new - (last + 1 - new) / (len(order) - n_new)).max())

    return gap


def moved_share(gap: Callable[[Bools], float], is_new: Bools, dealt: Bools) -> float:
    """Return a gap without what chance adds to it: squares add up, and nothing is added where no value is in common."""
    found = gap(is_new)
    by_chance = float(np.mean([gap(names) ** 2 for names in dealt])) if len(dealt) else 0.0
    return float(np.sqrt(max(found**2 - (1.0 - found**2) * by_chance, 0.0)))


def _level_shares(column: TextColumn, is_new: Bools) -> Floats:
    """Return the share of each level among the known rows of the old and of the new table."""
    shares = np.zeros((2, len(column.categories)))
    for place, of_table in enumerate((~is_new, is_new)):
        codes = column.codes[of_table & (column.codes >= 0)]
        if len(codes):
            shares[place] = np.bincount(codes, minlength=len(column.categories)) / len(codes)
    return shares


def column_moves(
    parts: Sequence[Part], test: TwoSampleTest, profiles: Sequence[ColumnProfile], is_new: Bools, level: float
) -> tuple[ColumnMove, ...]:
    """Say of each part of a column how far it moved, and of every two columns whose relation surely did.

    The surest come first, and columns before relations of two.
    """
    by_name = {each.column.name: each for each in profiles}
    found = [
        _column_move(part, max(p_value, test.p_value), by_name[part.column].column, is_new, test.dealt)
        for part, p_value in zip(parts, test.of_parts.tolist(), strict=True)
    ]
    if test.of_tests.get("pairs", 1.0) <= level:
        pairs = [(pair, max(p_value, test.p_value)) for pair, p_value in test.pairs if pair.column]
        found += [_pair_move(pair, p_value, is_new, test.dealt) for pair, p_value in pairs if p_value <= level]
    return tuple(sorted(found, key=lambda each: (each.p_value, each.what == "pair", -each.share)))


def _pair_move(pair: Part, p_value: float, is_new: Bools, dealt: Bools) -> ColumnMove:
    """Say how far the product of two columns moved: by its mean, in units of its deviation."""
    moved = pair.scores[:, int(np.abs(pair.scores[is_new].sum(axis=0)).argmax())]
    old, new = (f"{float(moved[side].mean()) * len(moved) ** 0.5:.2f}" for side in (~is_new, is_new))
    share = moved_share(_gap_by(moved, np.ones(len(moved), bool)), is_new, dealt)
    return ColumnMove(pair.column, pair.what, share, p_value, old, new)


def _column_move(part: Part, p_value: float, column: Column, is_new: Bools, dealt: Bools) -> ColumnMove:
    gaps = column.gaps
    if part.what == "gaps":
        old, new = (float(gaps[of_table].mean()) for of_table in (~is_new, is_new))
        share = moved_share(_gap_by(gaps.astype(np.float64), np.ones(len(gaps), bool)), is_new, dealt)
        return ColumnMove(part.column, part.what, share, p_value, percent(old), percent(new))
    if part.what == "words":
        sums = np.abs(part.scores[is_new].sum(axis=0))
        share = moved_share(_gap_by(part.scores[:, int(sums.argmax())], ~gaps), is_new, dealt)
        return ColumnMove(part.column, part.what, share, p_value, "", "")
    texts = [_summary(column, of_table & ~gaps, is_new) for of_table in (~is_new, is_new)]
    return ColumnMove(part.column, part.what, moved_share(gap_of(column), is_new, dealt), p_value, *texts)


def _summary(column: Column, rows: Bools, is_new: Bools) -> str:
    """Write what a column holds in some rows: the quartiles of numbers, the share of the level that moved most."""
    if not rows.any():
        return "no values"
    if isinstance(column, TextColumn):
        shares = _level_shares(column, is_new)
        level = int(np.abs(shares[1] - shares[0]).argmax())
        return f"{quoted(column.categories[level])} {percent(float(np.mean(column.codes[rows] == level)))}"
    assert isinstance(column, NumberColumn | DateColumn)
    low, middle, high = np.quantile(column.values[rows], [0.25, 0.5, 0.75], method="closest_observation").tolist()
    if isinstance(column, DateColumn):
        shown = [DateColumn("", np.array([value]), column.type_name).shown(0) for value in (low, middle, high)]
    else:
        shown = [figure(value) for value in (low, middle, high)]
    return f"{shown[1]} ({shown[0]} to {shown[2]})"


def level_moves(
    moves: Sequence[ColumnMove], profiles: Sequence[ColumnProfile], is_new: Bools, level: float
) -> tuple[LevelMove, ...]:
    """List the levels of columns that surely moved, those that moved most first."""
    by_name = {each.column.name: each.column for each in profiles}
    found = []
    for move in moves:
        column = by_name.get(move.column)
        if move.what != "levels" or move.p_value > level or not isinstance(column, TextColumn):
            continue
        shares = _level_shares(column, is_new)
        n_known = [int((of_table & (column.codes >= 0)).sum()) for of_table in (~is_new, is_new)]
        both = column.counts / max(sum(n_known), 1)
        error = np.sqrt(both * (1.0 - both) * sum(1.0 / max(n, 1) for n in n_known))
        change = shares[1] - shares[0]
        surely = np.abs(change) > ndtri(1.0 - level / (2.0 * len(change))) * error
        order = [place for place in np.argsort(-np.abs(change), kind="stable").tolist() if surely[place]]
        found += [
            LevelMove(column.name, column.categories[place], *shares[:, place].tolist())
            for place in order[:_MOST_LEVELS]
        ]
    return tuple(found)


# --- kinds of rows


@dataclass(frozen=True, eq=False)
class _Feature:
    """A column as conditions name it: a number by its place among the `distinct` ones, a level, or a gap."""

    values: Floats
    column: Column
    distinct: Floats | None = None
    level: str | None = None
    is_gap: bool = False


def kinds_of_rows(
    profiles: Sequence[ColumnProfile], is_new: Bools, groups: Ints | None, seed: int, level: float
) -> tuple[RowKind, ...]:
    """Find rows of a kind that one table has more of.

    A small decision tree is trained on one half of the rows to tell the tables apart. Its leaves are tested on the
    other half, with names dealt out again, and only those that surely differ there are listed, with their shares there.

    Parameters
    ----------
    profiles : sequence of ColumnProfile
        The columns.
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table; rows are in random order.
    groups : ndarray of shape (n_rows,) or None
        Rows that belong together are in one half.
    seed : int
        Seed.
    level : float
        p-value up to which a kind of rows is listed.

    Returns
    -------
    tuple of RowKind
        Those with the largest difference first.
    """
    from sklearn.tree import DecisionTreeClassifier

    features = [feature for each in profiles for feature in _features_of(each)]
    finds = _first_half(is_new, groups)
    is_possible = all(0 < is_new[half].sum() < half.sum() for half in (finds, ~finds))
    if not features or not is_possible or finds.sum() < 4 * _FEWEST_ROWS:
        return ()
    values = np.column_stack([feature.values for feature in features]).astype(np.float32)
    fewest = max(_FEWEST_ROWS, int(_LEAST_SHARE * finds.sum()))
    tree = DecisionTreeClassifier(
        max_leaf_nodes=_N_LEAVES, min_samples_leaf=fewest, class_weight="balanced", random_state=seed % 2**32
    ).fit(values[finds], is_new[finds])
    leaves = tree.apply(values[~finds])
    names = np.unique(leaves)
    if len(names) < 2:
        return ()
    of_table, own_groups = is_new[~finds], None if groups is None else groups[~finds]
    every = np.ones(len(leaves), bool)
    scores = np.hstack([orthonormal((leaves == leaf)[:, np.newaxis].astype(np.float64), every) for leaf in names])
    p_values = smallest_of(share_as_large(squared_sums(scores, deal_names(of_table, own_groups, seed, len(names)))))
    found = []
    for leaf, p_value in zip(names.tolist(), p_values.tolist(), strict=True):
        old, new = (float(np.mean(leaves[side] == leaf)) for side in (~of_table, of_table))
        if p_value <= level:
            found.append(RowKind(_conditions(tree.tree_, leaf, features), old, new, p_value))
    return tuple(sorted(found, key=lambda each: -abs(each.new - each.old))[:_MOST_KINDS])


def _first_half(is_new: Bools, groups: Ints | None) -> Bools:
    """Choose half of the rows of each table, or half of the groups."""
    if groups is not None:
        return np.unique(groups, return_inverse=True)[1] % 2 == 0
    found = np.zeros(len(is_new), bool)
    for of_table in (~is_new, is_new):
        found[np.flatnonzero(of_table)[::2]] = True
    return found


def _features_of(each: ColumnProfile) -> list[_Feature]:
    column = each.column
    gaps = column.gaps
    found = []
    if isinstance(column, TextColumn):
        if each.kind in ("category", "yes/no"):
            order = np.argsort(-column.counts, kind="stable")[:_MOST_NAMED].tolist()
            found = [
                _Feature((column.codes == code).astype(np.float64), column, level=column.categories[code])
                for code in sorted(order)
            ]
    elif isinstance(column, NumberColumn | DateColumn):
        # a tree compares single precision, which tells neither close dates apart nor holds the largest numbers
        distinct, places = distinct_numbers(column.values)
        middle = float(np.median(places[~gaps])) if len(distinct) else 0.0
        found = [_Feature(np.where(gaps, middle, places), column, distinct)]
    return found + ([_Feature(gaps.astype(np.float64), column, is_gap=True)] if gaps.any() else [])


def _conditions(tree: object, leaf: int, features: Sequence[_Feature]) -> str:
    """Write what the rows of a leaf have in common."""
    left, right = tree.children_left.tolist(), tree.children_right.tolist()  # type: ignore[attr-defined]
    parents = {child: (node, child in right) for node in range(len(left)) for child in (left[node], right[node])}
    bounds: dict[int, list[float]] = {}
    node = leaf
    while node:
        node, is_above = parents[node]
        column, threshold = int(tree.feature[node]), float(tree.threshold[node])  # type: ignore[attr-defined]
        ends = bounds.setdefault(column, [-np.inf, np.inf])
        ends[0], ends[1] = (max(ends[0], threshold), ends[1]) if is_above else (ends[0], min(ends[1], threshold))
    return " and ".join(_condition(features[column], *bounds[column]) for column in sorted(bounds))


def _condition(feature: _Feature, low: float, high: float) -> str:
    name = feature.column.name
    is_above = low > -np.inf
    if feature.is_gap:
        return f"{name} is {'missing' if is_above else 'known'}"
    if feature.level is not None:
        return f"{name} is {'' if is_above else 'not '}{quoted(feature.level)}"
    ends = [_bound(feature, end) for end in (low, high)]
    if is_above and high < np.inf:
        return f"{ends[0]} < {name} ≤ {ends[1]}"
    return f"{name} > {ends[0]}" if is_above else f"{name} ≤ {ends[1]}"


def _bound(feature: _Feature, place: float) -> str:
    """Write the number between two of the distinct ones, by a place between theirs."""
    if not np.isfinite(place) or feature.distinct is None:
        return ""
    below, above = feature.distinct[[int(np.floor(place)), int(np.floor(place)) + 1]].tolist()
    value, column = below / 2.0 + above / 2.0, feature.column
    if isinstance(column, DateColumn):
        return DateColumn("", np.array([value]), column.type_name).shown(0)
    return f"{value:.6g}"
