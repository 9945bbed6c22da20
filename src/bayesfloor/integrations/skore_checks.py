"""Checks for the reports of skore, by its public ``Check`` protocol.

All checks of one report share one `difficulty_report`, with the report's own model beside the floor.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.report.difficulty import difficulty_report
from bayesfloor.report.result import DifficultyReport
from bayesfloor.runtime.checks import check_float
from bayesfloor.runtime.frames import as_narwhals
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.text import exact_percent, label_text, listed
from bayesfloor.tables.arguments import needs_preparing
from bayesfloor.tables.frames import is_eager_frame

#: Rows of the smaller class of a pair below which nothing is said of whether it can be told from the other.
FEWEST_OF_A_PAIR = 20
#: Level of both tests that two classes have to pass to be the same.
LEVEL = 0.05
#: Rows and pairs that are named, at the most.
_MOST_NAMED = 10


def floor_checks(
    *,
    target_value: float | None = None,
    groups: Any = None,
    time: Any = None,
    max_rows: int | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> list["FloorCheck"]:
    """Return checks of a classifier against the floor, for ``report.checks.add``.

    =============  ==========  ==========================================================================
    code           severity    what it finds
    =============  ==========  ==========================================================================
    BF-GAP         issue       the model errs on more rows than a stack of learners does, surely
    BF-TARGET      issue       the error that is hoped for is below the range of the floor
    BF-LABELS      tip         rows whose neighbours all say that they belong to another class
    BF-CLASSES     tip         two classes that nothing tells apart
    =============  ==========  ==========================================================================

    They are for reports of one estimator and of cross-validation. Clones of the estimator are fitted on the folds of
    the stack, so that both are trained on the same rows. All rows of a report are used, those for training and for
    tests; of a report without training rows, the estimator is asked as it is. The report's own estimator is never
    changed, and gets rows as they are; for the floor, numbers are scaled to mean 0 and standard deviation 1.

    Parameters
    ----------
    target_value : float or None, default=None
        The error that is hoped for; without it BF-TARGET does not apply.
    groups, time : array-like of shape (n_samples,) or str, default=None
        Rows that belong together, and when each was seen, as for ``learned_floor``: arrays in the order of the rows,
        those for training first, or names of columns.
    max_rows : int or None, default=None
        Rows to use at the most, as for ``difficulty_report``.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of everything.

    Returns
    -------
    list of FloorCheck
    """
    if target_value is not None:
        target_value = check_float("target_value", target_value, "[0, 1]")
    check_n_jobs(n_jobs)
    rows = {"groups": groups, "time": time, "max_rows": max_rows}
    shared = _Shared({"target_value": target_value, **rows, "n_jobs": n_jobs, "random_state": random_state})
    return [
        FloorCheck("BF-GAP", "Errors that a model can avoid", "issue", _gap, shared),
        FloorCheck("BF-TARGET", "Target value beyond the floor", "issue", _target, shared),
        FloorCheck("BF-LABELS", "Rows whose labels look wrong", "tip", _labels, shared),
        FloorCheck("BF-CLASSES", "Classes that cannot be told apart", "tip", _classes, shared),
    ]


@dataclass
class FloorCheck:
    """A check as skore's ``Check`` protocol describes it.

    Attributes
    ----------
    code, title : str
        What it is called.
    severity : {"issue", "tip"}
        Whether a finding is to be mended, or to be kept in mind.
    report_types : list of str
        Reports that it applies to.
    docs_url : None
        The explanation says it all.
    slow : bool
        Models are trained: it is left out in skore's fast mode.
    """

    code: str
    title: str
    severity: Literal["issue", "tip"]
    _find: Any = field(repr=False)
    _shared: "_Shared" = field(repr=False)
    report_types: list[str] = field(default_factory=lambda: ["estimator", "cross-validation"])
    docs_url: str | None = None
    slow: bool = True

    def check_function(self, report: Any) -> str | None:
        """Return what was found, or None.

        Parameters
        ----------
        report : EstimatorReport or CrossValidationReport
            A report of skore.

        Returns
        -------
        str or None

        Raises
        ------
        CheckNotApplicable
            Where the report is not on classes, or the rows cannot be taken.
        """
        found: str | None = self._find(*self._shared.of(report))
        return found


@dataclass(frozen=True)
class _Rows:
    """The rows of a report of skore, and how many of them the model was trained on."""

    X: Any
    y: Any
    n_train: int | None
    model: Any = None
    predictions: Any = None
    prepare: Any = "auto"

    def name(self, row: int) -> str:
        if self.n_train is None:
            return str(row)
        return f"{row} of the training rows" if row < self.n_train else f"{row - self.n_train} of the test rows"


class _Shared:
    """One report on the rows of each report of skore, for all checks."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._known: WeakKeyDictionary[Any, tuple[DifficultyReport, _Rows]] = WeakKeyDictionary()

    def of(self, report: Any) -> tuple[DifficultyReport, _Rows]:
        if report not in self._known:
            rows = _rows_of(report)
            asked = {"prepare": rows.prepare, "model": rows.model, "predictions": rows.predictions}
            try:
                found = difficulty_report(rows.X, rows.y, task="classification", **asked, **self._options)
            except ValueError as error:
                raise _not_applicable(f"The floor of these rows cannot be told: {error}") from error
            assert isinstance(found, DifficultyReport)
            self._known[report] = found, rows
        return self._known[report]


