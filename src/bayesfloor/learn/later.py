"""Rows to come: learners as models that predict later.

A learner is a function of training rows and of rows to predict. All that it does with the latter goes through functions
that `of_rows` marks. Given arrays, they compute. Given a `Later`, which stands for rows that are not there yet, they
return another one: a note of the function and of what it was given. So each learner is written once. What it predicts
at once and what it predicts later are the same to the last bit::

    family(train, test, seed)              probabilities, or numbers, of the rows in test
    family(train, Later.rows(), seed)      notes of how to get them ── steps_of ──> Steps ── predict(X, codes) ──> …

`Steps` are plain arrays and numbers with names of functions, so that they can be pickled, and written to a file that
holds no code.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

#: Rows that are predicted at a time: what is computed of them stays in the cache, and memory is bounded.
BLOCK = 4096

#: What steps start from: standardised features come from the one, codes of categories from the other.
INPUTS = ("rows", "codes")

#: Functions that steps may name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {}

P = ParamSpec("P")
R = TypeVar("R")


def of_rows(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function be called with rows to come.

    Its positional arguments are arrays, numbers, and tuples or dicts of them; each may be a `Later`. Arguments by
    keyword, such as whom to ask whether to go on, are for the present call alone.
    """
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__.strip('_')}"
    assert name not in _FUNCTIONS, name
    _FUNCTIONS[name] = function

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        if any(isinstance(argument, Later) for argument in args):
            return cast(R, Later(name, args))
        return function(*args, **keywords)

    return call


class Later:
    """What will be known once there are rows.

    Parameters
    ----------
    function : str
        The name of a function, or one of `INPUTS`.
    arguments : tuple
        What it is called with.
    """

    #: NumPy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(self, function: str, arguments: tuple[Any, ...] = ()) -> None:
        self.function, self.arguments = function, arguments

    @classmethod
    def rows(cls) -> "Later":
        """Stand for the rows to predict."""
        return cls(INPUTS[0])

    @classmethod
    def codes(cls) -> "Later":
        """Stand for their columns as codes with gaps."""
        return cls(INPUTS[1])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            assert key[0] == slice(None)
            columns = key[1]
            if isinstance(columns, slice):
                return between(self, columns.start, columns.stop)
            return taken(self, columns, 1)
        return taken(self, key, 0)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.function} of rows to come was asked for its values")

    def __len__(self) -> int:
        raise TypeError(f"{self.function} of rows to come was asked how many there are")

    def __matmul__(self, other: NDArray[Any]) -> Any:
        return product(self, other)

    def __mul__(self, other: NDArray[Any]) -> Any:
        return scaled(self, other)

    def __add__(self, other: NDArray[Any]) -> Any:
        return shifted(self, other)

    __radd__ = __add__


@of_rows
def taken(rows: Any, places: Any, axis: int) -> NDArray[Any]:
    """Take some lines, or some columns."""
    return rows[places] if axis == 0 else rows[:, places]


@of_rows
def between(rows: Any, first: int, last: int) -> NDArray[Any]:
    """Take the columns from one to another."""
    return rows[:, first:last]


@of_rows
def product(rows: Any, other: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix product."""
    return rows @ other


@of_rows
def scaled(rows: Any, other: NDArray[Any]) -> NDArray[Any]:
    """Multiply columns by numbers."""
    return rows * other


@of_rows
def shifted(rows: Any, other: NDArray[Any]) -> NDArray[Any]:
    """Add numbers to columns."""
    return rows + other


@of_rows
def beside(*columns: NDArray[Any]) -> NDArray[Any]:
    """Put columns, or matrices, next to each other."""
    return np.column_stack(columns)


@of_rows
def as_kind(rows: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return numbers of another precision."""
    return rows.astype(kind)


@of_rows
def repeated(rows: NDArray[Any], line: NDArray[Any]) -> NDArray[Any]:
    """Return the same for every row: a line, or a number."""
    return np.tile(line, (len(rows), *(1,) * line.ndim))


class Step(NamedTuple):
    """The result of an earlier step, as an argument."""

    number: int


class Steps(NamedTuple):
    """What is to be done with rows, in order.

    Attributes
    ----------
    functions : tuple of str
        The function of each step.
    arguments : tuple of tuple
        What each is called with; a `Step` stands for the result of an earlier one.
    outputs : dict of str to int
        The steps whose results are asked for.
    """

    functions: tuple[str, ...]
    arguments: tuple[tuple[Any, ...], ...]
    outputs: dict[str, int]

    @staticmethod
    def blocks(n_rows: int) -> list[slice]:
        """Cut rows into blocks that are predicted at a time."""
        return [slice(first, min(first + BLOCK, n_rows)) for first in range(0, n_rows, BLOCK)]

    def predict(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the outputs, of a block of rows.

        Parameters
        ----------
        inputs : mapping of str to ndarray
            Rows, and their codes where steps take them.

        Returns
        -------
        dict of str to ndarray
        """
        results: list[Any] = []
        for name, arguments in zip(self.functions, self.arguments, strict=True):
            if name in INPUTS:
                results.append(inputs[name])
                continue
            given = [results[each.number] if isinstance(each, Step) else each for each in arguments]
            results.append(_FUNCTIONS[name](*given))
        return {name: results[number] for name, number in self.outputs.items()}

    @property
    def takes_codes(self) -> bool:
        """Whether codes are needed beside the rows."""
        return INPUTS[1] in self.functions


def steps_of(outputs: Mapping[str, Any]) -> Steps:
    """List the steps that lead to what is to be known of rows; what several outputs share is one step."""
    functions: list[str] = []
    arguments: list[tuple[Any, ...]] = []
    places: dict[int, int] = {}

    def place_of(later: Later) -> Step:
        if id(later) not in places:
            given = tuple(place_of(each) if isinstance(each, Later) else each for each in later.arguments)
            functions.append(later.function)
            arguments.append(given)
            places[id(later)] = len(functions) - 1
        return Step(places[id(later)])

    found = {name: place_of(later).number for name, later in outputs.items()}
    return Steps(tuple(functions), tuple(arguments), found)


def is_known(function: str) -> bool:
    """Tell whether steps may name a function."""
    return function in INPUTS or function in _FUNCTIONS
