"""Checks of parameters: one function for each kind, and one sentence for all of them.

The sentences are scikit-learn's: what the parameter must be, and what came instead.
"""

import copyreg
import sys
import warnings
from collections.abc import Callable, Iterable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

#: What `progress` may be: a bar on the terminal or none, or a function of (work done, work in all).
Progress = Callable[[int, int], object]

_PACKAGE = str(Path(__file__).parents[1])


class ParameterError(ValueError, TypeError):
    """A parameter that has the wrong type or value; `hint` is a sentence on what was probably meant."""

    def __init__(self, name: str, expected: str, value: Any, hint: str = "") -> None:
        super().__init__(f"The {name!r} parameter must be {expected}. Got {value!r} instead. {hint}".rstrip())

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the error again, in a process that an error of a worker is sent to."""
        return copyreg.__newobj__, (type(self), *self.args)  # type: ignore[attr-defined]


def is_int(value: Any) -> bool:
    """Tell whether a value is a whole number by its type; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_int(name: str, value: Any, low: int = 1, high: float = np.inf) -> int:
    """Return an int between two limits, both included."""
    if not is_int(value) or not low <= value <= high:
        end = "inf)" if high == np.inf else f"{high}]"
        raise ParameterError(name, f"an int in the range [{low}, {end}", value)
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of threads."""
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        raise ParameterError("n_jobs", "an int other than 0, or None for all cores", n_jobs)


def check_float(name: str, value: Any, allowed: str) -> float:
    """Return a float in an interval that is written as in mathematics, such as "(0, 1]"."""
    low, high = (float(end) for end in allowed[1:-1].split(","))
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (
        is_number
        and (low < value or (allowed[0] == "[" and low == value))
        and (value < high or (allowed[-1] == "]" and value == high))
    ):
        raise ParameterError(name, f"a float in the range {allowed}", value)
    return float(value)


def check_option(name: str, value: Any, options: Iterable[Any], otherwise: str = "") -> Any:
    """Return one of the words that a parameter knows; `otherwise` names what else it takes."""
    known = list(options)
    if isinstance(value, bool) or not any(isinstance(value, type(option)) and value == option for option in known):
        raise ParameterError(name, f"one of {', '.join(map(repr, known))}{otherwise}", value)
    return value


def check_n_trees(n_trees: Any) -> int:
    """Return the number of trees, an int of at least 1."""
    return check_int("n_trees", n_trees)


def check_confidence(confidence: Any) -> float:
    """Return the level of an interval, a float between 0 and 1."""
    return check_float("confidence", confidence, "(0, 1)")


def check_max_rows(max_rows: Any, n_classes: int, default: int) -> int:
    """Return the largest number of rows to use, at least two for each class; None stands for the default."""
    if max_rows is None:
        return default
    if not is_int(max_rows):
        raise ParameterError("max_rows", "an int or None", max_rows)
    if max_rows < 2 * n_classes:
        raise ValueError(f"max_rows={max_rows} is less than two rows for each of the {n_classes} classes.")
    return int(max_rows)


def check_random_state_seed(random_state: Any) -> int:
    """Return a seed in [0, 2**64).

    Parameters
    ----------
    random_state : int, None, numpy Generator or RandomState
        An integer is the seed itself. A generator gives its next number, so that two calls with
        the same generator differ. None draws a fresh seed.

    Returns
    -------
    int
        The seed.
    """
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**64, dtype=np.uint64))
    if not is_int(random_state) or not 0 <= random_state < 2**64:
        expected = "an int in the range [0, 2**64), None, a numpy Generator or a RandomState"
        raise ParameterError("random_state", expected, random_state)
    return int(random_state)


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn, at the line outside of this package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
