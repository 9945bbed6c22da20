"""Names of a module that are loaded from other modules of the package on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    module: str, homes: Mapping[str, str], *others: str
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module whose names are loaded on first use.

    Parameters
    ----------
    module : str
        Its ``__name__``.
    homes : mapping of str to str
        Names, separated by spaces, by the module below the package that they come from.
    *others : {"__version__"}
        Further names.

    Returns
    -------
    names, getattr, dir
    """
    package = module.partition(".")[0]
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}
    public = sorted([*home_of, *others])

    def get(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name in home_of:
            value = getattr(import_module(home_of[name]), name)
        else:
            from importlib.metadata import version  # not at the top: it takes longer to load than the package

            value = version(package)
        setattr(sys.modules[module], name, value)
        return value

    return public, get, lambda: sorted({*vars(sys.modules[module]), *public})
