"""The learners of the library: to add one, write its module and name it here.

No learner is good everywhere, and the stack (`bayesfloor.floor.learned.stacking`) finds out which are good here. Some
have something to say on some data only: `Learner.suited` tells where. With many rows each learner of numbers bounds its
own work; classes have learners of their own whose cost grows no faster than the rows, up to a logarithm.
"""

from typing import Any

import numpy as np

from bayesfloor.learn.additive import Additive, Linear
from bayesfloor.learn.boosting import Boosting
from bayesfloor.learn.boosting_by_parts import BoostingOfParts
from bayesfloor.learn.discriminants import Clusters, Gaussians, Logistic
from bayesfloor.learn.interactions import Pairs, Triples
from bayesfloor.learn.learner import Fitted, Learner, Look, Output, Rows
from bayesfloor.learn.linear_cost import NETWORK_ROWS, DeepTrees, LandmarksOfMany, Simple, UnitOfMany
from bayesfloor.learn.local_families import Gradients, Kernels, Neighbours, Trees, Unit
from bayesfloor.learn.marginals import Marginals, Nominal
from bayesfloor.learn.network import Network
from bayesfloor.learn.records import record
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.settings import limits


def _by_name(*learners: Learner) -> dict[str, Learner]:
    return {learner.name: learner for learner in learners}


#: Learners of classes.
CLASS_LEARNERS = _by_name(
    Gaussians(),
    Clusters(),
    Marginals(),
    Logistic(),
    Neighbours(of_classes=True),
    Kernels(of_classes=True),
    Unit(of_classes=True),
    Trees(of_classes=True),
    Boosting(),
    Pairs(),
    Triples(),
    Nominal(),
    Network(),
)

#: Learners of numbers.
NUMBER_LEARNERS = _by_name(
    Linear(),
    Additive(),
    Neighbours(of_classes=False),
    Kernels(of_classes=False),
    Gradients(),
    Trees(of_classes=False),
    Boosting(),
    Unit(of_classes=False),
    BoostingOfParts(),
)

#: Learners of classes where rows are many.
MANY_ROWS_LEARNERS = _by_name(
    Simple(),
    DeepTrees(),
    UnitOfMany(),
    LandmarksOfMany(),
    Boosting(),
    BoostingOfParts(),
    Network(most_seen=NETWORK_ROWS),
)


_OUTPUTS = {
    output.name: output
    for learners in (CLASS_LEARNERS, NUMBER_LEARNERS, MANY_ROWS_LEARNERS)
    for learner in learners.values()
    for output in learner.outputs
}


def output_of(name: str) -> Output:
    """Return what is known of an output by its name; of a caller's learner, nothing."""
    return _OUTPUTS.get(name, Output(name))


def suited(learners: dict[str, Learner], look: Look) -> dict[str, Learner]:
    """Return those learners that have something to say about rows, whatever their targets."""
    found = {name: learner.suited(look) for name, learner in learners.items()}
    return {name: learner for name, learner in found.items() if learner is not None}


def allowed(learners: dict[str, Learner]) -> dict[str, Learner]:
    """Return those of the learners that the limits leave."""
    names = limits().learners
    return learners if names is None else {name: learner for name, learner in learners.items() if name in names}


@record
class FittedEstimator(Fitted):
    """An estimator of the caller's."""

    name: str
    estimator: Any
    n_classes: int

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Ask the estimator, which may change the rows."""
        X = rows.X.copy()
        if not self.n_classes:
            return {self.name: np.asarray(self.estimator.predict(X), np.float64).reshape(len(X))}
        probability = np.zeros((len(X), self.n_classes))
        probability[:, self.estimator.classes_] = self.estimator.predict_proba(X)
        return {self.name: probability}


class EstimatorLearner(Learner):
    """A scikit-learn classifier with ``predict_proba``, or a regressor.

    Parameters
    ----------
    name : str
        What results call it.
    estimator : estimator
        Which is cloned, and never fitted itself.
    """

    takes_weights = True

    def __init__(self, name: str, estimator: Any) -> None:
        self.name, self.estimator = name, estimator

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it predicts."""
        return (Output(self.name),)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Fit a clone, with weights where it takes them."""
        from sklearn.base import clone  # takes a second to load, and only learners of a caller need it
        from sklearn.utils.validation import has_fit_parameter

        fitted = clone(self.estimator)
        if fitted.get_params(deep=False).get("random_state", 0) is None:
            fitted.set_params(random_state=seed % 2**32)
        is_weighted = train.weight is not None and has_fit_parameter(fitted, "sample_weight")
        keywords = {"sample_weight": train.weight} if is_weighted else {}
        train = train if is_weighted else train.drawn_by_weight()
        # which may change its rows, as StandardScaler(copy=False) does
        fitted.fit(train.X.copy(), train.y.copy(), **keywords)
        return FittedEstimator(self.name, fitted, train.n_classes)
