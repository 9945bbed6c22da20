"""What callers choose: learners and folds, checked alike for classes and for numbers."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.floor.learned.time_periods import MIN_ROWS
from bayesfloor.learn.families import Family, family_of
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_int, is_int

#: Fewest folds: four disjoint training sets and the fold that they predict.
MIN_FOLDS = 5


class Known(NamedTuple):
    """The learners that have a name.

    Attributes
    ----------
    families : mapping of str to Family
        Families of learners.
    names : mapping of str to tuple of str
        The learners of each family.
    is_learner : callable
        Tells whether an object is such an estimator.
    noun : str
        What it is called, with its article.
    """

    families: Mapping[str, Family]
    names: Mapping[str, tuple[str, ...]]
    is_learner: Callable[[Any], bool]
    noun: str


def check_learners(learners: Any, known: Known, default: Callable[[], dict[str, Family]]) -> dict[str, Family]:
    """Return families of learners by name.

    Parameters
    ----------
    learners : str, estimator, list or mapping
        What the caller has given.
    known : Known
        Learners that have a name.
    default : callable
        Returns the families that "default" stands for.

    Returns
    -------
    dict of str to Family
    """
    if isinstance(learners, str) or hasattr(learners, "fit"):
        learners = [learners]
    if isinstance(learners, Mapping):
        named = list(learners.items())
    else:
        named = [(item if isinstance(item, str) else type(item).__name__, item) for item in learners]
    families: dict[str, Family] = {}
    own: list[str] = []
    for name, learner in named:
        if isinstance(learner, str):
            if learner != "default" and learner not in known.families:
                names = ", ".join(map(repr, ("default", *known.families)))
                raise ParameterError("learners", f"made of {names} and {known.noun.split()[1]}s", learner)
            families |= default() if learner == "default" else {learner: known.families[learner]}
        elif not hasattr(learner, "fit") or not known.is_learner(learner):
            raise TypeError(f"Learner {name!r} must be {known.noun}. Got {learner!r} instead.")
        else:
            own.append(str(name))
            families[f"own learner {len(own)}"] = family_of(str(name), learner)
    if not families:
        raise ValueError("The 'learners' parameter must name at least one learner.")
    taken = Counter([*own, *(name for family in families for name in known.names.get(family, ()))])
    twice = [name for name in own if taken[name] > 1]
    if twice:
        raise ValueError(f"There are two learners called {twice[0]!r}; name them in a dict.")
    return families


def check_cv(cv: Any, n_rows: int, groups: Ints | None, time: Floats | None) -> None:
    """Check what can be checked of `cv` before rows are chosen."""
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < MIN_FOLDS:
            raise ValueError(f"A learning curve of groups needs at least {MIN_FOLDS} of them. Got {n_groups}.")
    if time is not None and not is_int(cv):
        raise ParameterError("cv", "an int with time, the number of periods to test", cv)
    if not is_int(cv) and (hasattr(cv, "split") or np.iterable(cv)):
        return
    check_int("cv", cv, MIN_FOLDS)
    needed = 4 * cv if time is None else 2 * MIN_ROWS * cv
    if n_rows < needed:
        raise ValueError(f"A learning curve with cv={cv} needs at least {needed} rows. Got {n_rows}.")
