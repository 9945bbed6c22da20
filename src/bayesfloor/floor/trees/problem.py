"""What all functions of this room share: checked points and labels, checked options, and the equations in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesfloor.data.labels import check_labels
from bayesfloor.data.problem import Problem
from bayesfloor.data.row_groups import check_groups
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.floor.trees.cross_edges import CrossEdges, mean_of_draws
from bayesfloor.floor.trees.remote_points import RemotePoints, is_remote
from bayesfloor.floor.trees.results import CrossEdgeCount, Floors
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_confidence, check_int, check_n_trees, check_option, check_random_state_seed
from bayesfloor.tables.arguments import check_problem

Progress = bool | Callable[[int, int], None]


def check_problem_anywhere(X: Any, y: Any, client: Any, groups: Any = None) -> Problem:
    """Check labels, and points unless they are in a file or a Dask collection; the engine checks those part by part."""
    if not is_remote(X):
        return check_problem(X, y, groups=groups)
    points: Any = RemotePoints(X, client)
    classes, codes = check_labels(y, len(points))
    return Problem(points, classes, codes, points.columns, check_groups(groups, len(points)))


@dataclass(frozen=True)
class Options:
    """How to count and what to make of it; see `bayes_error` for what each one means."""

    n_trees: int
    bias_correction: bool
    forced_edges: str
    confidence: float
    n_tie_draws: int
    n_jobs: int | None
    device: Any
    random_state: int
    progress: Progress
    client: Any

    def seeds(self) -> list[int]:
        """Return one seed per tie draw, the first being the caller's own."""
        further = np.random.SeedSequence(self.random_state).generate_state(self.n_tie_draws - 1, np.uint64)
        return [self.random_state, *map(int, further)]

    def engine(self, seed: int) -> dict[str, Any]:
        """Return what `spanning_forests` and `class_forests` need to know, with the seed of one tie draw."""
        return {
            "n_trees": self.n_trees,
            "n_jobs": self.n_jobs,
            "device": self.device,
            "random_state": seed,
            "progress": self.progress,
            "client": self.client,
        }


def check_options(
    n_trees: Any = 3,
    bias_correction: Any = True,
    forced_edges: Any = "drop",
    confidence: Any = 0.95,
    n_tie_draws: Any = 1,
    n_jobs: Any = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Any = False,
    client: Any = None,
) -> Options:
    """Check options, in scikit-learn's words; `n_jobs`, `device`, `progress` and `client` are left to the engine."""
    return Options(
        check_n_trees(n_trees),
        bool(bias_correction),
        check_option("forced_edges", forced_edges, ("drop", "keep")),
        check_confidence(confidence),
        check_int("n_tie_draws", n_tie_draws),
        n_jobs,
        device,
        check_random_state_seed(random_state),
        progress,
        client,
    )


def floors_of(
    draws: Sequence[CrossEdges], n_classes: int, largest_floor: ArrayLike, options: Options
) -> Floors[Floats, Floats]:
    """Put cross edges through the equations, averaged over tie draws.

    The interval of R goes through the same equations. Its lower end loses the forced edges as R
    itself does; its upper end keeps them, because whether classes would have touched there is
    exactly what a small sample cannot tell.

    Parameters
    ----------
    draws : sequence of CrossEdges
        One per tie draw, all of one shape.
    n_classes : int
        Classes in each problem.
    largest_floor : array-like
        One minus the largest prior of each problem; the smaller prior for two classes.
    options : Options
        Which corrections to make, and at which confidence.

    Returns
    -------
    Floors of arrays
        Arrays of the shape of the draws; intervals have one more axis, of length two.
    """
    cross = mean_of_draws(draws)
    n, largest = cross.n_points, np.asarray(largest_floor, np.float64)
    limit = np.asarray(np.inf)
    if options.bias_correction:
        limit = hp.gamma(n, largest) if n_classes == 2 else hp.multiclass_gamma(n, n_classes, largest)

    def equations(R: Floats) -> tuple[Floats, Floats, Floats]:
        R = hp.corrected_cross_edges(np.maximum(R, 0.0), limit)
        if n_classes == 2:
            u = hp.u_from_cross_edges(R, n)
            return hp.lower_bound(u), hp.upper_bound(u), hp.estimate(u)
        return (
            hp.multiclass_lower_bound(R, n, n_classes),
            hp.multiclass_upper_bound(R, n, n_classes),
            hp.multiclass_estimate(R, n, n_classes),
        )

    is_dropped = 1.0 if options.forced_edges == "drop" else 0.0
    lower, upper, estimate = equations(cross.count - is_dropped * cross.forced)
    low, high = cross.interval(options.confidence)
    at_low, at_high = equations(low - is_dropped * cross.forced), equations(high)
    intervals = [np.stack(ends, axis=-1) for ends in zip(at_low, at_high, strict=True)]
    by_draw = [equations(draw.count - is_dropped * draw.forced)[2] for draw in draws]
    return Floors(
        estimate=estimate,
        lower=lower,
        upper=upper,
        lower_interval=intervals[0],
        upper_interval=intervals[1],
        interval=intervals[2],
        normalized=hp.normalized(estimate, largest),
        cross_edges=CrossEdgeCount(cross.count, np.stack([low, high], axis=-1), cross.forced, options.n_trees),
        p_value=cross.p_value(),
        tie_range=np.stack([np.min(by_draw, axis=0), np.max(by_draw, axis=0)], axis=-1),
    )
