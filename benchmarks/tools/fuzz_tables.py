"""Damaged tables: every file is read, or refused in one short line, in seconds and in bounded memory.

Small valid files of every format are damaged at random: bytes flipped, cut off, inserted, doubled, separators
exchanged. Each is read by `read_table` in a child process with a limit on its memory, so that a crash and a hang count
as what they are. Any seed can be run again by itself::

    python -m benchmarks.tools.fuzz_tables --cases 4000
    python -m benchmarks.tools.fuzz_tables --first 1234 --cases 1 --keep damaged
"""

import argparse
import gzip
import io
import json
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import ROOT

#: Seconds that a file may take.
SECONDS = 20.0
#: Bytes of address space of the child: the libraries take about two gigabytes of it.
MEMORY = 6 * 2**30
#: Letters of the longest message.
LONGEST = 600
#: What a file may be refused with.
REFUSALS = (ValueError, TypeError, OSError, MemoryError)
SEPARATORS = (b",", b";", b"\t", b"|", b"\n", b'"', b" ", b".", b":", b"{", b"\0", b"\xff")


def columns(rng):
    """Columns of every kind, with gaps."""
    n = int(rng.integers(4, 40))
    return {
        "size": [None if rng.random() < 0.1 else round(float(rng.normal()), 3) for _ in range(n)],
        "count": rng.integers(0, 9, n).tolist(),
        "color": [("red", "green", "blue", None)[code] for code in rng.integers(0, 4, n)],
        "when": [f"2020-0{rng.integers(1, 10)}-1{rng.integers(0, 10)}" for _ in range(n)],
        "y": [("yes", "no")[code] for code in rng.integers(0, 2, n)],
    }


def lines_of(table, separator=",", decimal="."):
    def cell(value):
        return "" if value is None else str(value).replace(".", decimal) if isinstance(value, float) else str(value)

    rows = [list(table), *zip(*table.values(), strict=True)]
    return "".join(separator.join(map(cell, row)) + "\n" for row in rows)


def by_polars(method, **options):
    def write(table):
        import polars

        stream = io.BytesIO()
        getattr(polars.DataFrame(table), method)(stream, **options)
        return stream.getvalue()

    return write


def as_excel(table):
    """Write the parts that a workbook needs, with text in the cells."""

    def cell(value):
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    rows = [list(table), *zip(*table.values(), strict=True)]
    data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    link = '<Relationship Id="rId1" Type="{0}/{1}" Target="{2}"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f"{link.format(office, 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f"{link.format(office, 'worksheet', 'worksheets/sheet1.xml')}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>',
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:  # not packed, so that damage reaches the cells
        for name, text in parts.items():
            archive.writestr(name, text)
    return stream.getvalue()


def as_npz(table):
    stream = io.BytesIO()
    y = np.array(table["y"])
    np.savez_compressed(stream, X=np.array([table["count"], range(len(y))], np.float64).T, y=y)
    return stream.getvalue()


def as_arff(table):
    kinds = {"size": "numeric", "count": "numeric", "color": "{red,green,blue}", "when": "string", "y": "{yes,no}"}
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in kinds.items())
    rows = zip(*table.values(), strict=True)
    return (f"@relation r\n{head}@data\n" + "".join(",".join(map(_or_mark, row)) + "\n" for row in rows)).encode()


def _or_mark(value):
    return "?" if value is None else str(value)


def as_libsvm(table):
    rows = zip(table["y"], table["count"], strict=True)
    return "".join(f"{int(y == 'yes')} 1:{count} 3:{count + 0.5}\n" for y, count in rows).encode()


