"""What a caller says about a table, checked: how it is to be read, and what becomes of its columns."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bayesfloor.data.numbers import TASKS
from bayesfloor.runtime.checks import ParameterError, check_option, is_int
from bayesfloor.runtime.frames import column_named

ENCODINGS = ("onehot", "ordinal", "drop", None)
SCALES = ("standard", "minmax", "none")
IMPUTATIONS = (None, "mean", "median", "most_frequent")


@dataclass(frozen=True)
class ReadOptions:
    """What a caller says about the columns of a table; see `read_table`."""

    target: str | int | None = None
    task: str = "auto"
    groups: str | int | None = None
    time: str | int | None = None
    as_given: bool = False  # numbers as they are; nothing else is taken
    encode: str | None = None
    scale: str = "standard"
    impute: str | None = None
    drop_missing: bool = False
    drop: tuple[str, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)  # of columns whose kind is given
    max_rows: int | None = None
    seed: int = 0
    keep_missing_as_class: bool = False

    def __post_init__(self) -> None:
        check_option("task", self.task, TASKS)
        check_option("encode", self.encode, ENCODINGS)
        check_option("scale", self.scale, SCALES)
        check_option("impute", self.impute, IMPUTATIONS)
        if self.max_rows is not None and not is_int(self.max_rows):
            raise ParameterError("max_rows", "an int or None", self.max_rows)


def check_prepare(prepare: Any) -> None:
    """Refuse what is neither "auto", None nor a transformer."""
    if isinstance(prepare, str) or not hasattr(prepare, "fit_transform"):
        check_option("prepare", prepare, ("auto", None), " or a transformer")


def is_transformer(prepare: Any) -> bool:
    """Tell whether columns are made ready by a transformer of the caller's."""
    return prepare is not None and not isinstance(prepare, str)


def as_names(names: Any, what: str, source: Any = None) -> tuple[str, ...]:
    """Return one name of a column or several as a tuple of texts, as the columns of a data frame are called."""
    given = (names,) if column_named(source, names) is not None or not isinstance(names, Iterable) else tuple(names)
    found = tuple(text for name in given if (text := column_named(source, name)) is not None)
    if len(found) < len(given):
        raise TypeError(f"The '{what}' parameter must name columns. Got {names!r} instead.")
    return found


def kinds_given(source: Any = None, **columns: Any) -> dict[str, str]:
    """Return the kind of each column that the caller names."""
    kinds: dict[str, str] = {}
    for parameter, kind in (("categorical", "category"), ("numeric", "number"), ("text", "text"), ("date", "date")):
        for name in as_names(columns[parameter], parameter, source):
            if name in kinds:
                raise ValueError(f"column {name!r} cannot be {kinds[name]} and {kind} at once")
            kinds[name] = kind
    return kinds
