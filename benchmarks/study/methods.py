"""A name -> a classifier that tunes itself, and what it tries."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from bayesfloor.classify.landmarks import LandmarkClassifier
from bayesfloor.classify.linear.path_classifiers import LinearSVCCV, OneVsOneSVC, SmartSVC
from benchmarks.study.joint.crammer_singer import CrammerSingerSVC
from benchmarks.study.joint.gensvm_cv import PAPER_GRID, GenSVCCV
from benchmarks.study.plan import LANDMARK_METHODS, Protocol, UnknownNameError, unknown


@dataclass(frozen=True)
class Method:
    """A classifier that can take part in the study.

    Attributes
    ----------
    name : str
        Its name in tables.
    grid : dict
        The values that it tries of each parameter; empty for one that is not tuned.
    settings : dict
        Its other parameters that are not the defaults of its class.
    make : callable
        Makes it, from a seed.
    make_light : callable or None
        Makes one that tries next to nothing, to load compiled kernels with; None for a method that has none.
    """

    name: str
    grid: dict[str, tuple[Any, ...]]
    settings: dict[str, Any]
    make: Callable[[int], Any] = field(repr=False)
    make_light: Callable[[], Any] | None = field(default=None, repr=False)

    @property
    def n_configurations(self) -> int:
        """How many combinations of parameters it tries; 1 for one that is not tuned."""
        product = 1
        for values in self.grid.values():
            product *= len(values)
        return product


#: Methods by the grid over C: class, other parameters.
_BY_C: dict[str, tuple[type, dict[str, Any]]] = {
    "C&S": (CrammerSingerSVC, {}),
    "DAG": (OneVsOneSVC, {"decision": "dag"}),
    "OvO": (OneVsOneSVC, {}),
    "OvR": (LinearSVCCV, {}),
    "SmartSVM": (SmartSVC, {}),
    "SmartSVM+": (SmartSVC, {"tree": "average-linkage", "affinity": "bhattacharyya", "routing": "soft"}),
}

#: What is smaller than in the paper, in words.
SMALLER_GRIDS = {
    "GenSVM19": "GenSVM over λ only, with p = 1, κ = 0 and unit weights",
}

METHOD_NAMES = ("C&S", "DAG", "GenSVM", "GenSVM19", "OvO", "OvR", "SmartSVM", "SmartSVM+", *LANDMARK_METHODS)


def find_method(name: str, protocol: Protocol) -> Method:
    """Return a method by its name.

    Parameters
    ----------
    name : str
        One of `METHOD_NAMES`, or ``module:Class`` for a scikit-learn classifier with its own defaults.
    protocol : Protocol
        Which values and folds it is tuned with.

    Returns
    -------
    Method

    Raises
    ------
    UnknownNameError
        If there is no such method, or if it is no classifier.
    """
    if name in _BY_C:
        return _tuned_by_c(name, protocol)
    if name in ("GenSVM", "GenSVM19"):
        return _gensvm(name, protocol)
    if name in LANDMARK_METHODS:
        return _landmarks(name)
    if ":" in name:
        return _from_module(name)
    raise UnknownNameError(unknown("method", name, METHOD_NAMES) + " Any other classifier is named as module:Class.")


def _tuned_by_c(name: str, protocol: Protocol) -> Method:
    kind, settings = _BY_C[name]

    def make(seed: int) -> Any:
        return kind(Cs=list(protocol.values), cv=protocol.n_folds, n_jobs=1, random_state=seed, **settings)

    def make_light() -> Any:
        return kind(Cs=[0.5, 1.0], cv=2, n_jobs=1, **settings)

    return Method(name, {"C": protocol.values}, settings, make, make_light)


def _gensvm(name: str, protocol: Protocol) -> Method:
    grid: dict[str, tuple[Any, ...]] = {"p": (1.0,), "kappa": (0.0,), "lmd": protocol.values, "weights": ("unit",)}
    if name == "GenSVM" and protocol.gensvm == "paper":
        grid = {**PAPER_GRID, "lmd": protocol.values}
    elif name == "GenSVM":
        grid = {"p": (1.0, 2.0), "kappa": (-0.9, 0.5), "lmd": protocol.values, "weights": ("unit",)}

    def make(seed: int) -> Any:
        return GenSVCCV(grid, cv=protocol.n_folds, n_jobs=1, random_state=seed)

    def make_light() -> Any:
        return GenSVCCV({"p": (1.0, 2.0), "lmd": (1.0, 0.5)}, cv=2, n_jobs=1)

    return Method(name, grid, {}, make, make_light)


def _landmarks(name: str) -> Method:
    """Return a method that chooses its settings by itself, on held-out rows: it has no grid and no folds."""

    def make(seed: int) -> Any:
        return LandmarkClassifier(LANDMARK_METHODS[name], n_jobs=1, random_state=seed)

    return Method(name, {}, {"effort": LANDMARK_METHODS[name]}, make, lambda: make(0))


def _from_module(name: str) -> Method:
    """Import a classifier; whatever else the name leads to is refused."""
    module, _, attribute = name.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise UnknownNameError(f"method {name!r}: write it as 'module:Class', as in 'sklearn.svm:SVC'")
    try:
        kind = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise UnknownNameError(f"method {name!r}: there is no module {error.name!r}") from error
    except AttributeError as error:
        raise UnknownNameError(f"method {name!r}: {module} has no {attribute!r}") from error
    parameters = _parameters_of_classifier(name, kind)

    def make(seed: int) -> Any:
        return kind(random_state=seed) if "random_state" in parameters else kind()

    return Method(name, {}, {}, make)


def _parameters_of_classifier(name: str, kind: Any) -> set[str]:
    from sklearn.base import BaseEstimator, is_classifier

    if not inspect.isclass(kind) or not issubclass(kind, BaseEstimator):
        raise UnknownNameError(f"method {name!r} is not a class of scikit-learn's kind")
    needed = [
        each.name
        for each in list(inspect.signature(kind).parameters.values())
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    if needed:
        raise UnknownNameError(f"method {name!r} cannot be made without {', '.join(map(repr, needed))}")
    estimator: Any = kind()
    if not is_classifier(estimator):
        raise UnknownNameError(f"method {name!r} is not a classifier")
    return set(estimator.get_params(deep=False))