def as_records(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def as_zip(table):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", lines_of(table))
    return stream.getvalue()


FORMATS = {
    ".csv": lambda table: lines_of(table).encode(),
    ".tsv": lambda table: lines_of(table, "\t").encode("utf-16"),
    ".txt": lambda table: lines_of(table, ";", ",").encode("cp1252"),
    ".csv.gz": lambda table: gzip.compress(lines_of(table).encode()),
    ".zip": as_zip,
    ".parquet": by_polars("write_parquet"),
    ".pq": by_polars("write_parquet", compression="uncompressed", use_pyarrow=False),
    ".arrow": by_polars("write_ipc"),
    ".feather": by_polars("write_ipc_stream"),
    ".xlsx": as_excel,
    ".json": lambda table: json.dumps(as_records(table)).encode(),
    ".jsonl": lambda table: "".join(json.dumps(each) + "\n" for each in as_records(table)).encode(),
    ".arff": as_arff,
    ".libsvm": as_libsvm,
    ".npz": as_npz,
}


def damaged(data, rng):
    """Damage bytes in one to four places."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not data:
            break
        start = int(rng.integers(len(data)))
        length = int(min(rng.integers(1, 2 ** rng.integers(1, 10)), len(data) - start))
        how = rng.integers(7)
        if how == 0:  # bits
            for place in rng.integers(0, len(data), rng.integers(1, 9)):
                data[place] ^= 1 << int(rng.integers(8))
        elif how == 1:  # cut off, at either end
            data = data[:start] if rng.random() < 0.7 else data[start:]
        elif how == 2:  # inserted
            data[start:start] = rng.bytes(length)
        elif how == 3:  # left out
            del data[start : start + length]
        elif how == 4:  # doubled, once or often
            data[start:start] = data[start : start + length] * int(rng.choice([1, 2, 50]))
        elif how == 5:  # a number that is a size somewhere
            data[start : start + 4] = int(rng.choice([0, 1, 2**16, 2**31 - 1, 2**32 - 1])).to_bytes(4, "little")
        else:  # signs that structure text
            old, new = (SEPARATORS[code] for code in rng.integers(0, len(SEPARATORS), 2))
            data = bytearray(bytes(data).replace(old, new, int(rng.choice([1, 3, -1]))))
    return bytes(data)


def case(number):
    """Return the ending and the bytes of a damaged file."""
    rng = np.random.default_rng([2026, number])
    suffix = list(FORMATS)[number % len(FORMATS)]
    return suffix, damaged(FORMATS[suffix](columns(rng)), rng)


def run_case(number, folder):
    """Read a damaged file; return what became of it, and a description where that is wrong."""
    from bayesfloor import read_table

    suffix, data = case(number)
    path = Path(folder, f"t{suffix}")
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_table(path)
    except REFUSALS as error:
        text = str(error)
        if not text or "\n" in text or len(text) > LONGEST:
            return "wrong", f"{type(error).__name__} of {len(text)} letters: {text[:300]!r}"
        return "refused", ""
    except BaseException as error:
        where = "".join(traceback.format_tb(error.__traceback__)[-2:])
        return "wrong", f"{type(error).__name__}: {str(error)[:300]}\n{where}"
    return "read", ""


def work(first, stop):
    """Run cases in this process and print one line for each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        run_case(0, folder)  # imports
        for number in range(first, stop):
            print(json.dumps([number, *run_case(number, folder)]), flush=True)


def watch(first, stop, seconds):
    """Run cases in child processes, a new one after a crash or a hang; yield what became of each."""
    while first < stop:
        command = [sys.executable, "-m", "benchmarks.tools.fuzz_tables", "--work", str(first), str(stop)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT) as child:
            patience = 10 * seconds  # imports
            while first < stop:
                ready, _, _ = select.select([child.stdout], [], [], patience)
                line = child.stdout.readline() if ready else ""
                if not line:
                    child.kill()
                    what = f"ended with {child.wait()}" if ready else f"took more than {patience:g} s"
                    yield first, "wrong", what
                    first += 1
                    break
                yield tuple(json.loads(line))
                first, patience = first + 1, seconds


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--cases", type=int, default=400, help="files to read")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most seconds of a file")
    parser.add_argument("--keep", type=Path, help="folder for the files that went wrong")
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return 0
    started = time.monotonic()
    counts = Counter()
    by_format = Counter()
    for number, outcome, what in watch(options.first, options.first + options.cases, options.seconds):
        suffix = list(FORMATS)[number % len(FORMATS)]
        counts[outcome] += 1
        by_format[suffix, outcome] += 1
        if outcome == "wrong":
            print(f"case {number} ({suffix}): {what}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{number}{suffix}").write_bytes(case(number)[1])
    for suffix in FORMATS:
        print(
            f"{suffix:10} " + "  ".join(f"{by_format[suffix, each]:5} {each}" for each in ("read", "refused", "wrong"))
        )
    seconds = time.monotonic() - started
    print(
        f"{sum(counts.values())} files, {counts['read']} read, {counts['refused']} refused, {counts['wrong']} wrong, "
        f"{seconds:.0f} s"
    )
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
