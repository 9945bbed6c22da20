"""`read_table` on a large CSV file: seconds and peak memory, beside polars and pandas.

    python -m benchmarks.speed.large_csv [--rows 2000000] [--columns 10]

Each reads the same file in a process of its own. The peers only parse; `read_table` also finds the encoding and the
separator, sets the labels apart, checks every number and scales the columns. The last column of the table is the peak
as a multiple of the numbers themselves in float64.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import table_head, table_row

READERS = {
    "bayesfloor.read_table": "from bayesfloor import read_table; read_table(path)",
    "the same, csv module": "from bayesfloor.tables import text_rows; text_rows.FAST_BYTES = 2**62\n"
    "from bayesfloor import read_table; read_table(path)",
    "polars.read_csv": "import polars; polars.read_csv(path).to_numpy()",
    "pandas.read_csv": "import pandas; pandas.read_csv(path).to_numpy()",
}


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Write columns of standard normal numbers, and two classes."""
    import polars

    rng = np.random.default_rng(0)
    frame = polars.DataFrame({f"x{j}": rng.standard_normal(n_rows) for j in range(n_columns - 1)})
    frame.with_columns(y=polars.Series(rng.integers(0, 2, n_rows))).write_csv(path)


def measure(code: str, path: Path) -> tuple[float, float, float]:
    """Return seconds, seconds of CPU, and bytes at the peak."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", f"path = {str(path)!r}\n{code}"])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"it failed: {code}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=10)
    options = parser.parse_args()
    numbers = 8 * options.rows * options.columns
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_table(path, options.rows, options.columns)
        print(f"{options.rows:,} × {options.columns}, {path.stat().st_size / 1e6:.0f} MB of text\n")
        print(*table_head("reader", "seconds", "of CPU", "peak MB", "peak / numbers"), sep="\n")
        for name, code in READERS.items():
            seconds, cpu, peak = measure(code, path)
            figures = [f"{seconds:.1f}", f"{cpu:.1f}", f"{peak / 1e6:.0f}", f"{peak / numbers:.2f}"]
            print(table_row([name, *figures]), flush=True)


if __name__ == "__main__":
    main()
