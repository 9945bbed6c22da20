"""Is everything in the wheel and in the sdist that should be, and nothing else? Do both work where nothing else is?

    python .ci/check_dist.py dist

The wheel holds the package as it is in git, to the byte. The sdist holds files of git alone: what the wheel is built
from, and the tests. Each is installed in an environment of its own, and answers.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]

# What is packed, at most. A data set or a cache that slipped in would be larger.
MIB = 2**20
LARGEST = {".whl": 3 * MIB, ".gz": 8 * MIB}

# What an sdist has beside files of git.
MADE_BY_BUILD = {"PKG-INFO", ".gitignore"}


def main(folder: str) -> None:
    """Check the one wheel and the one sdist in a folder."""
    (wheel,) = Path(folder).glob("*.whl")
    (sdist,) = Path(folder).glob("*.tar.gz")
    for file in (wheel, sdist):
        assert file.stat().st_size < LARGEST[file.suffix], f"{file.name} is as large as {file.stat().st_size} bytes"
    tracked = set(git("ls-files", "--cached", "--others", "--exclude-standard"))
    check_wheel(wheel, tracked)
    check_sdist(sdist, tracked)
    for file in (wheel, sdist):
        try_out(file)
    print(f"{wheel.name} and {sdist.name} are complete, and work.")


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints."""
    command = ["git", "-C", str(ROOT), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def check_wheel(wheel: Path, tracked: set[str]) -> None:
    """Compare a wheel with the package in git."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    expected = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    assert set(packed) == expected, f"{wheel.name} differs from git in {sorted(set(packed) ^ expected)}"
    changed = [name for name, content in packed.items() if content != (ROOT / "src" / name).read_bytes()]
    assert not changed, f"{wheel.name}: not as in git: {changed}"


def check_sdist(sdist: Path, tracked: set[str]) -> None:
    """Compare an sdist with git."""
    with tarfile.open(sdist) as archive:
        packed = {str(PurePosixPath(*PurePosixPath(member.name).parts[1:])) for member in archive if member.isfile()}
    needed = {name for name in tracked if name.startswith(("src/", "tests/", "docs/", "examples/"))}
    needed |= {"LICENSE", "README.md", "Makefile", "pyproject.toml"}
    assert not needed - packed, f"{sdist.name} is without {sorted(needed - packed)}"
    strange = packed - tracked - MADE_BY_BUILD
    assert not strange, f"{sdist.name} has files that are not in git: {sorted(strange)}"


def try_out(file: Path) -> None:
    """Install a file where nothing else is, and ask for a floor, in a folder that has nothing of the source."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        # an sdist is not binary, what it depends on is
        pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary"]
        subprocess.run([*pip, file.resolve()], check=True, cwd=folder)
        for arguments in (["--version"], ["floor", "iris", "--fast"], ["report", "iris", "--fast", "--out", "r.html"]):
            subprocess.run([programs / "bayesfloor", *arguments], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        assert (Path(folder) / "r.html").stat().st_size > 10_000


if __name__ == "__main__":
    main(*sys.argv[1:])
