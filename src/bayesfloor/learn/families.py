"""Families of fast, different learners: rows with targets in, predictions for other rows out.

Learners that share work form a family. A family is a function ``(train, test, seed) -> {name: prediction}``; no family
is good everywhere, and the stack (`bayesfloor.floor.learned.stacking`) finds out which are good here. A prediction has
a probability for each class, or is a number::

                 classes   numbers
    gaussian        ■                prior, Ledoit-Wolf LDA, shrunken QDA, Gaussian naive Bayes
    clusters        ■                discriminants of 4 and 12 clusters in each class
    marginals       ■                LDA of normal scores
    logistic        ■                multinomial logistic regression
    linear                    ■      the mean, ridge regression, the lasso, ridge regression with squares and products
    additive                  ■      sums of functions of one feature, smooth or rough, of two, of effects of categories
    neighbours      ■         ■      means of 5, 15 and 50 nearest rows; of classes, kernel ridge regression of 32
    kernels         ■         ■      ridge regression on Gaussian kernels of landmarks at three widths
    gradients                 ■      the same in a space scaled, or turned, by the gradients of what was learned before
    unit            ■         ■      kernels and neighbours where columns keep a unit that they share, as pixels do
    trees           ■         ■      extremely randomised trees; neighbours and kernels in a space scaled by importance
    boosting        ■         ■      gradient boosting over histograms; of numbers, of all rows too where they are many
    pairs           ■                the pairs of features that say more together than apart: tables, trees, kernels
    triples         ■                the same for triples: tables, trees
    nominal         ■                values as names: naive Bayes, logistic regression, trees of the shares in each
    network         ■                a small network, where columns are 0 or 1

Some have something to say on some data only; `class_families_for` and `number_families_for` tell where. With many rows
each learner of numbers bounds its own work; classes have the families of `bayesfloor.learn.linear_cost`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.learn.additive import additive, linear
from bayesfloor.learn.boosting import boosting
from bayesfloor.learn.boosting_by_parts import MANY_ROWS, NAME, boosting_of_parts
from bayesfloor.learn.discriminants import N_CLUSTERS, clusters, gaussian, logistic
from bayesfloor.learn.interactions import pairs, triples
from bayesfloor.learn.later import of_rows
from bayesfloor.learn.local_families import (
    N_NEIGHBORS,
    NARROW,
    NUMBER_WIDTHS,
    WIDE,
    gradients,
    kernels,
    neighbours,
    trees,
    unit,
)
from bayesfloor.learn.marginals import is_nominal, marginals, nominal
from bayesfloor.learn.network import is_mostly_binary, network
from bayesfloor.learn.training_rows import Train, share_a_unit
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.settings import limits

Family = Callable[[Train, Floats, int], dict[str, Floats]]

_NEIGHBOURS = tuple(f"{k} neighbours" for k in N_NEIGHBORS)

#: The learners of each family of classes, by the names that appear in results.
CLASS_LEARNERS: dict[str, tuple[str, ...]] = {
    "gaussian": ("prior", "LDA", "QDA", "Gaussian naive Bayes"),
    "clusters": tuple(f"{n_clusters} clusters" for n_clusters in N_CLUSTERS),
    "marginals": ("LDA of ranks",),
    "logistic": ("logistic",),
    "neighbours": (*_NEIGHBOURS, "local ridge"),
    "kernels": tuple(f"kernel ridge {width}" for width in (*NARROW, WIDE)),
    "unit": ("kernel ridge, one unit", "5 neighbours, one unit", "local ridge, one unit"),
    "trees": ("trees", "deep trees", "15 neighbours, scaled", "local ridge, scaled", "kernel ridge, scaled"),
    "boosting": ("boosting",),
    "pairs": ("pair tables", "pair trees", "pair kernel"),
    "triples": ("triple tables", "triple trees"),
    "nominal": ("value naive Bayes", "value logistic", "trees of shares"),
    "network": ("network",),
}

#: The same of numbers.
NUMBER_LEARNERS: dict[str, tuple[str, ...]] = {
    "linear": ("mean", "ridge", "lasso", "quadratic ridge"),
    "additive": ("additive, smooth", "additive, pairs", "additive, rough", "additive, levels"),
    "neighbours": _NEIGHBOURS,
    "kernels": tuple(f"kernel ridge {width}" for width in NUMBER_WIDTHS),
    "gradients": ("kernel ridge, scaled by gradients", "kernel ridge, turned by gradients"),
    "trees": ("trees", "deep trees", "15 neighbours, scaled", "kernel ridge, scaled", "trees of means"),
    "boosting": ("boosting",),
    NAME: (NAME,),
    "unit": ("kernel ridge, one unit", "5 neighbours, one unit"),
}


def of_drawn_rows(family: Family, train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Train learners that take no weights on rows that are drawn by them."""
    return family(train.drawn_by_weight(), test, seed)


