"""The command warmup, and compilation beside other work.

Kernels are compiled on their first call. To compile one, call it: each part below does what calls some of them, on a
few rows. A process compiles one kernel at a time; so there are several, each with a part.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import bayesfloor as bf
from bayesfloor.cli.options import Count
from bayesfloor.cli.output import say

if TYPE_CHECKING:
    from bayesfloor.runtime.arrays import Floats, Ints


#: The part that is compiled beside a report.
BESIDE = "boosting"


def warmup(*parts: str, jobs: Count = None, quiet: bool = False) -> int:
    """Compile all kernels, so that no later call has to.

    They are kept on disk, for this version on this machine: in a Dockerfile, run
    'python -m bayesfloor warmup' after the installation. NUMBA_CACHE_DIR names
    another folder. A second call finds them all and takes seconds.

    Parameters
    ----------
    parts
        What to compile; everything by default.
    jobs
        Processes at the same time; as many as there are cores by default.
    quiet
        Say nothing; errors remain.

    Examples
    --------
    bayesfloor warmup
    bayesfloor warmup --jobs 1
    """
    from bayesfloor.cli.exits import UsageError
    from bayesfloor.runtime.kernel_cache import cache_folder
    from bayesfloor.runtime.limits import check_n_jobs

    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise UsageError(f"there is no part {', '.join(unknown)}: parts are {', '.join(PARTS)}")
    if len(parts) == 1:
        compile_part(parts[0])
        return 0
    folder = cache_folder()
    if folder is None:
        say("bayesfloor: kernels cannot be kept here, so that there is nothing to warm up", quiet=quiet)
        return 4
    started = time.monotonic()
    wanted = parts or tuple(PARTS)
    say(f"bayesfloor: compiling kernels into {str(folder)!r}", quiet=quiet)

    def run(part: str) -> int:
        start = time.monotonic()
        code = subprocess.run(_command(part), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
        say(f"  {part}: {'done' if code == 0 else 'failed'}, {time.monotonic() - start:.0f} s", quiet=quiet)
        return code

    with ThreadPoolExecutor(min(check_n_jobs(jobs), len(wanted))) as pool:
        codes = list(pool.map(run, wanted))
    say(f"bayesfloor: all kernels are compiled, {time.monotonic() - started:.0f} s", quiet=quiet or any(codes))
    return max(128 - code if code < 0 else code for code in codes)  # as shells tell of a signal


@contextmanager
def compiling_boosting(wanted: bool = True) -> Iterator[None]:
    """Compile boosting in another process meanwhile, where that is worth it; it ends with the block."""
    from bayesfloor.runtime.kernel_cache import cache_folder
    from bayesfloor.runtime.limits import check_n_jobs

    process = None
    if wanted and check_n_jobs(None) > 1 and cache_folder() is not None and not _boosting_is_compiled():
        nowhere: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        with suppress(OSError):  # no more processes: what is missing is compiled here
            process = subprocess.Popen(_command(BESIDE), **nowhere)
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def _boosting_is_compiled() -> bool:
    from bayesfloor.learn.boosting_kernels import boost
    from bayesfloor.runtime.kernels import is_compiled

    return is_compiled(boost)


def _command(part: str) -> list[str]:
    return [sys.executable, "-m", "bayesfloor", "warmup", part]


def compile_part(part: str) -> None:
    """Call what compiles the kernels of a part."""
    from bayesfloor.runtime import kernels

    # beside a report, nothing is compiled that a small table runs plain; other parts compile it
    with nullcontext() if part == BESIDE else kernels.plainly(False):
        PARTS[part]()


def _sample(n_rows: int, n_features: int, n_classes: int = 3) -> tuple["Floats", "Ints"]:
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    return rng.standard_normal((n_rows, n_features)) + y[:, None], y


def _boosting() -> None:
    import numpy as np

    from bayesfloor.learn.learner import Rows, fit_predict
    from bayesfloor.learn.registry import CLASS_LEARNERS
    from bayesfloor.learn.training_rows import Train

    X, y = _sample(90, 4)
    fit_predict(CLASS_LEARNERS["boosting"], Train(X, y, 3), None, 0, Rows(X[:10]))
    # after boosting, which a report needs first
    from bayesfloor.learn.landmarks.efforts import EFFORTS
    from bayesfloor.learn.landmarks.fitting import fit_model, order_rows
    from bayesfloor.runtime.threads import WorkerPool

    rows = order_rows(X, y, np.ones(len(y)), 0, None, EFFORTS["default"])
    fit_model(rows, 3, EFFORTS["default"], 0, WorkerPool(1))


def _learners() -> None:
    from bayesfloor.learn.learner import Rows, fit_predict
    from bayesfloor.learn.registry import CLASS_LEARNERS
    from bayesfloor.learn.training_rows import Train

    X, y = _sample(90, 5)
    for name, learner in CLASS_LEARNERS.items():
        if name != "boosting":
            fit_predict(learner, Train(X, y, 3), None, 0, Rows(X[:10]))
    bf.learned_floor(X, y, n_jobs=1)


def _many_rows() -> None:
    from bayesfloor.learn.boosting_by_parts import MANY_ROWS
    from bayesfloor.learn.learner import Look, Rows, fit_predict
    from bayesfloor.learn.registry import MANY_ROWS_LEARNERS, suited
    from bayesfloor.learn.training_rows import Train

    X, y = _sample(3000, 4)
    for learner in suited(MANY_ROWS_LEARNERS, Look(X, n_rows=MANY_ROWS)).values():
        fit_predict(learner, Train(X, y, 3), None, 0, Rows(X[:10]))


def _numbers() -> None:

    X, _ = _sample(150, 5)
    bf.regression_floor(X, X[:, 0] + X[:, 1] * X[:, 2], n_jobs=1)


def _forests() -> None:
    import numpy as np

    from bayesfloor.forest import plan
    from bayesfloor.forest.order.kruskal_kernels import component_labels
    from bayesfloor.forest.order.points import rank_points
    from bayesfloor.forest.sweep.grow import near_each
    from bayesfloor.forest.sweep.seed_kernels import chain_edges
    from bayesfloor.forest.sweep.tiling import choose_axes, tile_points
    from bayesfloor.runtime.threads import WorkerPool

    for n_features in (3, 4):  # kernels are compiled for each of two, three and four axes
        bf.spanning_forests(_sample(700, n_features)[0], n_jobs=2)
    for n_features, projection in ((2, "none"), (8, "none"), (30, "auto"), (40, "pca")):
        X, _ = _sample(700, n_features)
        forests = bf.spanning_forests(X, n_jobs=1)
        forests.to_linkage()
        with plan.override(projection=projection, survivors_per_point=0.01):
            bf.spanning_forests(X, n_jobs=1)
    bf.spanning_forests([*X[:100], *X[:100]])
    # tiles that hold parts of several regions are rare, and so is what near neighbours and a sample leave apart
    points = rank_points(X)
    axes = choose_axes(points, "auto")
    near_each(tile_points(points, points.order, axes, WorkerPool(1)), np.arange(9), 8, axes)
    u = np.arange(9, dtype=np.int32)
    chain_edges(component_labels(12, u, u + np.int32(1)), 10)


def _pairs_of_classes() -> None:

    for n_features in (3, 30, 120):
        X, y = _sample(600, n_features)
        forests = bf.class_forests(X, y, n_jobs=1)
        forests.pair(0, 1)
    X, y = _sample(60, 3)
    X[1] = X[0]
    bf.BayesErrorEstimator(n_jobs=1).fit(X, y)
    bf.BayesErrorEstimator(n_jobs=1).fit(X.round(), y, groups=y[::-1])


def _landmarks() -> None:
    X, y = _sample(1500, 5)
    for effort in ("fast", "default"):
        model = bf.LandmarkClassifier(effort, n_jobs=1).fit(X, y)
        model.predict(X[:10])
    bf.LandmarkRegressor(n_jobs=1).fit(X, X[:, 0]).predict(X[:10])
    X, y = _sample(1600, 5, 160)
    bf.LandmarkClassifier(n_jobs=1).fit(X, y)


def _machines() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = _sample(90, 4)
    models = (
        bf.SmartSVC(n_jobs=1),
        bf.OneVsOneSVC(n_jobs=1),
        bf.OneVsOneSVC(n_jobs=1, decision="dag"),
        bf.HierarchicalClassifier(LogisticRegression()),
    )
    for model in models:
        model.fit(X, y).predict(X)


def _class_trees() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    for n_classes in (6, 20):
        weights = rng.random((n_classes, n_classes))
        weights += weights.T
        np.fill_diagonal(weights, 0.0)
        bf.build_class_tree(weights)
        bf.build_class_tree(weights * (weights > 1.2))


#: What to call, by the name of a part: those that take longest first.
PARTS: dict[str, Callable[[], None]] = {
    "pairs": _pairs_of_classes,
    "forests": _forests,
    "learners": _learners,
    "numbers": _numbers,
    "machines": _machines,
    "landmarks": _landmarks,
    "boosting": _boosting,
    "many-rows": _many_rows,
    "trees": _class_trees,
}
