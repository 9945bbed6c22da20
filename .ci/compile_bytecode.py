"""Compile the library, and the packages that it needs, to bytecode: python .ci/compile_bytecode.py

pip would compile every package that it installs, tests included, one file after the other, which takes longer than to
install them. Without bytecode a start takes seconds longer: the first one, or, where PYTHONDONTWRITEBYTECODE is set, as
it often is in containers, each.
"""

import compileall
import os
import re
from concurrent.futures import ProcessPoolExecutor
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "bayesfloor"

# What no start loads: tests, and what numba does on other devices.
UNUSED = re.compile(r"(^|/)(tests?|cuda)/")


def needed(name: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """Collect the distributions that one requires, extras left out."""
    for requirement in metadata.requires(name) or ():
        if "extra ==" in requirement:
            continue
        other = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()
        if other not in found:
            try:
                found[other] = metadata.distribution(other)
            except metadata.PackageNotFoundError:  # for other systems or versions of Python
                continue
            needed(other, found)
    return found


def files() -> list[str]:
    """List the files to compile."""
    of_packages = [
        str(distribution.locate_file(path))
        for distribution in needed("bayesfloor", {}).values()
        for path in distribution.files or ()
        if path.suffix == ".py" and not UNUSED.search(path.as_posix())
    ]
    return [*map(str, PACKAGE.rglob("*.py")), *of_packages]


def compile_files(paths: list[str]) -> None:
    """Compile the files that have no bytecode, or an outdated one."""
    for path in paths:
        # templates of code, for other versions of Python, cannot be compiled, and no start loads them
        compileall.compile_file(path, quiet=2)


def main() -> None:
    """Compile everything, on all cores."""
    paths, n_shares = files(), 4 * (os.cpu_count() or 1)
    with ProcessPoolExecutor() as pool:
        list(pool.map(compile_files, [paths[start::n_shares] for start in range(n_shares)]))


if __name__ == "__main__":
    main()
