"""Make what the suite needs before it begins, in two processes: machine code of kernels, and the canonical answers.

Nobody then waits for another process that compiles, and a test that reads a result makes none.
"""

import shutil
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import canonical
from bayesfloor.runtime.kernel_cache import cache_folder


def make(name: str) -> float:
    """Make one answer; return how long it took."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # figures that cannot be trusted are among what is tested
        canonical.answers(name)
    return time.perf_counter() - began


def main() -> None:
    """Compile kernels, make answers that are not there, and remove those of other sources."""
    began = time.perf_counter()
    answers = canonical.folder()
    kernels = cache_folder()
    stamp = answers.parent / f"kernels-{None if kernels is None else kernels.name}"
    if kernels is None or not stamp.is_file() or not any(kernels.iterdir()):
        subprocess.run([sys.executable, "-m", "bayesfloor", "warmup", "--jobs", "2", "--quiet"], check=True)
        print(f"  kernels: {time.perf_counter() - began:.0f} s")
    wanted = [name for name in canonical.ANSWERS if not (answers / f"{name}.pickle").is_file()]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name, seconds in zip(wanted, pool.map(make, wanted), strict=True):
            print(f"  {name}: {seconds:.0f} s")
    stamp.touch()
    for old in answers.parent.iterdir():
        if old.is_dir() and old != answers:
            shutil.rmtree(old)
        elif old.is_file() and old != stamp:
            old.unlink()


if __name__ == "__main__":
    main()
