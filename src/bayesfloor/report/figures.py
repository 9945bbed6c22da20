"""Everything that a report is about, computed once: records of the other rooms, side by side.

What a report reads from the learned floors of classes and of numbers alike goes through `Figures`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.class_means import nearness_of_means
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import stratified_rows
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.gap import comparable, gap_of
from bayesfloor.floor.learned.gap_result import FloorGap
from bayesfloor.floor.learned.held_out import HeldOut
from bayesfloor.floor.learned.model_predictions import Compared
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.learned.row_plan import rows_by_default
from bayesfloor.floor.learned.rules import ERR_ALIKE
from bayesfloor.floor.learned.trust.checks import Checked, as_share, learn_with_checks, single_columns
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.floor.trees.assembly import count_cross_edges, pairwise_result
from bayesfloor.floor.trees.problem import Options, Progress
from bayesfloor.floor.trees.results import PairwiseBayesError
from bayesfloor.report.confusions import Confusions, confusions_of
from bayesfloor.report.fast_model import FastModel, try_fast_model
from bayesfloor.report.ordered_classes import find_ordered_classes
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.progress import Stages
from bayesfloor.runtime.settings import limits
from bayesfloor.tree import ClassTree, build_class_tree

#: Columns that a reader is asked to think about.
MOST_TELLING = 5
#: Classes of the heat map and of the class tree, at the most: with more, neither can be read.
MOST_CLASSES_DRAWN = 40
#: How long parts of the work take, of which a training of all models is the unit.
_GROWING, _TRAINING, _FAST_MODEL = 0.1, 1.0, 0.2


@dataclass(frozen=True, eq=False)
class Figures:
    """What was computed on classes and on numbers alike.

    Attributes
    ----------
    checked : Checked
        The learned floor as it was asked for and the honest one, of which all figures speak.
    columns : ColumnFloors
        How much each column tells by itself.
    gap : FloorGap or None
        A model of the caller's beside the floor; None where there is none.
    telling : tuple of str
        The columns that tell most by themselves, the most first.
    """

    checked: Checked[Any]
    columns: ColumnFloors
    gap: FloorGap | None
    telling: tuple[str, ...]

    @property
    def learned(self) -> Any:
        """The honest floor."""
        return self.checked.honest.floor

    @property
    def dependence(self) -> tuple[Finding, ...]:
        """Rows that belong together, or an order of time, where nobody said so."""
        return self.checked.dependence

    @property
    def metrics(self) -> dict[str, MetricFloor]:
        """What is known of each metric, the first one first: R² as a share of the variance, in percent.

        What was reached is what the best model of the report reached, and no floor is above that.
        """
        found = as_shares(self.learned.metrics)
        for _, values in self._others():
            found = {name: _with_model(each, values.get(name, each.reached)) for name, each in found.items()}
        return found

    @property
    def reached_by(self) -> str | None:
        """The model that reached most by the first metric; None for the stack."""
        if self.headline.reached == self.learned.reached:
            return None
        first = self.learned.metric
        return next(name for name, values in self._others() if values.get(first) == self.headline.reached)

    def _others(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        """Yield the models that were trained and tested on the same rows as the stack, with what each reached."""
        if self.gap is not None and self.gap.origin == "cross-fitted" and not self._are_leaks:
            yield "yours", {self.gap.metric: self.gap.value}

    @property
    def _are_leaks(self) -> bool:
        """Whether a model of the caller's had columns that the stack had not."""
        return bool(self.checked.leaks)

    @property
    def headline(self) -> MetricFloor:
        """What is known of the first metric that was asked for."""
        return self.metrics[self.learned.metric]

    @property
    def weights(self) -> dict[str, float]:
        """How much each learner weighs in the stack, the most first."""
        return {name: float(weight) for name, weight in sorted(self.learned.weights.items(), key=lambda each: -each[1])}

    @property
    def err_alike(self) -> bool:
        """Whether rows next to each other err alike, so that a better model could win something."""
        return bool(self.learned.residual_z > ERR_ALIKE)


