"""Everything that a report is about, computed once: records of the other rooms, side by side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.selection_path import SelectionPath
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import keys_of_values, stratified_rows
from bayesfloor.floor.learned.dependence import find_dependence
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.gap import gap_of
from bayesfloor.floor.learned.gap_result import FloorGap
from bayesfloor.floor.learned.model_predictions import Compared
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.trees.assembly import count_cross_edges, one_vs_rest_result, pairwise_result, whole_result
from bayesfloor.floor.trees.problem import Options, Progress
from bayesfloor.floor.trees.results import BayesError, OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.columns import ColumnFloors, measure_columns
from bayesfloor.report.fast_model import FastModel, try_fast_model
from bayesfloor.report.look_alikes import LookAlike, find_look_alikes
from bayesfloor.report.ordered_classes import find_ordered_classes
from bayesfloor.report.source import Source
from bayesfloor.runtime.findings import Finding
from bayesfloor.tree import ClassTree, build_class_tree

#: Rows that look like another class, at the most: as many as somebody goes through by hand.
MOST_LOOK_ALIKES = 60
#: Classes of the heat map and of the class tree, at the most: with more, neither can be read.
MOST_CLASSES_DRAWN = 40
#: Fewer rows cannot be trained and tested on.
FEWEST_ROWS = 4 * MIN_FOLDS


@dataclass(frozen=True, eq=False)
class Figures:
    """What was computed.

    Attributes
    ----------
    trees : BayesError
        The floor of the whole problem from spanning trees.
    classes : OneVsRestBayesError
        The same for each class against the rest.
    pairs : PairwiseBayesError
        The same for each two classes.
    learned : LearnedFloor or None
        The learned floor; None where nothing was trained.
    fast_model : FastModel or None
        What a model that trains fast reaches on the same rows; None where nothing was trained.
    gap : FloorGap or None
        A model of the caller's beside the floor; None where there is none.
    class_tree : ClassTree
        Min-cuts of the normalized floors.
    drawn_tree : ClassTree
        The same of the hardest classes alone, as many as can be drawn.
    columns : ColumnFloors
        How much each column tells by itself.
    look_alikes : list of LookAlike
        Rows that look like another class.
    dependence : list of Finding
        Rows that belong together, by a column or by their order, where nobody said so.
    order : list of Finding
        That the classes are numbers in an order.
    selection : SelectionPath or None
        The search for features.
    tree_rows : ndarray
        The rows that the trees were grown on.
    """

    trees: BayesError
    classes: OneVsRestBayesError
    pairs: PairwiseBayesError
    learned: LearnedFloor | None
    fast_model: FastModel | None
    gap: FloorGap | None
    class_tree: ClassTree
    drawn_tree: ClassTree
    columns: ColumnFloors
    look_alikes: list[LookAlike]
    dependence: list[Finding]
    order: list[Finding]
    selection: SelectionPath | None
    tree_rows: NDArray[np.int64]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed in the data: first what may make every other figure too good."""
        learned = () if self.learned is None else self.learned.findings
        said = {finding.code for finding in learned}  # rows that are nearly copies are found by both
        trees = [each for each in self.trees.findings if each.code not in said]
        gap = () if self.gap is None else self.gap.findings
        return (*self.dependence, *trees, *learned, *self.order, *gap)


def compute_figures(
    source: Source[Problem],
    options: Options,
    *,
    fast: bool,
    asked: Mapping[str, Any],
    n_features: int | None,
    max_rows: int,
    max_tree_rows: int,
    compared: Compared | None = None,
) -> Figures:
    """Grow trees, train models unless `fast`, and look for features if asked.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        How to grow trees. Models take confidence, threads, seed, progress and the cluster from it.
    fast : bool
        Whether to train nothing.
    asked : mapping
        What models are judged by: `metric`, `costs` and `positive` of `learned_floor`.
    n_features : int or None
        How many features to search for.
    max_rows, max_tree_rows : int
        Rows for models and for trees, at the most.
    compared : Compared or None, default=None
        A model, or predictions, to compare with the floor on the folds of the stack.

    Returns
    -------
    Figures
    """
    problem = source.problem
    rows, part = np.arange(len(problem.X)), problem
    if max_tree_rows < len(rows):
        keys = keys_of_values(problem.X, problem.codes, options.random_state)
        rows = np.sort(stratified_rows(problem.codes, max_tree_rows, keys))
        part = problem.take(rows)
    growing = replace(options, progress=share_of(options.progress, 0, 100 if fast else 20))
    draws = count_cross_edges(part, growing, whole=True, classes=True, pairs=True)
    assert draws.forests is not None  # the first draw's are kept
    pairs = pairwise_result(draws, part, options, normalize=True)
    labels = problem.classes[problem.codes]
    how: dict[str, Any] = {"n_jobs": options.n_jobs, "random_state": options.random_state}
    learned = fast_model = gap = None
    if not fast and len(problem.X) >= FEWEST_ROWS:
        progress = share_of(options.progress, 20, 100)
        learned, held_out = learned_floor_of(
            problem,
            confidence=options.confidence,
            max_rows=max_rows,
            progress=progress,
            client=options.client,
            **asked,
            **how,
        )
        fast_model = try_fast_model(held_out, options)
        gap = None if compared is None else gap_of(learned, held_out, compared.predict(held_out))
    dependence: list[Finding] = []
    if learned is not None and source.is_table:
        dependence = find_dependence(
            problem.X,
            problem.codes,
            source.possible_groups if problem.groups is None else {},
            in_order=problem.time is None and problem.groups is None,
            tabular=problem.tabular,
            seed=options.random_state,
            n_jobs=options.n_jobs,
        )
    selection = None
    if n_features is not None:
        from bayesfloor.choose.selection import BayesErrorSelector  # loads scikit-learn, which takes a second

        together = source.feature_groups
        selector = BayesErrorSelector(n_features, feature_groups=together, progress=options.progress, **how)
        selection = selector.fit(problem.X, labels).path_
    classes = one_vs_rest_result(draws, part, options)
    class_tree = build_class_tree(pairs.normalized, problem.classes)
    return Figures(
        trees=whole_result(draws, part, options, pairs),
        classes=classes,
        pairs=pairs,
        learned=learned,
        fast_model=fast_model,
        gap=gap,
        class_tree=class_tree,
        drawn_tree=_tree_of_hardest(class_tree, classes, pairs),
        columns=measure_columns(source, options),
        look_alikes=find_look_alikes(draws.forests, part.codes, len(problem.classes), MOST_LOOK_ALIKES),
        dependence=dependence,
        order=find_ordered_classes(problem.classes, pairs.normalized, source.target),
        selection=selection,
        tree_rows=rows,
    )


def _tree_of_hardest(tree: ClassTree, classes: OneVsRestBayesError, pairs: PairwiseBayesError) -> ClassTree:
    """Return the tree, or, where it has too many classes to be drawn, one of the hardest of them alone."""
    if len(classes.classes) <= MOST_CLASSES_DRAWN:
        return tree
    hardest = np.sort(classes.by_hardness()[:MOST_CLASSES_DRAWN])
    return build_class_tree(pairs.normalized[np.ix_(hardest, hardest)], classes.classes[hardest])


def share_of(progress: Progress, first: int, last: int) -> Progress:
    """Let one part of the work move a bar from `first` to `last` percent."""
    if not callable(progress):
        return progress
    show: Callable[[int, int], None] = progress

    def draw(done: int, total: int) -> None:
        show(first * max(total, 1) + (last - first) * done, 100 * max(total, 1))

    return draw