def _not_applicable(reason: str) -> Exception:
    from skore import CheckNotApplicable

    made: Exception = CheckNotApplicable(reason)
    return made


def _rows_of(report: Any) -> _Rows:
    if "classification" not in report.ml_task:
        raise _not_applicable(f"The floor is of classes, and the task is {report.ml_task}.")
    if hasattr(report, "split_indices"):
        X, y, n_train = report.X, report.y, None
    elif report.X_train is None or report.y_train is None:
        X, y, n_train = report.X_test, report.y_test, 0
    else:
        X, n_train = _stacked(report.X_train, report.X_test), len(report.y_train)
        y = _stacked(np.ravel(report.y_train), np.ravel(report.y_test))
    if X is None or y is None:
        raise _not_applicable("The report has no X and y of its own.")
    rows = _scaled(X, np.ravel(y), n_train, report.estimator_)
    if n_train == 0:  # whoever trained it has the rows for that
        return replace(rows, model=None, predictions=report.estimator_.predict(X))
    return rows


def _scaled(X: Any, y: Any, n_train: int | None, estimator: Any) -> _Rows:
    """Have numbers scaled for the floor, which rests on distances; the model gets them as they are."""
    from scipy import sparse
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    model = clone(estimator)
    if sparse.issparse(X):
        return _Rows(X, y, n_train, model)
    if not is_eager_frame(X):
        import polars

        points = np.asarray(X)
        X = polars.DataFrame({f"x{j}": points[:, j] for j in range(points.shape[1])})
        model = make_pipeline(FunctionTransformer(np.asarray), model)
    return _Rows(X, y, n_train, model, prepare="auto" if needs_preparing(X) else StandardScaler())


def _stacked(first: Any, second: Any) -> Any:
    """Put the rows of two frames, sparse matrices or arrays below each other."""
    if is_eager_frame(first):
        import narwhals

        frames = [as_narwhals(each) for each in (first, second)]
        return narwhals.concat(frames).to_native()
    from scipy import sparse

    if sparse.issparse(first):
        return sparse.vstack([first, second])
    return np.concatenate([np.asarray(first), np.asarray(second)])


def _gap(found: DifficultyReport, rows: _Rows) -> str | None:
    gap = found.gap
    assert gap is not None
    return gap.sentence() if gap.is_sure and gap.sure_gap > 0.0 else None


def _target(found: DifficultyReport, rows: _Rows) -> str | None:
    goal = found.summary["goal"]
    if goal is None:
        raise _not_applicable("No target_value was given to floor_checks.")
    if goal["verdict"] != "not feasible":
        return None
    return f"An error of {exact_percent(goal['target'])} is out of reach. {goal['sentence']}"


def _labels(found: DifficultyReport, rows: _Rows) -> str | None:
    suspects = found.summary["suspects"]["rows"]
    if not suspects:
        return None
    named = [
        f"row {rows.name(each['row'])} ({label_text(each['label'])}, looks like {label_text(each['looks_like'])})"
        for each in suspects
    ]
    what = "1 row is" if len(suspects) == 1 else f"{len(suspects)} rows are"
    return (
        f"{what} labelled as models that had not seen them find hard to believe: {listed(named, _MOST_NAMED)}. Look at "
        "these labels first; rows are counted from 0."
    )


def _classes(found: DifficultyReport, rows: _Rows) -> str | None:
    from scipy.stats import binomtest

    pairs, learned = found.pairs, found.learned
    assert pairs is not None
    assert isinstance(learned, LearnedFloor)
    same = []
    for a, b in pairs.by_hardness():
        n_first, n_second = int(pairs.class_counts[a]), int(pairs.class_counts[b])
        fewer, n = min(n_first, n_second), n_first + n_second
        if fewer < FEWEST_OF_A_PAIR or pairs.p_value[a, b] <= LEVEL:
            continue
        n_wrong = min(round(float(learned.pair_reached[a, b]) * n), n)
        if binomtest(n_wrong, n, fewer / n, alternative="less").pvalue > LEVEL:
            same.append(f"{label_text(pairs.classes[a])} and {label_text(pairs.classes[b])}")
    if not same:
        return None
    return (
        f"Neither neighbours nor models tell these classes apart: {listed(same, _MOST_NAMED)}. Merge them, or add "
        "columns in which they differ."
    )
