"""Floors of sets of columns: of classes by cross edges, of numbers by the noise variance.

A search compares many sets of columns of the same rows. `ClassColumns` and `NumberColumns` choose those rows once, by
their values and the seed, and answer the same three questions: the floor without any column (`start`), a quick figure
for a candidate (`level`) and the full estimate for what was chosen (`floor`).
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtri

from bayesfloor.choose.floor_levels import FloorLevel, criterion_level, level_without_features
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import CHOICE_ROWS, stratified_rows
from bayesfloor.floor.trees.assembly import count_cross_edges, whole_result
from bayesfloor.floor.trees.noise_variance import (
    NoiseFromTrees,
    noise_variance_from_trees,
    quick_noise,
    standard_columns,
)
from bayesfloor.floor.trees.problem import Options
from bayesfloor.floor.trees.results import BayesError
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_max_rows


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """A sample of rows with classes, and the floor to lower: of the whole problem, the mean or the worst pair."""

    sample: Problem
    n_samples: int
    criterion: str
    options: Options

    @classmethod
    def choose(cls, problem: Problem, criterion: str, max_rows: int | None, options: Options) -> Self:
        """Choose rows, with the same share of each class."""
        most = check_max_rows(max_rows, len(problem.classes), CHOICE_ROWS)
        sample = problem.take(stratified_rows(problem.codes, most, problem.keys(options.random_state)))
        return cls(sample, len(problem.X), criterion, options)

    @property
    def start(self) -> FloorLevel:
        """The error of naming the largest class."""
        return level_without_features(self.sample.class_counts, self.criterion)

    def level(self, columns: Ints) -> FloorLevel:
        """Return the floor that the criterion asks for."""
        points = np.ascontiguousarray(self.sample.X[:, columns])
        n_classes = len(self.sample.classes)
        return criterion_level(points, self.sample.codes, n_classes, self.criterion, self.options, self.sample.groups)

    def floor(self, columns: Ints, n_jobs: int | None) -> BayesError:
        """Return the floor of the whole problem."""
        sample, options = self.sample, replace(self.options, n_jobs=n_jobs)
        names = None if sample.feature_names is None else [sample.feature_names[column] for column in columns]
        part = replace(sample, X=np.ascontiguousarray(sample.X[:, columns]), feature_names=names)
        return whole_result(count_cross_edges(part, options, whole=True), part, options)


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """A sample of rows with numbers; columns and target are standardised for the quick figure."""

    sample: Problem
    n_samples: int
    Z: Floats
    target: Floats
    options: Options

    @classmethod
    def choose(cls, problem: Problem, max_rows: int | None, options: Options) -> Self:
        """Choose rows, and put them into an order that depends on their values alone."""
        keys = problem.keys(options.random_state)
        rows = stratified_rows(problem.codes, check_max_rows(max_rows, 1, CHOICE_ROWS), keys)
        sample = problem.take(rows[np.argsort(keys[rows], kind="stable")])
        target = (sample.y - sample.y.mean()) / sample.y.std()
        return cls(sample, len(problem.X), standard_columns(sample.X)[0], target, options)

    @property
    def start(self) -> FloorLevel:
        """The variance of y: without features all of it is noise."""
        return FloorLevel(1.0, 1.0, 1.0, 0.0)

    def level(self, columns: Ints) -> FloorLevel:
        """Return a quick estimate of the noise, as a share of the variance of y."""
        points = np.ascontiguousarray(self.Z[:, columns])
        noise, error = quick_noise(points, self.target, self.sample.groups, self.options)
        z = float(ndtri(0.5 + 0.5 * self.options.confidence))
        wide = np.exp(z * error / noise) if noise > 0 else 1.0
        return FloorLevel(noise, noise / wide, noise * wide, error)

    def floor(self, columns: Ints, n_jobs: int | None) -> NoiseFromTrees:
        """Return the noise variance."""
        return noise_variance_from_trees(
            np.ascontiguousarray(self.sample.X[:, columns]),
            self.sample.y,
            groups=self.sample.groups,
            n_trees=self.options.n_trees,
            confidence=self.options.confidence,
            n_jobs=n_jobs,
            random_state=self.options.random_state,
        )
