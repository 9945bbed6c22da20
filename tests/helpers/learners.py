"""Learners that predict rows at once."""

from bayesfloor.learn.learner import Given, Learner, Output, Rows, fit_predict
from bayesfloor.learn.registry import CLASS_LEARNERS, NUMBER_LEARNERS


def predicted(learner, train, test, seed=0, codes=None, requested=None):
    """Train a learner and return its outputs for rows, which may come from a table as well."""
    return fit_predict(learner, train, requested, seed, Rows(test, codes))


def of_classes(name, *given, **more):
    return predicted(CLASS_LEARNERS[name], *given, **more)


def of_numbers(name, *given, **more):
    return predicted(NUMBER_LEARNERS[name], *given, **more)


class FunctionLearner(Learner):
    """Calls a function with training rows, rows to predict, what is requested and a seed."""

    takes_weights = True

    def __init__(self, function, *names):
        self.function, self._names = function, names

    @property
    def outputs(self):
        return tuple(map(Output, self._names))

    def fit(self, train, requested, seed, rows=None):
        found = self.function(train, rows.X, requested, seed)
        return Given({name: found[name] for name in self.names if name in requested})
