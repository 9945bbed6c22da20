"""How low can the error of any classifier go on your data?

The public names are loaded on first use, so that ``import bayesfloor`` costs next to nothing:

========================  ===========================================================
`spanning_forests`        the first k edge-disjoint minimum spanning trees of points
`class_forests`           the same for every pair of classes and the whole set at once
`Forests`                 what `spanning_forests` returns
`ClassForests`            what `class_forests` returns
========================  ===========================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesfloor.forest import ClassForests, Forests, class_forests, spanning_forests

    __version__: str

__all__ = ["ClassForests", "Forests", "__version__", "class_forests", "spanning_forests"]

_HOME_OF = {
    "ClassForests": "bayesfloor.forest",
    "Forests": "bayesfloor.forest",
    "class_forests": "bayesfloor.forest",
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