@dataclass(frozen=True, eq=False)
class NumberFigures(Figures):
    """What was computed on a target of numbers.

    Attributes
    ----------
    of_own_model : mapping of str to float
        What a model of the caller's, trained on the folds of the stack, reaches by each metric; empty where there is
        none.
    """

    of_own_model: Mapping[str, float]

    @property
    def metrics(self) -> dict[str, MetricFloor]:
        """The same; no ceiling is below what a column explains by itself."""
        found = super().metrics
        if not len(self.columns.removed) or not self.checked.are_alike:
            return found
        best = int(self.columns.removed.argmax())
        surely, about = float(self.columns.interval[best, 0]), float(self.columns.removed[best])
        r2 = found["r2"]
        return {name: _with_ceiling(each, r2, surely, about) for name, each in found.items()}

    def _others(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        if self.of_own_model and not self._are_leaks:
            yield "yours", self.of_own_model

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed in the data: first what may make every other figure too good."""
        gap = () if self.gap is None else self.gap.findings
        return (*self.dependence, *self.learned.findings, *gap)


@dataclass(frozen=True, eq=False)
class ClassFigures(Figures):
    """What was computed on classes.

    Attributes
    ----------
    pairs : PairwiseBayesError
        The floor of every two classes, from spanning trees.
    fast_model : FastModel
        What a model that trains fast reaches on the same rows.
    class_tree : ClassTree
        Min-cuts of the normalized floors.
    drawn_tree : ClassTree
        The same of the hardest classes alone, as many as can be drawn.
    order : list of Finding
        That the classes are numbers in an order.
    confusions : Confusions
        What the stack took rows for that it had not seen.
    """

    pairs: PairwiseBayesError
    fast_model: FastModel
    class_tree: ClassTree
    drawn_tree: ClassTree
    order: list[Finding]
    confusions: Confusions

    @property
    def class_order(self) -> NDArray[np.int64]:
        """Codes of the classes, the hardest first: by what models confuse, of equals that of the harder pair."""
        codes = dict.fromkeys(self.pairs.by_hardness().ravel().tolist())
        return self.confusions.classes_by_hardness(np.array(list(codes), dtype=np.int64))

    @property
    def pair_order(self) -> NDArray[np.int64]:
        """Codes of every two classes, in rows, the hardest first."""
        return self.confusions.pairs_by_hardness(self.pairs.by_hardness())

    def _others(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        yield self.fast_model.name, self.fast_model.values
        yield from super()._others()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed in the data: first what may make every other figure too good."""
        learned = self.learned.findings
        known = {finding.code for finding in learned}  # rows that are nearly copies are found by both
        trees = [each for each in self.pairs.findings if each.code not in known]
        gap = () if self.gap is None else self.gap.findings
        return (*self.dependence, *trees, *self.class_tree.findings, *learned, *self.order, *gap)


def as_shares(metrics: Mapping[str, MetricFloor]) -> dict[str, MetricFloor]:
    """Return metrics with R² as a share of the variance, to be written in percent."""
    return {name: as_share(each) for name, each in metrics.items()}


def _with_model(metric: MetricFloor, value: float) -> MetricFloor:
    """Count what another model reached, where that is more, and the stack surely beats what needs no features."""
    low, high = metric.reached_interval
    larger = metric.larger_is_better
    if (value <= metric.reached) if larger else (value >= metric.reached):
        return metric
    if (low <= metric.baseline) if larger else (high >= metric.baseline):
        return metric
    least, most = metric.bounds
    first, last = (float(np.clip(end + value - metric.reached, least, most)) for end in (low, high))
    better = max if larger else min
    estimate = better(metric.estimate, value)
    interval = metric.interval
    ends = (interval[0], max(interval[1], estimate)) if larger else (min(interval[0], estimate), interval[1])
    return replace(metric, reached=value, reached_interval=(first, last), estimate=estimate, interval=ends)


def _with_ceiling(metric: MetricFloor, r2: MetricFloor, surely: float, about: float) -> MetricFloor:
    """Raise the ceiling of R² to what a column surely explains alone, and its range to what it seems to explain.

    Errors follow by the share of the variance that is left.
    """
    if r2.estimate >= surely and r2.interval[1] >= about:
        return metric
    estimate, end = max(r2.estimate, surely), max(r2.interval[1], about, surely)
    if metric.name == "r2":
        return replace(metric, estimate=estimate, interval=(metric.interval[0], end))
    factors = [
        ((1.0 - after) / (1.0 - before)) ** 0.5 if before < 1.0 else 1.0
        for before, after in ((r2.estimate, estimate), (r2.interval[1], end))
    ]
    low = metric.interval[0] * factors[1]
    return replace(metric, estimate=max(metric.estimate * factors[0], low), interval=(low, metric.interval[1]))


def figures_of_classes(
    source: Source,
    options: Options,
    *,
    judged_by: Mapping[str, Any],
    max_rows: int,
    checks: bool = True,
    compared: Compared | None = None,
) -> ClassFigures:
    """Train models, and build the class tree.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        How to grow trees. Models take confidence, threads, seed, progress and the cluster from it.
    judged_by : mapping
        What models are judged by, and how much is trained: `metric`, `costs`, `positive` and `effort` of
        `learned_floor`.
    max_rows : int
        Rows for models, at the most.
    checks : bool, default=True
        Whether what speaks against the figures is looked for.
    compared : Compared or None, default=None
        A model, or predictions, to compare with the floor on the folds of the stack.

    Returns
    -------
    ClassFigures
    """
    problem, stages = source.problem, Stages(options.progress)
    columns = single_columns(source, options)

    def train(of: Problem, n_more: int) -> tuple[LearnedFloor, HeldOut]:
        most = max_rows if of is problem else min(max_rows, rows_by_default(of, limits().report_values))
        rest = n_more * _TRAINING + _FAST_MODEL + _GROWING
        how = _how_to_train(options, stages.begin(_TRAINING, rest))
        return learned_floor_of(of, max_rows=most, **judged_by, **how)

    checked = learn_with_checks(source, problem, options, columns, train, checks=checks)
    held_out = checked.honest.held_out
    fast_model = try_fast_model(held_out, options, stages.begin(_FAST_MODEL, _GROWING))
    shown = problem if checked.without_leaks is None else checked.without_leaks
    growing = replace(options, progress=stages.begin(_GROWING, 0.0))
    pairs, nearness = _floors_of_pairs(shown, growing, source)
    class_tree = build_class_tree(pairs.normalized, problem.classes, tie_weights=nearness)
    figures = ClassFigures(
        checked=checked,
        columns=columns,
        pairs=pairs,
        fast_model=fast_model,
        gap=None if compared is None else gap_of(comparable(checked, compared)),
        telling=_most_telling(source, columns),
        class_tree=class_tree,
        drawn_tree=class_tree,
        order=find_ordered_classes(problem.classes, pairs.normalized, source.target),
        confusions=confusions_of(held_out, options.confidence),
    )
    stages.finish()
    return replace(figures, drawn_tree=_tree_of_hardest(figures, nearness))


def _floors_of_pairs(problem: Problem, options: Options, source: Source) -> tuple[PairwiseBayesError, Floats]:
    """Return the floors that the class tree is built from, and how near the means of the classes are."""
    if len(problem.X) > limits().tree_rows:
        rows = np.sort(stratified_rows(problem.codes, limits().tree_rows, source.keys(options.random_state)))
        problem = problem.take(rows)
    counted = count_cross_edges(problem, options, pairs=True)
    return pairwise_result(counted, problem, options, normalize=True), nearness_of_means(problem.X, problem.codes)


def figures_of_numbers(
    source: Source,
    options: Options,
    *,
    judged_by: Mapping[str, Any],
    max_rows: int | None,
    checks: bool = True,
    compared: Compared | None = None,
) -> NumberFigures:
    """Train models, and compare rows along each column.

    Parameters are those of `figures_of_classes`; `judged_by` holds `metric` and `effort` of `regression_floor`.
    """
    stages = Stages(options.progress)
    columns = single_columns(source, options)

    def train(of: Problem, n_more: int) -> tuple[RegressionFloor, HeldOut]:
        how = _how_to_train(options, stages.begin(_TRAINING, n_more * _TRAINING))
        return regression_floor_of(of, max_rows=max_rows, **judged_by, **how)

    checked = learn_with_checks(source, source.problem, options, columns, train, checks=checks)
    gap, of_own_model = None, {}
    if compared is not None:
        compared_on = comparable(checked, compared)
        floor, held_out, predicted, _ = compared_on
        gap = gap_of(compared_on._replace(learned=replace(floor, metrics=as_shares(floor.metrics))))
        if predicted.origin == "cross-fitted":
            of_own_model = {
                name: each.value(held_out.judge(predicted.values, name, options.confidence).difference.first)
                for name, each in floor.metrics.items()
            }
    figures = NumberFigures(
        checked=checked,
        columns=columns,
        gap=gap,
        telling=_most_telling(source, columns),
        of_own_model=of_own_model,
    )
    stages.finish()
    return figures


def _most_telling(source: Source, columns: ColumnFloors) -> tuple[str, ...]:
    """Name the columns that tell most by themselves, the most first."""
    order = np.argsort(-columns.removed, kind="stable")[:MOST_TELLING]
    return tuple(source.columns[place] for place in order.tolist())


def _how_to_train(options: Options, progress: Progress) -> dict[str, Any]:
    """Return what models take from the options, with a progress of their own."""
    names = ("confidence", "n_jobs", "random_state", "client")
    return {name: getattr(options, name) for name in names} | {"progress": progress}


def _tree_of_hardest(figures: ClassFigures, nearness: Floats) -> ClassTree:
    """Return the tree, or, where it has too many classes to be drawn, one of the hardest of them alone."""
    if len(figures.pairs.classes) <= MOST_CLASSES_DRAWN:
        return figures.class_tree
    hardest = np.sort(figures.class_order[:MOST_CLASSES_DRAWN])
    among = np.ix_(hardest, hardest)
    names = figures.pairs.classes[hardest]
    return build_class_tree(figures.pairs.normalized[among], names, tie_weights=nearness[among])
