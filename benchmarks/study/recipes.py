"""From the public form of a data set to the form in which the paper used it.

The paper merged or left out tiny classes and turned categories into k - 1 dummies. A `Recipe` says so for one set, by
the positions of columns and the order of labels, because public copies name both differently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayesfloor.tables.columns import Column, NumberColumn, RawTable, TextColumn, as_text, without_unused


@dataclass(frozen=True)
class Recipe:
    """How a set is prepared.

    Attributes
    ----------
    openml : int
        Its number at OpenML.
    dummies : sequence of int
        Positions of the columns that become dummies.
    codes : mapping
        For the position of a column, the number that each of its values becomes.
    dropped : sequence of str
        Columns that are no features, where they are there.
    merged : sequence of tuples of str
        Labels that become one class.
    n_first_merged, n_last_merged : int
        So many of the lowest, and of the highest, labels become one class.
    n_smallest_dropped : int
        So many of the smallest classes are left out.
    label_as_feature : str
        Name of a last feature that is the label's own number, as in the paper's two wine sets; empty for none.
    """

    openml: int
    dummies: Sequence[int] = ()
    codes: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    merged: Sequence[tuple[str, ...]] = ()
    n_first_merged: int = 1
    n_last_merged: int = 1
    n_smallest_dropped: int = 0
    label_as_feature: str = ""


RECIPES = {
    "abalone": Recipe(183, codes={0: {"M": -1.0, "F": 0.0, "I": 1.0}}, n_first_merged=3, n_last_merged=7),
    "fars": Recipe(40672, dummies=sorted(set(range(29)) - {1, 14, 18, 20, 22}), n_smallest_dropped=1),
    "flare": Recipe(40687, dummies=range(9)),
    "kr-vs-k": Recipe(184, dummies=range(6)),
    "letter": Recipe(6),
    "nursery": Recipe(26, dummies=range(8), merged=[("recommend", "very_recom")]),
    "optdigits": Recipe(28),
    "pageblocks": Recipe(30),
    "pendigits": Recipe(32),
    "satimage": Recipe(182),
    "segment": Recipe(36),
    "shuttle": Recipe(40685, merged=[("6", "7")]),
    "texture": Recipe(40499),
    "wine_red": Recipe(40691, n_first_merged=2, label_as_feature="quality"),
    "wine_white": Recipe(40498, n_last_merged=2, label_as_feature="quality"),
    "yeast": Recipe(181, dropped=["Sequence_Name"], n_smallest_dropped=1),
    "wine_red_noleak": Recipe(40691, n_first_merged=2),
    "wine_white_noleak": Recipe(40498, n_last_merged=2),
    "mnist": Recipe(554),
    "covertype": Recipe(1596),
}


def follow(recipe: Recipe, table: RawTable, target: str) -> RawTable:
    """Prepare a table; what was done goes into its notes.

    Parameters
    ----------
    recipe : Recipe
        What to do.
    table : RawTable
        The set in its public form.
    target : str
        Its column of labels.

    Returns
    -------
    RawTable
        Columns that become dummies are text, all others numbers.
    """
    labels = as_text(next(column for column in table.columns if column.name == target))
    if not isinstance(labels, TextColumn):
        raise ValueError(f"{table.source}: the target {target!r} holds no labels")
    features = [column for column in table.columns if column.name != target and column.name not in recipe.dropped]
    notes = list(table.notes)
    columns: list[Column] = []
    for position, column in enumerate(features):
        if position in recipe.dummies:
            columns.append(as_text(column))
        elif position in recipe.codes:
            columns.append(_with_codes(column, recipe.codes[position], table.source))
        else:
            columns.append(_as_numbers(column, table.source))
    if recipe.label_as_feature:
        numbers = np.array([float(label) for label in labels.categories])
        columns.append(NumberColumn(recipe.label_as_feature, numbers[labels.codes]))
        notes.append("As in the paper, the label's own number is the last feature: it gives the label away.")
    target_name = "class" if target == recipe.label_as_feature else target
    merged = _merged(recipe, labels, notes)
    columns.append(replace(merged, name=target_name))
    table = replace(table, columns=columns, target=target_name, notes=notes)
    if not recipe.n_smallest_dropped:
        return table
    counts = np.bincount(merged.codes, minlength=len(merged.categories))
    tiny = np.argsort(counts, kind="stable")[: recipe.n_smallest_dropped]
    for code in tiny:
        notes.append(f"The class {merged.categories[code]!r} with {counts[code]} rows is left out, as in the paper.")
    return table.take(np.flatnonzero(~np.isin(merged.codes, tiny)))


def _merged(recipe: Recipe, labels: TextColumn, notes: list[str]) -> TextColumn:
    """Merge classes: those at either end of the order of labels, and those named."""
    groups = {"+".join(group): group for group in recipe.merged}
    for first, last in ((0, recipe.n_first_merged), (-recipe.n_last_merged, None)):
        ends = labels.categories[first:last]
        if len(ends) > 1:
            groups[f"{ends[0]}-{ends[-1]}"] = ends
    new_label = {label: label for label in labels.categories}
    for joined, group in groups.items():
        new_label.update(dict.fromkeys(group, joined))
        notes.append(f"The classes {', '.join(map(repr, group))} are one, as in the paper.")
    categories = tuple(dict.fromkeys(new_label[label] for label in labels.categories))
    place = {label: code for code, label in enumerate(categories)}
    codes = np.array([place[new_label[label]] for label in labels.categories], dtype=np.int64)[labels.codes]
    return without_unused(TextColumn(labels.name, categories, codes))


def _with_codes(column: Column, codes: Mapping[str, float], source: str) -> NumberColumn:
    text = as_text(column)
    if not isinstance(text, TextColumn) or not set(text.categories) <= codes.keys():
        raise ValueError(f"{source}: column {column.name!r} holds other values than {', '.join(codes)}")
    return NumberColumn(column.name, np.array([codes[value] for value in text.categories])[text.codes])


def _as_numbers(column: Column, source: str) -> NumberColumn:
    """Return a column as numbers; some public copies declare small integers as categories."""
    if isinstance(column, NumberColumn):
        return column
    if isinstance(column, TextColumn) and (column.codes >= 0).all():
        try:
            return NumberColumn(column.name, np.array([float(text) for text in column.categories])[column.codes])
        except ValueError as error:
            raise ValueError(f"{source}: column {column.name!r} holds text, {error}") from error
    raise ValueError(f"{source}: column {column.name!r} does not hold numbers")
