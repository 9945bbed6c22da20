"""How low can the error of any classifier go on your data?

The public names are loaded on first use, so that ``import bayesfloor`` costs next to nothing:

==========================  ===========================================================
`bayes_error`               the floor of a whole problem
`pairwise_bayes_error`      the floor of every pair of classes
`one_vs_rest_bayes_error`   the floor of every class against the rest
`henze_penrose_divergence`  how far classes are apart, from the same counts
`BayesErrorEstimator`       all three floors from one pass, as a scikit-learn estimator
`spanning_forests`          the first k edge-disjoint minimum spanning trees of points
`class_forests`             the same for every pair of classes and the whole set at once
==========================  ===========================================================

and the records that they return.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesfloor.floor import (
        BayesError,
        Finding,
        HenzePenroseDivergence,
        OneVsRestBayesError,
        PairwiseBayesError,
        bayes_error,
        henze_penrose_divergence,
        one_vs_rest_bayes_error,
        pairwise_bayes_error,
    )
    from bayesfloor.floor.estimator import BayesErrorEstimator
    from bayesfloor.forest import ClassForests, Forests, class_forests, spanning_forests

    __version__: str

__all__ = [
    "BayesError",
    "BayesErrorEstimator",
    "ClassForests",
    "Finding",
    "Forests",
    "HenzePenroseDivergence",
    "OneVsRestBayesError",
    "PairwiseBayesError",
    "__version__",
    "bayes_error",
    "class_forests",
    "henze_penrose_divergence",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "spanning_forests",
]

_HOME_OF = {
    "BayesError": "bayesfloor.floor",
    "BayesErrorEstimator": "bayesfloor.floor.estimator",
    "ClassForests": "bayesfloor.forest",
    "Finding": "bayesfloor.floor",
    "Forests": "bayesfloor.forest",
    "HenzePenroseDivergence": "bayesfloor.floor",
    "OneVsRestBayesError": "bayesfloor.floor",
    "PairwiseBayesError": "bayesfloor.floor",
    "bayes_error": "bayesfloor.floor",
    "class_forests": "bayesfloor.forest",
    "henze_penrose_divergence": "bayesfloor.floor",
    "one_vs_rest_bayes_error": "bayesfloor.floor",
    "pairwise_bayes_error": "bayesfloor.floor",
    "spanning_forests": "bayesfloor.forest",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("bayesfloor")
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
