"""One table of every kind and spelling, as every reader delivers it."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl

from helpers.workbooks import MOMENT, cell_xml, workbook

N = 90

_RNG = np.random.default_rng(0)


def _gaps(values, share=0.15, gap=None):
    missing = _RNG.random(len(values)) < share
    return [gap if is_gap else value for value, is_gap in zip(values, missing, strict=True)]


def _pick(values, n=N):
    return [values[k] for k in _RNG.integers(0, len(values), n)]


def _moments(step, n=N):
    return [dt.datetime(2021, 3, 1) + step * int(k) for k in _RNG.integers(0, 900, n)]


def _german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


_PRICES = [float(number) for number in _RNG.integers(100, 9_000_000, N) / 100]

#: Columns of every kind, as lists of plain values; None is a gap.
COLUMNS = {
    "weight": _gaps(_RNG.normal(70, 9, N).round(3).tolist()),
    "count": _RNG.integers(0, 50, N).tolist(),
    "ratio": [float("inf") if k % 20 == 0 else k / 7 for k in range(N)],
    "income": _gaps(_RNG.integers(10, 99, N).tolist(), gap=-999),
    "region_code": _gaps(_RNG.integers(1, 6, N).tolist(), gap=-99),
    "store_type": _gaps([float(k) for k in _RNG.integers(1, 5, N)]),
    "zip_code": _pick(["02139", "10115", "00501", "94103"]),
    "mixed_type": _pick(["007", "7", "A", "b1", "1.0"]),
    "timestamp": [float(k) for k in _RNG.integers(1_500_000_000, 1_600_000_000, N)],
    "sent_time": _gaps([int(k) for k in _RNG.integers(1_500_000_000_000, 1_600_000_000_000, N)], gap=-999),
    "visit_date": [int(moment.strftime("%Y%m%d")) for moment in _moments(dt.timedelta(days=1))],
    "flag": _pick([True, False]),
    "maybe": _gaps(_pick([True, False])),
    "smoker": _gaps(_pick(["yes", "No"])),
    "ill": _RNG.integers(0, 2, N).tolist(),
    "city": _gaps(_pick(["Rome", "rome ", "ROME", "Oslo", "New  York", "new york"])),
    "clinic": [f"c{k}" for k in _RNG.integers(0, 45, N)],
    "price": _gaps([_german(price) if price % 1 else f"{int(price):,}".replace(",", ".") for price in _PRICES]),
    "share": [f"0,{k}" for k in _RNG.integers(100, 1000, N)],
    "dollars": [f"${int(price):,}" for price in _PRICES],
    "percent": [f"{k / 10}%" for k in _RNG.integers(0, 1000, N)],
    "age": ["unknown" if k % 30 == 3 else "old" if k == 11 else str(20 + k % 60) for k in range(N)],
    "seen": _gaps(_moments(dt.timedelta(days=1))),
    "entered": _moments(dt.timedelta(hours=7, seconds=11)),
    "born": [moment.strftime("%d/%m/%Y") for moment in _moments(dt.timedelta(days=11))],
    "at": [moment.strftime("%H:%M") for moment in _moments(dt.timedelta(minutes=37))],
    "remark": _gaps(
        [f"{_pick(['Pain', 'rest'], 1)[0]} and a {_pick(['fall', 'cut'], 1)[0]} of {k % 40}" for k in range(N)]
    ),
    "user_id": _gaps([f"u{k}" for k in range(N)]),
    "consent": _gaps(["given"] * N, 0.3),
    "serial": [10**25 + k for k in range(N)],
}
#: Codes of the quarters of the counts, in no order: a column that is used in both forms.
COLUMNS["form"] = [None if k % 17 == 5 else [1, 4, 2, 3][count * 4 // 50] for k, count in enumerate(COLUMNS["count"])]
Y = _pick(["ill", "well"])
NAMES = list(COLUMNS)


def table_of(rows):
    """Return the columns and the labels of some rows."""
    return {**{name: [values[k] for k in rows] for name, values in COLUMNS.items()}, "y": [Y[k] for k in rows]}


def _text(value, decimal="."):
    if value is None:
        return ""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, float):
        return str(value).replace(".", decimal)
    return str(value)


def _write_text(columns, path, separator, decimal):
    quote = lambda text: f'"{text}"' if separator in text else text  # noqa: E731
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join(quote(_text(v, decimal)) for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_csv(columns, folder):
    """Write text with commas and decimal points."""
    return _write_text(columns, folder / "t.csv", ",", ".")


def as_european_csv(columns, folder):
    """Write text with semicolons and decimal commas."""
    return _write_text(columns, folder / "e.csv", ";", ",")


def as_pandas(columns, folder=None):
    """Return a frame in which pandas has chosen the types."""
    return pd.DataFrame(
        {name: values if any(values) else pd.Series(values, dtype=object) for name, values in columns.items()}
    )


def as_polars(columns, folder=None):
    """Return a frame; integers that no type of polars holds are text."""
    return pl.DataFrame({n: [str(v) for v in c] if n == "serial" else c for n, c in columns.items()}, strict=False)


def as_parquet(columns, folder):
    """Write Parquet."""
    as_polars(columns).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_excel(columns, folder):
    """Write a workbook; its cells hold no infinite numbers, and no integers of 25 digits."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    written = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    (folder / "t.xlsx").write_bytes(workbook({"Sheet1": written}))
    return folder / "t.xlsx"


def _cell(value):
    if value is None or value == float("inf"):
        return "<c/>"
    if isinstance(value, dt.datetime):
        value = ((value - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1), MOMENT)
    return cell_xml("", str(value) if isinstance(value, int) and value > 10**20 else value).replace(' r=""', "")


SOURCES = {
    "csv": as_csv,
    "european csv": as_european_csv,
    "pandas": as_pandas,
    "polars": as_polars,
    "parquet": as_parquet,
    "excel": as_excel,
}
