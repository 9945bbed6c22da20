"""Names of a module that are loaded from other modules of the package on first use."""

import re
import sys
from collections.abc import Callable
from importlib import import_module


def lazy_names(
    module: str, file: str, *others: str
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module whose names are loaded on first use.

    Parameters
    ----------
    module, file : str
        Its ``__name__`` and ``__file__``. The stub beside the file imports every name from where it is defined, as
        ``from module import name as name``.
    *others : {"__version__"}
        Further names.

    Returns
    -------
    names, getattr, dir
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        home_of = {
            name: home for home, name in re.findall(r"^from (\S+) import \(?\s*(\w+) as", stub.read(), re.MULTILINE)
        }
    public = sorted([*home_of, *others])

    def get(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name in home_of:
            value = getattr(import_module(home_of[name]), name)
        else:
            from importlib.metadata import version  # not at the top: it takes longer to load than the package

            value = version(module)
        setattr(sys.modules[module], name, value)
        return value

    return public, get, lambda: sorted({*vars(sys.modules[module]), *public})
