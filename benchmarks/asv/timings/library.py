"""Calls in a process that has done the same before."""

import numpy as np
from sklearn.datasets import load_digits, load_wine

import bayesfloor

# As many as the machine of the history is sure to have.
THREADS = 2


def mixture(n_rows, n_columns):
    """Draw from ten unit Gaussians whose centres are uniform in a cube."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, n_rows)
    return rng.uniform(-3, 3, (10, n_columns))[labels] + rng.standard_normal((n_rows, n_columns)), labels


class Forests:
    """The first three spanning trees of 10 000 points."""

    params = (2, 50)
    param_names = ("columns",)

    def setup(self, columns):
        """Draw points, and compile."""
        self.X, _ = mixture(10_000, columns)
        self.time_forests(columns)

    def time_forests(self, columns):
        bayesfloor.spanning_forests(self.X, n_jobs=THREADS)


class Pairs:
    """The same for all pairs of ten classes and the whole, in 20 columns."""

    def setup(self):
        """Draw points, and compile."""
        self.rows = mixture(10_000, 20)
        self.time_pairs_of_ten_classes()

    def time_pairs_of_ten_classes(self):
        bayesfloor.class_forests(*self.rows, n_jobs=THREADS)


class Floors:
    """The floor from spanning trees with all pairs and classes, the learned floor, and a whole report."""

    timeout = 600

    def setup(self):
        """Take rows of the digits, and compile."""
        X, y = load_digits(return_X_y=True)
        self.digits = X[:600], y[:600]
        self.wine = load_wine(return_X_y=True)
        self.time_floor_of_trees()
        bayesfloor.difficulty_report(*self.wine)

    def time_floor_of_trees(self):
        bayesfloor.BayesErrorEstimator(n_jobs=THREADS).fit(*self.digits)

    def time_learned_floor(self):
        bayesfloor.learned_floor(*self.digits, n_jobs=THREADS)

    def time_report_on_wine(self):
        bayesfloor.difficulty_report(*self.wine, n_jobs=THREADS)


class Classifiers:
    """Training on 5000 rows of ten classes in 20 columns."""

    def setup(self):
        """Draw points, and compile."""
        self.rows = mixture(5000, 20)
        self.time_landmark_classifier()
        self.time_smart_svc()

    def time_landmark_classifier(self):
        bayesfloor.LandmarkClassifier().fit(*self.rows)

    def time_smart_svc(self):
        bayesfloor.SmartSVC().fit(*self.rows)
