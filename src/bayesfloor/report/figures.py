"""Everything that a report is about, computed once: records of the other rooms, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose import BayesErrorSelector, SelectionPath
from bayesfloor.data.sampling import keys_of_values, stratified_rows
from bayesfloor.floor.learned.estimate import MIN_FOLDS, learned_floor
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.trees.assembly import count_cross_edges, one_vs_rest_result, pairwise_result, whole_result
from bayesfloor.floor.trees.problem import Problem, Progress, check_options
from bayesfloor.floor.trees.results import BayesError, OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.look_alikes import LookAlike, find_look_alikes
from bayesfloor.tree import ClassTree, build_class_tree

#: How many look-alikes are listed.
MOST_LOOK_ALIKES = 60
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
    class_tree : ClassTree
        Min-cuts of the normalized floors.
    look_alikes : list of LookAlike
        Rows that look like another class.
    selection : SelectionPath or None
        The search for features.
    tree_rows : ndarray
        The rows that the trees were grown on.
    """

    trees: BayesError
    classes: OneVsRestBayesError
    pairs: PairwiseBayesError
    learned: LearnedFloor | None
    class_tree: ClassTree
    look_alikes: list[LookAlike]
    selection: SelectionPath | None
    tree_rows: NDArray[np.int64]


def compute_figures(
    problem: Problem,
    groups: Any,
    *,
    fast: bool,
    n_features: int | None,
    n_trees: int,
    confidence: float,
    max_rows: int,
    max_tree_rows: int | None,
    n_jobs: int | None,
    device: Any,
    client: Any,
    seed: int,
    progress: Progress,
) -> Figures:
    """Grow trees, train models unless `fast`, and look for features if asked.

    Parameters
    ----------
    problem : Problem
        Checked points and labels.
    groups : sequence or None
        Columns of X that belong together, for the search for features.
    fast : bool
        Whether to train nothing.
    n_features : int or None
        How many features to search for.
    n_trees, confidence, n_jobs, device, client
        As for `bayes_error`; models are trained here.
    max_rows, max_tree_rows : int or None
        Rows for models and for trees, at the most.
    seed : int
        Seed of everything.
    progress : bool or callable
        As for `bayes_error`; called for the work as a whole.

    Returns
    -------
    Figures
    """
    n_classes = len(problem.classes)
    rows = np.arange(len(problem.X))
    part = problem
    if max_tree_rows is not None and max_tree_rows < len(rows):
        rows = stratified_rows(problem.codes, max_tree_rows, keys_of_values(problem.X, problem.codes, seed))
        rows = np.sort(rows)
        part = Problem(
            np.ascontiguousarray(problem.X[rows]), problem.classes, problem.codes[rows], problem.feature_names
        )
    options = check_options(
        n_trees=n_trees,
        bias_correction=True,
        forced_edges="drop",
        confidence=confidence,
        n_tie_draws=1,
        n_jobs=n_jobs,
        device=device,
        client=client,
        random_state=seed,
        progress=_share_of(progress, 0, 20 if not fast else 100),
    )
    draws = count_cross_edges(part, options, whole=True, classes=True, pairs=True)
    assert draws.forests is not None  # the first draw's are kept
    pairs = pairwise_result(draws, part, options, normalize=True)
    labels = problem.classes[problem.codes]
    learned = None
    if not fast and len(problem.X) >= FEWEST_ROWS:
        learned = learned_floor(
            problem.X,
            labels,
            confidence=confidence,
            max_rows=max_rows,
            n_jobs=n_jobs,
            random_state=seed,
            progress=_share_of(progress, 20, 100),
        )
    selection = None
    if n_features is not None:
        selector = BayesErrorSelector(
            n_features, groups=groups, n_jobs=n_jobs, random_state=seed, progress=progress
        )
        selection = selector.fit(problem.X, labels).path_
    return Figures(
        trees=whole_result(draws, part, options, pairs),
        classes=one_vs_rest_result(draws, part, options),
        pairs=pairs,
        learned=learned,
        class_tree=build_class_tree(pairs.normalized, problem.classes),
        look_alikes=find_look_alikes(draws.forests, part.codes, n_classes, MOST_LOOK_ALIKES),
        selection=selection,
        tree_rows=rows,
    )


def _share_of(progress: Progress, first: int, last: int) -> Progress:
    """Let one part of the work move a bar from `first` to `last` percent."""
    if not callable(progress):
        return progress
    show: Callable[[int, int], None] = progress

    def draw(done: int, total: int) -> None:
        show(first * max(total, 1) + (last - first) * done, 100 * max(total, 1))

    return draw

