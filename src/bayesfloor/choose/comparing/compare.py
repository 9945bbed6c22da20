"""`compare_features`: representations of the same rows in, which lets models get furthest out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.comparing.by_trees import measure_by_trees, tree_difference, tree_summary
from bayesfloor.choose.comparing.differences import Measured, allowing_for_all, is_improving, pair_errors
from bayesfloor.choose.comparing.representations import Representation, check_features
from bayesfloor.choose.comparing.results import FeatureComparison, FeatureFloor
from bayesfloor.choose.comparing.rounds import Race, RacedRows
from bayesfloor.choose.comparing.shared_rows import check_rows, with_marks
from bayesfloor.choose.comparing.trust import Looked, look
from bayesfloor.choose.floor_levels import level_without_features
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import CHOICE_ROWS, LEARNED_VALUES, affordable_rows
from bayesfloor.exceptions import TrustWarning
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.gap import judged_by_one
from bayesfloor.floor.learned.row_plan import choose_rows
from bayesfloor.floor.trees.problem import Options, Progress, check_options
from bayesfloor.runtime.checks import (
    check_confidence,
    check_max_rows,
    check_option,
    check_random_state_seed,
    is_int,
    warn_caller,
)
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import check_same_index, like_input
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.text import counted, exact_percent, listed, quoted
from bayesfloor.tables.arguments import check_problem, problem_and_table
from bayesfloor.tables.frames import is_eager_frame


@like_input
def compare_features(
    features: Any,
    y: Any = None,
    *,
    X: Any = None,
    task: str = "auto",
    metric: Any = None,
    costs: Any = None,
    positive: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    cv: Any = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    effort: str = "default",
    n_trees: int = 3,
    prepare: Any = "auto",
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    checks: bool = True,
) -> FeatureComparison:
    """Compare representations of the same rows: columns, embeddings, steps of preprocessing, or several side by side.

    Models are trained with each on the same rows and folds. What they reach, the floors and the learning curves are
    compared row by row, so that small differences are told that two ranges side by side would hide.

    Parameters
    ----------
    features : mapping of str to features
        What to compare, by name. Each value is

        - an array, sparse matrix, tensor or data frame with a row for each label, or the path of such a file: ``.npy``
          (read from the disk as it is needed), ``.npz``, Parquet, CSV and so on. float16 and float32 stay as they are
          until they are trained on, one representation at a time;
        - a transformer or a Pipeline of them, which is fitted to X anew in each training set;
        - "passthrough", for X as it is;
        - a list of other names, of columns of X, of arrays and of transformers: side by side.
    y : array-like of shape (n_samples,), or str, default=None
        The labels or numbers, or the name of their column in X; left out where X is a Table.
    X : data frame, array-like, sequence of texts, Table, str or path-like, default=None
        The rows that transformers and names of columns are about. Columns that are named as `y`, `groups`, `time` or
        `sample_weight` are no features.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers; "auto" decides by its values.
    metric : str or None, default=None
        What models are judged by: one of those of `learned_floor`, or of `regression_floor`. None for "error", "cost"
        with costs, and "r2" for numbers.
    costs, positive
        As for `learned_floor`.
    groups, time, sample_weight : array-like of shape (n_samples,), str or None, default=None
        Rows that belong together, when each was seen, and what each counts, as for `learned_floor`.
    confidence : float, default=0.95
        Level of the intervals. A difference is sure where its p-value, allowing for all pairs, is below 1 less this.
    cv : int, splitter or iterable, default=5
        Folds, as for `learned_floor`.
    max_rows : int or None, default=None
        Rows to use at the most. None for as many as `learned_floor` would use of the widest representation, for 10 000
        with transformers, and for 5000 with ``learners=None``.
    learners : "default", mapping, list or None, default="default"
        What the stack is made of, as for `learned_floor`. None trains no models: floors of classes come from spanning
        trees alone, in seconds. That is for a first look at many steps of one table. How much too high such floors are
        depends on the representation (BF008), so that it may rank them the wrong way round.
    effort : {"fast", "default"}, default="default"
        How much is trained, as for `learned_floor`.
    n_trees : int, default=3
        With ``learners=None``: how many edge-disjoint spanning trees to count in.
    prepare : {"auto", None}, default="auto"
        How data frames and files become numbers, as for `learned_floor`.
    n_jobs : int or None, default=None
        Threads; None for every core.
    device : "auto", "cpu" or "cuda", default="auto"
        With ``learners=None``: where spanning trees are grown.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners. Transformers have their own.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train the learners, or grow the trees, on the workers of this cluster.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time, where nobody said
        so. Rows are then kept apart for all representations; columns are named, and a `TrustWarning` says so.

    Returns
    -------
    FeatureComparison
        What each representation reaches, its floor and its learning curve; the differences of every two.

    Warns
    -----
    TrustWarning
        Where columns give the target away.

    See Also
    --------
    learned_floor : The floor of one representation.
    FloorSelector : Which columns carry the information.

    Notes
    -----
    Of three or more representations and at least 4000 rows, a part of the rows is looked at first. One stops there if
    more rows would not bring it to what another one reaches already. The chance that the best of them stops so is at
    most 1 less the confidence, as long as doubling the rows gains no more than the last doubling did (BF075).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from bayesfloor import compare_features
    >>> X, y = load_wine(return_X_y=True)
    >>> parts = {"colour": X[:, 9:11], "alcohol": X[:, :1], "both": ["colour", "alcohol"]}
    >>> compared = compare_features(parts, y, learners=["gaussian"])
    >>> compared.best, compared.distinguishable("colour", "alcohol")
    ('both', True)
    """
    confidence, seed = check_confidence(confidence), check_random_state_seed(random_state)
    asked = check_rows(X, y, task, groups=groups, time=time, sample_weight=sample_weight)
    target, n = asked.problem, len(asked.y)
    named = features.items() if isinstance(features, Mapping) else ()
    check_same_index({"y": y, "X": X, **{f"the features {quoted(str(name))}": value for name, value in named}})

    def labelled(table: Any) -> Problem:
        return check_problem(table, asked.labels, task=target.task, prepare=prepare, seed=seed)

    representations = check_features(features, asked.X, len(asked.labels), labelled, target.given_rows)
    options = check_options(n_jobs=n_jobs, device="cpu", random_state=seed)
    looked = Looked(target)
    if checks:
        of_x = None
        if is_eager_frame(asked.X) or np.ndim(asked.X) == 2:
            of_x = problem_and_table(asked.X, asked.labels, task=target.task, prepare=prepare, seed=seed)
        split = {"may_split": is_int(cv), "may_be_times": learners is not None}
        looked = look(representations, of_x, target, asked.y, options, **split)
    if looked.are_leaks:
        warn_caller(" ".join(looked.trust.headline), TrustWarning)
    target = looked.shared
    shared = with_marks(target, representations)
    if learners is None:
        options = check_options(
            n_trees=n_trees,
            confidence=confidence,
            n_jobs=n_jobs,
            device=device,
            random_state=seed,
            client=client,
        )
        return _trusted(_by_trees(representations, shared, asked.y, max_rows, options), looked)
    judged_by = judged_by_one(metric, costs, positive, target)
    how = {
        "confidence": confidence,
        "cv": cv,
        "learners": learners,
        "effort": effort,
        "n_jobs": n_jobs,
        "random_state": seed,
        "client": client,
    }
    most = _most_rows(representations, target, max_rows, how)
    y_given, used = asked.y, representations
    if any(each.is_fitted or not each.takes_new_rows for each in representations) and most < n:
        rows = np.sort(choose_rows(shared, most, seed))  # what is fitted to rows is fitted to these alone
        shared, y_given = shared.take(rows), y_given[rows]
        used = [each.on(rows) for each in representations]
    race = RacedRows(shared, y_given, judged_by, how, most).race(used, progress)
    return _trusted(_learned(representations, race, target, confidence, is_sample=most < n), looked)


def _trusted(found: FeatureComparison, looked: Looked) -> FeatureComparison:
    """Add what speaks against the figures."""
    return replace(found, trust=looked.trust, findings=in_order([*looked.findings, *found.findings]))


def _most_rows(
    representations: list[Representation], target: Problem, max_rows: int | None, how: dict[str, Any]
) -> int:
    """Return how many rows are used at the most: the same for all representations."""
    is_default = isinstance(how["learners"], str) and how["learners"] == "default"
    is_plain = is_default and is_int(how["cv"]) and target.time is None
    most = limits().learned_rows
    if is_plain and not any(each.is_fitted or not each.takes_new_rows for each in representations):
        n_values = LEARNED_VALUES if target.groups is None else LEARNED_VALUES // 2
        most = affordable_rows(max(each.n_columns for each in representations), n_values)
    most = int(min(most, EFFORTS[check_option("effort", how["effort"], EFFORTS)].most_rows))
    n_classes = len(target.classes) if target.task == "classification" else 2
    return check_max_rows(max_rows, n_classes, most)


def _learned(
    representations: list[Representation], race: Race, target: Problem, confidence: float, *, is_sample: bool
) -> FeatureComparison:
    """Put what was learned into order."""
    differences, n_samples = allowing_for_all(race.differences), target.n_samples
    of_loss = next(iter(race.measured.values())).floor
    summaries = {each.name: _summary(each, race, n_samples) for each in representations}
    values = {name: float(of_loss.value(each.floor.reached)) for name, each in race.measured.items()}
    names = sorted(summaries, key=lambda name: _order(summaries[name], values[name]))
    of_pairs = [pair_errors(race.measured[name].held_out) for name in names]
    pair_values = np.array(of_pairs) if target.task == "classification" else np.empty((len(names), 0))
    found = FeatureComparison(
        features=tuple(summaries[name] for name in names),
        differences=differences,
        metric=of_loss.name,
        task=target.task,
        baseline=race.measured[names[0]].floor.baseline,
        classes=target.classes if target.task == "classification" else np.empty(0),
        pair_values=pair_values,
        pair_best=pair_values.argmin(axis=0),
        n_samples=n_samples,
        n_rows=race.n_rows,
        is_learned=True,
        confidence=confidence,
        findings=(),
    )
    said = [*_find(found, representations, is_sample=is_sample), *_find_stopped(found, race)]
    said += [*race.findings, *target.findings]
    return replace(found, findings=in_order(said))


def _summary(representation: Representation, race: Race, n_samples: int) -> FeatureFloor:
    measured: Measured = race.measured[representation.name]
    floor = measured.floor
    return FeatureFloor(
        name=representation.name,
        n_features=measured.n_features,
        estimate=floor.estimate,
        interval=floor.interval,
        reached=floor.reached,
        reached_interval=floor.reached_interval,
        curve=floor.curve,
        is_improving=is_improving(floor.curve, larger_is_better=floor.larger_is_better),
        n_samples=n_samples,
        n_rows=measured.n_rows,
        is_stopped=representation.name in race.stopped,
        takes_new_rows=representation.takes_new_rows,
        sides=representation.sides,
        seconds=measured.seconds,
    )


def _by_trees(
    representations: list[Representation],
    target: Problem,
    y: NDArray[Any],
    max_rows: int | None,
    options: Options,
) -> FeatureComparison:
    """Compare floors from spanning trees."""
    if target.task == "regression":
        raise ValueError("Spanning trees give floors of classes, and y holds numbers: leave out learners=None.")
    if target.time is not None or target.sample_weight is not None:
        raise ValueError("Spanning trees know neither time nor sample_weight: leave out learners=None.")
    n_labelled, n_samples, seed = len(y), target.n_samples, options.random_state
    rows = np.sort(choose_rows(target, check_max_rows(max_rows, len(target.classes), CHOICE_ROWS), seed))
    given = representations
    if len(rows) < n_labelled:
        representations = [each.on(rows) for each in representations]
        groups = None if target.groups is None else np.unique(target.groups[rows], return_inverse=True)[1]
        target, y = replace(target.take(rows), groups=groups), y[rows]
    measured = measure_by_trees(representations, target, y, target.keys(seed), options)
    n_rows = len(rows)
    differences = allowing_for_all([tree_difference(a, b, n_rows) for a, b in combinations(measured, 2)])
    pairs = zip(measured, given, strict=True)
    summaries = {each.name: tree_summary(each, of, n_samples, n_rows) for each, of in pairs}
    names = sorted(summaries, key=lambda name: _order(summaries[name], summaries[name].estimate))
    by_name = {each.name: each for each in measured}
    pair_values = np.array([by_name[name].pairs for name in names])
    found = FeatureComparison(
        features=tuple(summaries[name] for name in names),
        differences=differences,
        metric="error",
        task="classification",
        baseline=level_without_features(target.class_counts).floor,
        classes=target.classes,
        pair_values=pair_values,
        pair_best=pair_values.argmin(axis=0),
        n_samples=n_samples,
        n_rows=n_rows,
        is_learned=False,
        confidence=options.confidence,
        findings=(),
    )
    return replace(found, findings=in_order([*_find(found, given, is_sample=n_rows < n_labelled), *target.findings]))


def _order(summary: FeatureFloor, loss: float) -> tuple[Any, ...]:
    """Return what representations are sorted by: those of all rows first, then what is lost, then their width."""
    return summary.is_stopped, loss, not summary.takes_new_rows, summary.n_features


def _find(found: FeatureComparison, representations: list[Representation], *, is_sample: bool) -> Iterator[Finding]:
    """Say what bears on any comparison."""
    learning = [quoted(each.name) for each in representations if each.needs_labels]
    if learning and not found.is_learned:
        yield Finding(
            "BF031",
            f"{len(learning)} of the representations {'learns' if len(learning) == 1 else 'learn'} from the labels: "
            f"{listed(learning)}. All floors are means over two halves of the {counted(found.n_rows)} rows, each "
            "measured with what such a step learned from the other half.",
            "They compare with each other, and are higher than floors of all rows would be.",
        )
    if not found.is_learned and len(representations) > 1:
        widths = [f"{quoted(each.name)} {each.n_features}" for each in found.features]
        widths[0] = f"{quoted(found.best)} has {counted(found.features[0].n_features, 'column')}"
        yield Finding(
            "BF008",
            "Floors from spanning trees are too high, and by how much depends on the representation: its width, its "
            f"dimensions, its scales. {listed(widths)}. Differences of these floors may be nothing else, and their "
            "intervals do not cover it.",
            "Train models (without learners=None, or --fast) before one is chosen.",
        )
    if is_sample:
        yield Finding(
            "BF032",
            f"The figures come from {counted(found.n_rows)} of the {counted(found.n_samples)} rows.",
            "Raise max_rows to use more.",
        )
    fixed = [quoted(each.name) for each in representations if not each.takes_new_rows]
    if fixed:
        yield Finding(
            "BF033",
            f"{len(fixed)} of the representations {'has' if len(fixed) == 1 else 'have'} no transform() for rows that "
            f"come later: {listed(fixed)}.",
            "What is said of them is about these rows; a model for new ones needs another map.",
        )


def _find_stopped(found: FeatureComparison, race: Race) -> Iterator[Finding]:
    """Say who was stopped early, and how sure that is."""
    if race.stopped:
        rows = sorted({race.measured[name].n_rows for name in race.stopped})
        used = listed([counted(n) for n in rows])
        yield Finding(
            "BF075",
            f"Stopped after {used} rows: {listed(list(map(quoted, race.stopped)), 8)}. More rows would not bring them "
            "to what another one reaches already. The chance that one of them would be the best is at most "
            f"{exact_percent(1.0 - found.confidence)}, as long as doubling the rows gains no more than the last "
            "doubling did.",
            "Their figures are those of fewer rows, with wider ranges. Compare two of them alone to use all rows.",
        )
