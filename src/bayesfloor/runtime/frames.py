"""Data frames of the library that the caller uses.

`like_input` marks what a function returns with the library of the frame that it was given, and `Framed` hands the mark
on to everything that is made of a result.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, wraps
from importlib import import_module
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

from bayesfloor.runtime.text import counted, unique_names

P = ParamSpec("P")
T = TypeVar("T")

#: Libraries whose frames are given back, and how each calls its frames.
_FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


class Framed:
    """A result whose ``frame()`` is a data frame of the caller's library.

    Results made by its public methods are of the same library.
    """

    #: None where the caller uses none: pandas where it is installed, else polars.
    _library: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if isinstance(method, cached_property):
                method.func = like_input(method.func)
            elif isfunction(method) and not name.startswith("_"):
                setattr(cls, name, like_input(method))

    def _frame_of(self, columns: Mapping[str, Any]) -> Any:
        return data_frame(columns, self._library)


def like_input(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function return results whose frames are of the library of the data frame that it was given.

    Tables of pyarrow reach the function as frames of polars.

    Parameters
    ----------
    function : callable
        Takes a data frame, or a result that has its library from one. Returns results, or an estimator that holds some.

    Returns
    -------
    callable
    """

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        libraries = map(_library_of, (*args, *kwargs.values()))
        library = next((name for name in libraries if name is not None), None)
        if library is None:
            return function(*args, **kwargs)
        call: Callable[..., T] = function
        found = call(*map(without_arrow, args), **{name: without_arrow(each) for name, each in kwargs.items()})
        _mark(vars(found) if hasattr(found, "get_params") else found, library)
        return found

    return wrapped


def data_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a data frame.

    Parameters
    ----------
    columns : mapping of str to array-like
        The columns.
    library : {"pandas", "polars", "pyarrow"} or None, default=None
        None for pandas where it is installed, else polars.

    Returns
    -------
    data frame
    """
    for name in ("pandas", "polars") if library is None else (library,):
        try:
            return getattr(import_module(name), _FRAMES[name])(dict(columns))
        except ImportError:
            continue
    raise ImportError(f"frame() needs {library or 'pandas or polars'}: pip install {library or 'pandas'}")


def _library_of(data: Any) -> str | None:
    """Return the library of a data frame or a result, and None for anything else."""
    if isinstance(data, Framed):
        return data._library
    if not hasattr(type(data), "columns"):
        return None
    roots = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((root for root in roots if root in _FRAMES), None)


def without_arrow(data: Any) -> Any:
    """Return a table of pyarrow, whose columns are nameless arrays, as a frame of polars; anything else unchanged."""
    if isinstance(data, Framed) or _library_of(data) != "pyarrow":
        return data
    import polars

    names = unique_names(data.column_names)
    return polars.from_arrow(data if names == data.column_names else data.rename_columns(names))


def names_of(X: Any) -> Sequence[Any] | None:
    """Return the names of the columns of a frame of any kind, those that come again with a number."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow, or any other frame
    if names is None or len(set(names)) == len(names):
        return None if names is None else list(names)
    return unique_names(list(map(str, names)))


def column_texts(data: Any) -> list[str]:
    """Return a text for each column of a data frame, no two alike: the parts of a tuple joined, copies numbered."""
    texts = [", ".join(map(str, filter(None, name))) if isinstance(name, tuple) else str(name) for name in data.columns]
    return unique_names(texts)


def with_text_names(data: Any, *, only_copies: bool = False) -> Any:
    """Return a data frame whose columns are named by text, each by its own; pandas alone has others.

    Parameters
    ----------
    data : object
        It is not changed, and comes back as it is where it is no data frame of pandas.
    only_copies : bool, default=False
        Rename columns only where two of them share a name.

    Returns
    -------
    object
    """
    if not (hasattr(type(data), "columns") and hasattr(data, "set_axis")):
        return data
    names = list(data.columns)
    is_plain = only_copies or all(isinstance(name, str) for name in names)
    if len(set(names)) == len(names) and is_plain:
        return data
    return data.set_axis(column_texts(data), axis=1)


def as_narwhals(data: Any) -> Any:
    """Return a data frame whose values are at hand as narwhals has it, with copies of a name numbered; else None."""
    if not hasattr(type(data), "columns"):
        return None
    import narwhals

    frame = narwhals.from_native(with_text_names(data, only_copies=True), eager_only=True, pass_through=True)
    return frame if isinstance(frame, narwhals.DataFrame) else None


def is_collection(X: Any) -> bool:
    """Tell whether X is a Dask array or a Dask data frame, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def is_lazy_frame(X: Any) -> bool:
    """Tell whether X is a lazy frame of polars, without importing it."""
    return type(X).__module__.split(".")[0] == "polars" and type(X).__name__ == "LazyFrame"


def column_named(data: Any, wanted: Any) -> str | None:
    """Return what `column_texts` calls the column of a data frame that the caller names.

    Parameters
    ----------
    data : object
        A data frame, or anything else.
    wanted : object
        Any text is a name. Anything else is one where the frame has a column of that name, such as a number.

    Returns
    -------
    str or None
        None where nothing is named. Text that names no column comes back as it is.
    """
    if wanted is not None and isinstance(wanted, Hashable) and as_narwhals(data) is not None:
        for name, text in zip(data.columns, column_texts(data), strict=True):
            if isinstance(name, str) == isinstance(wanted, str) and name == wanted:
                return text
    return wanted if isinstance(wanted, str) else None


def check_same_index(values: Mapping[str, Any]) -> None:
    """Refuse series and frames of pandas whose rows are labelled otherwise: rows are matched by their place.

    Parameters
    ----------
    values : mapping of str to object
        What stands side by side, by what it is called; anything without an index is matched by its place.

    Raises
    ------
    ValueError
        When an index is not that of the first of them.
    """
    of_pandas = [name for name, value in values.items() if hasattr(value, "iloc") and not is_collection(value)]
    for name in of_pandas:
        first = of_pandas[0]
        index, own = values[name].index, values[first].index
        if len(index) != len(own) or index.equals(own):
            continue
        n_common = len(index.intersection(own))
        rows = counted(n_common, "row") if n_common else "no row"
        order = "" if n_common < len(own) else ", in another order"
        raise ValueError(
            f"The index of {name} is not that of {first}: it has {rows} in common with {first}{order}. Rows are "
            "matched by their place: bring them into one order, and reset the index."
        )


def _mark(found: Any, library: str) -> None:
    """Mark a result and all results that it holds."""
    if isinstance(found, Framed):
        if found._library != library:
            object.__setattr__(found, "_library", library)  # results are frozen
            _mark(vars(found), library)
    elif isinstance(found, Mapping | list | tuple):
        for each in found.values() if isinstance(found, Mapping) else found:
            _mark(each, library)
