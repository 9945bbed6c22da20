"""Learners that callers choose, by name or as estimators."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bayesfloor.floor.learned.targets import Known
from bayesfloor.learn.families import Family, family_of
from bayesfloor.runtime.checks import ParameterError


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
