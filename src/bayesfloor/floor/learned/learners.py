"""Fast, different learners: rows with labels in, probabilities of the classes for other rows out.

Learners that share work form a group. A group is a function ``(train, test, seed) -> {name: probability}``; no group is
good everywhere, and the stack (`bayesfloor.floor.learned.stacking`) finds out which are good here::

    gaussian    prior, Ledoit-Wolf LDA, shrunken QDA, Gaussian naive Bayes
    clusters    discriminants of 4 and 12 clusters in each class
    marginals   histogram naive Bayes, LDA of normal scores
    logistic    multinomial logistic regression
    neighbours  k = 5, 15, 50 and RBF kernel ridge regression of 32, from one search
    kernels     Nystroem ridge regression with an RBF kernel of three widths
    unit        these and neighbours, where columns keep a unit that they share, as pixels do
    trees       extremely randomised trees; neighbours and kernel ridge in a space scaled by their importances
    boosting    boosted trees
    pairs       the pairs of features that say more together than apart: tables, trees, kernel ridge
    triples     the same for triples: tables, trees
    nominal     values as names: naive Bayes, logistic regression, randomised trees of the classes' shares in each
    network     a small network, where columns are 0 or 1

Five of them have something to say on some data only; `groups_for` tells where.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.floor.learned.gaussian_learners import N_CLUSTERS, clusters, gaussian
from bayesfloor.floor.learned.gradient_learners import is_mostly_binary, logistic, network
from bayesfloor.floor.learned.interaction_learners import pairs, triples
from bayesfloor.floor.learned.local_learners import (
    N_NEIGHBORS,
    NARROW,
    WIDE,
    kernels,
    neighbours,
    share_a_unit,
    trees,
    unit,
)
from bayesfloor.floor.learned.marginal_learners import is_nominal, marginals, nominal
from bayesfloor.floor.learned.table_learners import boosting
from bayesfloor.floor.learned.training_rows import Train, as_given
from bayesfloor.runtime.arrays import Floats

Group = Callable[[Train, Floats, int], dict[str, Floats]]

#: The learners of each group, by the names that appear in results.
NAMES: dict[str, tuple[str, ...]] = {
    "gaussian": ("prior", "LDA", "QDA", "Gaussian naive Bayes"),
    "clusters": tuple(f"{n_clusters} clusters" for n_clusters in N_CLUSTERS),
    "marginals": ("histogram naive Bayes", "LDA of ranks"),
    "logistic": ("logistic",),
    "neighbours": (*(f"{k} neighbours" for k in N_NEIGHBORS), "local ridge"),
    "kernels": tuple(f"kernel ridge {width}" for width in (*NARROW, WIDE)),
    "unit": ("kernel ridge, one unit", "5 neighbours, one unit", "local ridge, one unit"),
    "trees": ("trees", "deep trees", "15 neighbours, scaled", "local ridge, scaled", "kernel ridge, scaled"),
    "boosting": ("boosting",),
    "pairs": ("pair tables", "pair trees", "pair kernel"),
    "triples": ("triple tables", "triple trees"),
    "nominal": ("value naive Bayes", "value logistic", "trees of shares"),
    "network": ("network",),
}

GROUPS: dict[str, Group] = {
    "gaussian": gaussian,
    "clusters": clusters,
    "marginals": marginals,
    "logistic": logistic,
    "neighbours": neighbours,
    "kernels": kernels,
    "unit": unit,
    "trees": trees,
    "boosting": boosting,
    "pairs": pairs,
    "triples": triples,
    "nominal": nominal,
    "network": network,
}

#: Groups that have something to say on some data only.
_CONDITIONAL = ("unit", "pairs", "triples", "nominal", "network")


def groups_for(
    X: Floats, tabular: TabularView | None = None, supervised: SupervisedFeatures | None = None
) -> dict[str, Group]:
    """Return the groups that have something to say about rows, whatever their labels.

    A unit has to be shared. Pairs want three columns that vary, triples four. Nominal learners want a table, or a
    column of few values. The network wants columns of two values. Nothing of this is known of features that every
    training set makes for itself.
    """
    if supervised is not None:
        return {name: group for name, group in GROUPS.items() if name not in _CONDITIONAL}
    n_columns = int((X.min(axis=0) < X.max(axis=0)).sum())
    wanted = {
        "unit": tabular is None and share_a_unit(X),
        "pairs": n_columns >= 3,
        "triples": n_columns >= 4,
        "nominal": tabular is not None or bool(is_nominal(X).any()),
        "network": is_mostly_binary(X),
    }
    return {name: group for name, group in GROUPS.items() if wanted.get(name, True)}


def group_of(name: str, estimator: Any) -> Group:
    """Make a group of one of a scikit-learn classifier with ``predict_proba``."""

    def learn(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
        from sklearn.base import clone  # takes a second to load, and only learners of a caller need it

        fitted = clone(estimator)
        if fitted.get_params(deep=False).get("random_state", 0) is None:
            fitted.set_params(random_state=seed % 2**32)
        # which may change its rows, as StandardScaler(copy=False) does
        fitted.fit(as_given(train.X, train.given_columns), train.codes)
        probability = np.zeros((len(test), train.n_classes))
        probability[:, fitted.classes_] = fitted.predict_proba(as_given(test, train.given_columns))
        return {name: probability}

    return learn
