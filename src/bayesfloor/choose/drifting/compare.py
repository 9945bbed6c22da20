"""`drift`: two tables in, whether and how they differ out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from bayesfloor.choose.drifting.dependence import find_order, stretches_of
from bayesfloor.choose.drifting.labels import labels_given_columns
from bayesfloor.choose.drifting.moved import column_moves, kinds_of_rows, level_moves
from bayesfloor.choose.drifting.permutations import N_DEALS, deal_names, share_as_large
from bayesfloor.choose.drifting.results import Drift, TargetDrift
from bayesfloor.choose.drifting.scores import Part, evidence_of, orthonormal, parts_of, rank_polynomials
from bayesfloor.choose.drifting.two_samples import TwoSampleTest, compare_samples, squared_sums
from bayesfloor.choose.drifting.two_tables import TwoTables, two_tables
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.paired import holm
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.floor.trees.cross_edges import CrossEdges, of_whole
from bayesfloor.floor.trees.findings import find_high_dimension
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.forest import Forests, spanning_forests
from bayesfloor.runtime.arrays import Bools
from bayesfloor.runtime.checks import check_confidence, check_int, check_n_trees, check_random_state_seed
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.text import counted, listed, listed_names, p_text, percent, quoted
from bayesfloor.runtime.threads import supervise

#: Rows of each table, and groups, from which models are trained to tell the tables apart.
_FEWEST_ROWS, _FEWEST_GROUPS = 20, 10
#: Stretches of time below which a finding says how few there are: names can be dealt out to them in few ways.
_FEWEST_STRETCHES = 10
#: Share of the rows that lie elsewhere from which one column tells the tables apart by itself.
_TELLS_ALL = 0.98


@like_input
def drift(
    old: Any,
    new: Any,
    *,
    y: Any = None,
    task: str = "auto",
    groups: Any = None,
    time: Any = None,
    drop: Any = (),
    n_trees: int = 3,
    confidence: float = 0.95,
    max_rows: int | None = None,
    learners: Any = "default",
    effort: str = "default",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
) -> Drift:
    """Tell whether two tables come from one distribution, and what moved between them.

    Parameters
    ----------
    old, new : data frame, array-like of shape (n_samples, n_features), path, LazyFrame or Dask collection
        The tables, or their files, with the same columns in any order. Kinds of columns are told, and features are
        made, from both together.
    y : str, or pair of array-likes, default=None
        The target: the name of its column in both tables, or its values in each. It is no feature: whether labels given
        the columns moved is asked by itself, unless one of the tables, as new data may, has no such column.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target holds classes or numbers; "auto" decides by its values.
    groups : str, or pair of array-likes, default=None
        Rows that belong together, such as those of one patient: names of the tables are then dealt out to groups, and
        models are tested on new groups. A group that is in both tables is compared with itself.
    time : str, or pair of array-likes, default=None
        When each row was seen, numbers or dates. Rows that follow each other may then depend on each other: names are
        dealt out to stretches of time, long enough for the dependence that is seen. Not together with `groups`.
    drop : str or sequence of str, default=()
        Columns to leave out, where a table has them.
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    confidence : float, default=0.95
        Level of the intervals; what has a p-value of at most 1 less this has moved.
    max_rows : int or None, default=None
        Rows to use of both tables together, as large a share of each; None for 50 000.
    learners : "default", mapping, list or None, default="default"
        As for `learned_floor`. None trains no models: the tests and what moved take a second.
    effort : {"fast", "default"}, default="default"
        How much is trained, as for `learned_floor`.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the deals of names, and the models.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.

    Returns
    -------
    Drift
        The p-value, the divergence, how well models tell the tables apart, and what moved.

    See Also
    --------
    henze_penrose_divergence : The divergence between classes of one table.

    Notes
    -----
    Four statistics are compared with their own values when the names of the tables are dealt out to the rows again, so
    that the p-value holds at any size and in any dimension. Of up to 999 ways to deal them out all are taken, and the
    p-value is exact.

    Columns that number, name or date the rows would tell any two tables apart. They are left out, and named (BF070).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesfloor import drift
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(200, 3)), rng.normal(size=(150, 3)) + [0, 0.8, 0]
    >>> found = drift(old, new, learners=None)
    >>> found.p_value < 0.01, found.moved
    (True, ('x1',))
    """
    confidence, seed = check_confidence(confidence), check_random_state_seed(random_state)
    n_trees = check_n_trees(n_trees)
    if max_rows is not None:
        max_rows = check_int("max_rows", max_rows, 4)
    beside = {"y": y, "groups": groups, "time": time}
    tables = two_tables(old, new, task=task, drop=drop, max_rows=max_rows, seed=seed, **beside)
    words = tables.words
    parts = [part for each in tables.profiles for part in parts_of(each, words.get(each.column.name))]
    if tables.time is not None:
        tables = replace(tables, groups=stretches_of(parts, tables.time, tables.is_new))
    how: dict[str, Any] = {
        "confidence": confidence,
        "learners": learners,
        "effort": effort,
        "n_jobs": n_jobs,
        "random_state": seed,
        "progress": progress,
    }
    forests, cross, test = _tested(tables, parts, n_trees, n_jobs, seed)
    separability, why_not = _separability(tables, how)
    target = None if tables.labels is None else _target(tables, parts, confidence, seed)
    test, target = at_one_level(test, separability, target)
    n_new = int(tables.is_new.sum())
    n_old = len(tables.is_new) - n_new
    estimate, interval = cross.divergence(n_old, n_new, confidence)
    level = 1.0 - confidence
    moves = column_moves(parts, test, tables.profiles, tables.is_new, level)
    told = test.p_value <= level
    found = Drift(
        estimate=float(estimate),
        interval=(float(interval[0]), float(interval[1])),
        p_value=test.p_value,
        tests=test.of_tests,
        is_exact=test.is_exact,
        separability=separability,
        moves=moves,
        levels=level_moves(moves, tables.profiles, tables.is_new, level),
        kinds=kinds_of_rows(tables.profiles, tables.is_new, tables.groups, seed, level) if told else (),
        target=target,
        n_samples=tables.n_samples,
        n_old=n_old,
        n_new=n_new,
        confidence=confidence,
        findings=(),
    )
    findings = [*_find(found, tables, why_not), *tables.findings]
    if told:
        findings += find_high_dimension(tables.X.shape, forests)
    if tables.groups is None:
        findings += find_order(parts, tables.given, tables.is_new)
    return replace(found, findings=in_order(findings))


def _tested(
    tables: TwoTables, parts: list[Part], n_trees: int, n_jobs: int | None, seed: int
) -> tuple[Forests, CrossEdges, TwoSampleTest]:
    """Grow the forests of both tables, count cross edges and deal the names out."""
    forests = spanning_forests(tables.X, n_trees=n_trees, n_jobs=n_jobs, random_state=seed)
    cross = of_whole(forests, tables.is_new.astype(np.int64), 2, tables.groups)

    # with BLAS held to one thread: the order of sums must not decide which of two statistics is larger
    test = supervise(lambda _: compare_samples(tables.X, parts, tables.is_new, forests, tables.groups, seed), 1, False)
    return forests, cross, test


def at_one_level(
    test: TwoSampleTest, separability: MetricFloor | None, target: TargetDrift | None
) -> tuple[TwoSampleTest, TargetDrift | None]:
    """Let the p-values allow for each other, so that all that is said together is as sure as each was alone.

    A model's p-value is at most half of the level where the range of its AUC leaves out .5: twice that is at most the
    level, and what is said of the p-value and of the AUC agrees. It is by the normal law, and taken to be no smaller
    than that of permutations can be.
    """
    p_value = test.p_value
    if separability is not None:
        auc, low = separability.reached, separability.reached_interval[0]
        z = float(ndtri(0.5 + 0.5 * separability.confidence)) * (auc - 0.5) / max(auc - low, 1e-12)
        p_value = min(1.0, 2.0 * min(p_value, max(float(ndtr(-z)), 1.0 / (1.0 + N_DEALS))))
    if target is not None and target.p_value is not None:
        p_value, of_labels = holm([p_value, target.p_value]).tolist()
        target = replace(target, p_value=of_labels)
    return replace(test, p_value=p_value), target


def _separability(tables: TwoTables, how: dict[str, Any]) -> tuple[MetricFloor | None, str]:
    """Train models to tell the tables apart; return why there are none where there are too few rows."""
    if how["learners"] is None:
        return None, ""
    codes = tables.is_new.astype(np.int64)
    few = np.bincount(codes, minlength=2).min() < _FEWEST_ROWS
    if few:
        return None, f"models need {_FEWEST_ROWS} rows of each table"
    if tables.groups is not None and len(np.unique(tables.groups)) < _FEWEST_GROUPS:
        return None, f"models need {_FEWEST_GROUPS} groups"
    problem = Problem(
        tables.X, np.array(["new", "old"]), 1 - codes, groups=tables.groups, tabular=_tabular_of(tables, slice(None))
    )
    return learned_floor_of(problem, metric="roc_auc", **how)[0].metrics["roc_auc"], ""


def _tabular_of(tables: TwoTables, rows: Any) -> Any:
    """Return columns as codes with gaps, where X does not tell the same."""
    return None if tables.preparation.is_plain else replace(tables.tabular, values=tables.tabular.values[rows])


def _target(tables: TwoTables, parts: list[Part], confidence: float, seed: int) -> TargetDrift:
    """Ask whether labels given the columns moved."""
    labels, rows = tables.labels, tables.labelled_rows
    assert labels is not None
    is_new = tables.is_new[rows]
    groups = None if tables.groups is None else np.unique(tables.groups[rows], return_inverse=True)[1]
    known: dict[str, Any] = {"groups": groups, "tabular": _tabular_of(tables, rows)}
    X = np.ascontiguousarray(tables.X[rows])
    of_classes = labels.task == "classification"
    problem = (
        Problem(X, labels.classes, labels.codes, **known) if of_classes else Problem.of_numbers(X, labels.y, **known)
    )
    firsts = [part.scores[rows, :1] * len(tables.X) ** 0.5 for part in parts if part.what in ("values", "levels")]
    scores = np.hstack(firsts) if firsts else np.zeros((len(rows), 0))
    given = supervise(lambda _: labels_given_columns(problem, is_new, scores, seed), 1, False)
    classes = [set(labels.codes[side].tolist()) for side in (~is_new, is_new)] if of_classes else [set(), set()]
    return TargetDrift(
        target=labels.name,
        task=labels.task,
        p_value=given.p_value,
        label_p_value=_label_p_value(problem, is_new, seed),
        overlap=given.overlap,
        confidence=confidence,
        new_classes=tuple(str(labels.classes[code]) for code in sorted(classes[1] - classes[0])),
        gone_classes=tuple(str(labels.classes[code]) for code in sorted(classes[0] - classes[1])),
    )


def _label_p_value(problem: Problem, is_new: Bools, seed: int) -> float:
    """Test whether labels alone moved, as a column is tested."""
    every = np.ones(len(is_new), bool)
    of_classes = problem.task == "classification"
    raw = np.eye(len(problem.classes))[problem.codes] if of_classes else rank_polynomials(problem.y)
    scores = orthonormal(raw, every)
    if not scores.shape[1] or is_new.all() or not is_new.any():
        return 1.0
    squares = squared_sums(scores, deal_names(is_new, problem.groups, seed, scores.shape[1]))
    return float(share_as_large(evidence_of(squares))[0])


def _find(found: Drift, tables: TwoTables, why_not: str) -> Iterator[Finding]:
    """Say what a reader should know."""
    if tables.left_out:
        said = listed([f"{quoted(name)} {why}" for name, why in tables.left_out.items()], 6)
        yield Finding(
            "BF070",
            f"Left out, as any two tables differ there: {said}.",
            "Where one of them is a measurement, give it another name or kind, and compare again.",
        )
    alone = [each for each in found.moves if each.share >= _TELLS_ALL and each.p_value <= 1.0 - found.confidence]
    if alone:
        names = [each.column for each in alone]
        yield Finding(
            "BF071",
            f"By itself {listed_names(names)} tells the tables apart: about {percent(alone[0].share)} of the rows "
            "have another value.",
            "Was it coded or measured in another way? Leave it out (drop=, --drop) to see what else moved.",
        )
    target = found.target
    if target is not None and (target.new_classes or target.gone_classes):
        lacking = [
            f"{what} has no {listed_names(classes)}"
            for what, classes in (("the old table", target.new_classes), ("the new table", target.gone_classes))
            if classes
        ]
        yield Finding(
            "BF072",
            f"The classes of {quoted(target.target)} differ: {' and '.join(lacking)}.",
            "A model of the old table never names a new class. Collect labels of it, or map it to an old one.",
        )
    if target is not None and target.has_moved and target.p_value is not None:
        yield Finding(
            "BF073",
            f"{quoted(target.target)} given the columns moved between the tables ({p_text(target.p_value)}).",
            "A model of the old table is wrong on the new one, however many old rows it has: train on new labels.",
        )
    n_rows = found.n_old + found.n_new
    parts = [] if n_rows == found.n_samples else [f"the tables were compared on {counted(n_rows)} of their rows"]
    if why_not:
        parts.append(f"no model was trained to tell the tables apart: {why_not}")
    n_stretches = 0 if tables.time is None or tables.groups is None else len(np.unique(tables.groups))
    if 0 < n_stretches < _FEWEST_STRETCHES:
        parts.append(f"rows depend on each other for so long that there are {n_stretches} stretches of time to compare")
    if parts:
        said = "; ".join(parts)
        hint = "Raise max_rows to use more." if n_rows < found.n_samples else "The p-value holds with little, too."
        yield Finding("BF074", f"{said[0].upper()}{said[1:]}.", hint)
