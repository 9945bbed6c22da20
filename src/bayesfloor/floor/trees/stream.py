"""Rows that arrive in batches: what `BayesErrorEstimator.partial_fit` keeps from one to the next."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.floor.trees.problem import Options, Problem
from bayesfloor.forest import ClassForests, class_forests
from bayesfloor.forest.gpu.device import host_array
from bayesfloor.forest.growing.classes import join_classes
from bayesfloor.forest.growing.forests import check_new_points


@dataclass(frozen=True, eq=False)
class Stream:
    """All rows so far, and their forests once there are two classes, one for each tie draw."""

    problem: Problem
    declared: NDArray[Any] | None
    forests: tuple[ClassForests, ...]
    seed: int
    asked: tuple[Any, ...]  # what must stay the same from batch to batch: n_trees, n_tie_draws, random_state


def first_batch(X: Any, y: Any, classes: Any) -> tuple[Problem, NDArray[Any] | None]:
    """Check the first batch."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    points = check_points(host_array(X)[0], min_rows=1).copy()  # the caller may put the next batch into the same array
    seen, codes = check_labels(y, len(points), min_classes=1)
    declared = check_declared(classes, None, seen)
    return Problem(points, seen, codes, None if names is None else list(names)), declared


def check_declared(classes: Any, before: NDArray[Any] | None, seen: NDArray[Any]) -> NDArray[Any] | None:
    """Return the labels that there may be, None for any; those that were seen must be among them."""
    declared = before
    if classes is not None:
        declared = check_labels(np.asarray(classes), len(classes), min_classes=1)[0]
        if before is not None and not np.array_equal(declared, before):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {before.tolist()!r}"
            )
    if declared is not None:
        unknown = sorted(set(seen.tolist()) - set(declared.tolist()))
        if unknown:
            raise ValueError(f"y has labels that are not among the classes {declared.tolist()!r}: {unknown!r}")
    return declared


def begin(problem: Problem, declared: NDArray[Any] | None, options: Options, asked: tuple[Any, ...]) -> Stream:
    """Start a stream with its first batch."""
    return Stream(problem, declared, grow_forests(problem, options), options.random_state, asked)


def advance(stream: Stream, X: Any, y: Any, classes: Any, options: Options) -> Stream:
    """Return the stream with one more batch; the stream itself stays as it is."""
    before = stream.problem
    X = check_new_points(host_array(X)[0], before.X.shape[1], "BayesErrorEstimator")
    new_classes, new_codes = check_labels(y, len(X), min_classes=1)
    seen, codes_of_old, codes_of_new = join_classes(before.classes, new_classes)
    declared = check_declared(classes, stream.declared, seen)
    codes = np.concatenate((codes_of_old[before.codes], codes_of_new[new_codes]))
    if stream.forests:
        labels = new_classes[new_codes]
        forests = tuple(
            forests.extend(X, labels, n_jobs=options.n_jobs, progress=options.progress) for forests in stream.forests
        )
        problem = Problem(forests[0]._rows_given, seen, codes, before.feature_names)
    else:
        problem = Problem(np.concatenate((before.X, X)), seen, codes, before.feature_names)
        forests = grow_forests(problem, options)
    return replace(stream, problem=problem, declared=declared, forests=forests)


def grow_forests(problem: Problem, options: Options) -> tuple[ClassForests, ...]:
    """Grow the forests of each tie draw, as soon as there are two classes."""
    if len(problem.classes) < 2:
        return ()
    labels = problem.classes[problem.codes]
    return tuple(
        class_forests(
            problem.X,
            labels,
            n_trees=options.n_trees,
            n_jobs=options.n_jobs,
            device=options.device,
            random_state=seed,
            progress=options.progress,
        )
        for seed in options.seeds()
    )