#: Families of classes whose learners take weights.
_WEIGHTED = (neighbours, kernels, unit, trees, boosting)

CLASS_FAMILIES: dict[str, Family] = {
    family.__name__: family if family in _WEIGHTED else partial(of_drawn_rows, family)
    for family in (
        gaussian, clusters, marginals, logistic, neighbours, kernels, unit, trees, boosting, pairs, triples, nominal,
        network,
    )
}  # fmt: skip

NUMBER_FAMILIES: dict[str, Family] = {
    family.__name__: family for family in (linear, additive, neighbours, kernels, gradients, trees, boosting, unit)
} | {NAME: boosting_of_parts}

#: Families that see nothing in few rows where they see all in more: what they say of few is not held against them.
SLOW_LEARNING = ("pairs", "triples", "nominal", "network")
#: Families of classes that have something to say on some data only.
_CONDITIONAL = ("unit", "pairs", "triples", "nominal", "network")


def allowed(families: dict[str, Family]) -> dict[str, Family]:
    """Return those of the families that the limits leave."""
    names = limits().learners
    return families if names is None else {name: family for name, family in families.items() if name in names}


def class_families_for(
    X: Floats, tabular: TabularView | None = None, supervised: SupervisedFeatures | None = None
) -> dict[str, Family]:
    """Return the families of classes that have something to say about rows, whatever their labels.

    A unit has to be shared. Pairs want three columns that vary, triples four. Nominal learners want a table, or a
    column of few values. The network wants columns of two values. Nothing of this is known of features that every
    training set makes for itself.
    """
    if supervised is not None:
        return allowed({name: family for name, family in CLASS_FAMILIES.items() if name not in _CONDITIONAL})
    n_columns = int((X.min(axis=0) < X.max(axis=0)).sum())
    wanted = {
        "unit": tabular is None and share_a_unit(X),
        "pairs": n_columns >= 3,
        "triples": n_columns >= 4,
        "nominal": tabular is not None or bool(is_nominal(X).any()),
        "network": is_mostly_binary(X),
    }
    return allowed({name: family for name, family in CLASS_FAMILIES.items() if wanted.get(name, True)})


def number_families_for(
    X: Floats, tabular: TabularView | None = None, supervised: SupervisedFeatures | None = None, n_rows: int = 0
) -> dict[str, Family]:
    """Return the families of numbers that have something to say about rows: a unit has to be shared, rows many."""
    wanted = {"unit": tabular is None and supervised is None and share_a_unit(X), NAME: n_rows >= MANY_ROWS}
    return allowed({name: family for name, family in NUMBER_FAMILIES.items() if wanted.get(name, True)})


def family_of(name: str, estimator: Any) -> Family:
    """Make a family of one of a scikit-learn classifier with ``predict_proba``, or of a regressor."""

    def learn(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
        if not train.wants(name):
            return {}
        from sklearn.base import clone  # takes a second to load, and only learners of a caller need it
        from sklearn.utils.validation import has_fit_parameter

        fitted = clone(estimator)
        if fitted.get_params(deep=False).get("random_state", 0) is None:
            fitted.set_params(random_state=seed % 2**32)
        is_weighted = train.weight is not None and has_fit_parameter(fitted, "sample_weight")
        keywords = {"sample_weight": train.weight} if is_weighted else {}
        train = train if is_weighted else train.drawn_by_weight()
        # which may change its rows, as StandardScaler(copy=False) does
        fitted.fit(train.X.copy(), train.y.copy(), **keywords)
        return {name: _predicted_by(test, fitted, train.n_classes)}

    return learn


@of_rows
def _predicted_by(test: Floats, fitted: Any, n_classes: int) -> Floats:
    """Return what an estimator predicts."""
    rows = test.copy()
    if not n_classes:
        return np.asarray(fitted.predict(rows), np.float64).reshape(len(test))
    probability = np.zeros((len(test), n_classes))
    probability[:, fitted.classes_] = fitted.predict_proba(rows)
    return probability
