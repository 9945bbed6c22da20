"""Pairs of tables with a known shift between them, or with none: NumPy and pandas alone, for any environment.

A shift is a function that changes rows of the new table. Kinds marked "design" were looked at while `drift` was made,
the others once, when it was done.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

Rng = np.random.Generator
Frame = pd.DataFrame
#: From rows of a random generator and whether they are of the new table to a table.
Draw = Callable[[int, bool, Rng], Frame]


@dataclass(frozen=True)
class Shift:
    """A kind of shift.

    Attributes
    ----------
    draw : callable
        Draws a table: rows, whether it is the new one, random generator.
    n_old, n_new : int
        Rows of the tables.
    half : {"design", "held-out"}
        Whether it had a part in the making.
    has_target : bool
        Whether the column "y" is a target, and labels given the columns are what moves.
    """

    draw: Draw
    n_old: int
    n_new: int
    half: str
    has_target: bool = False


SHIFTS: dict[str, Shift] = {}
SAME: dict[str, Shift] = {}


def shift(half: str, n_old: int = 500, n_new: int = 300, *, has_target: bool = False) -> Callable[[Draw], Draw]:
    """Register a function that draws the tables of a shift, under its own name."""

    def register(draw: Draw) -> Draw:
        SHIFTS[draw.__name__.replace("_", " ")] = Shift(draw, n_old, n_new, half, has_target)
        return draw

    return register


def same(n_old: int, n_new: int, *, has_target: bool = False) -> Callable[[Draw], Draw]:
    """Register a function that draws two tables from one distribution."""

    def register(draw: Draw) -> Draw:
        SAME[draw.__name__.replace("_", " ")] = Shift(draw, n_old, n_new, "no shift", has_target)
        return draw

    return register


def pair_of(name: str, seed: int) -> tuple[Frame, Frame]:
    """Draw the old and the new table of a kind."""
    kind = (SHIFTS | SAME)[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return kind.draw(kind.n_old, False, rng), kind.draw(kind.n_new, True, rng)


# --- tables


def numbers(n: int, d: int, rng: Rng, correlation: float = 0.0) -> Frame:
    common = rng.standard_normal((n, 1))
    values = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * rng.standard_normal((n, d))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(d)])


def mixed(n: int, rng: Rng) -> Frame:
    income = np.exp(rng.normal(10, 0.6, n))
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": np.round(income, 2),
            "score": rng.normal(0, 1, n) + 0.5 * np.log(income),
            "region": rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "product": rng.choice([f"p{k}" for k in range(12)], n, p=np.arange(12, 0, -1) / 78),
            "member": rng.choice(["yes", "no"], n),
        }
    )
    return frame.assign(score=frame["score"].mask(rng.random(n) < 0.1))


def with_classes(frame: Frame, slope: float, rng: Rng) -> Frame:
    chance = 1 / (1 + np.exp(-(1.5 * frame["x0"] + slope * frame["x1"])))
    return frame.assign(y=np.where(rng.random(len(frame)) < chance, "b", "a"))


def with_numbers(frame: Frame, slope: float, noise: float, rng: Rng) -> Frame:
    return frame.assign(y=frame["x0"] ** 2 + slope * frame["x1"] + noise * rng.standard_normal(len(frame)))


# --- shifts that had a part in the making


@shift("design")
def mean_of_one_column(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 6, rng, 0.3)
    return frame.assign(x2=frame["x2"] + 0.3 * is_new)


@shift("design")
def means_of_all_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 6, rng) + 0.12 * is_new


@shift("design")
def scale_of_one_column(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 6, rng, 0.3)
    return frame.assign(x1=frame["x1"] * (1.35 if is_new else 1.0))


@shift("design", 200, 200)
def one_of_30_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 30, rng)
    return frame.assign(x17=frame["x17"] + 0.5 * is_new)


@shift("design")
def correlation_of_two_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 6, rng)
    if is_new:
        frame["x1"] = 0.4 * frame["x0"] + np.sqrt(1 - 0.16) * frame["x1"]
    return frame


@shift("design")
def new_cluster(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 6, rng)
    if is_new:
        frame[rng.random(n) < 0.06] += 1.5
    return frame


@shift("design")
def new_level(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    return frame.assign(product=frame["product"].mask(rng.random(n) < 0.04, "p12")) if is_new else frame


@shift("design")
def more_gaps(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    return frame.assign(score=frame["score"].mask(rng.random(n) < 0.08)) if is_new else frame


@shift("design")
def shares_of_levels(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    if is_new:
        moved = (frame["region"] == "north") & (rng.random(n) < 0.25)
        frame["region"] = frame["region"].mask(moved, "west")
    return frame


@shift("design")
def skewness(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng)
    return frame.assign(x0=(rng.gamma(4.0, 1.0, n) - 4.0) / 2.0) if is_new else frame


@shift("design")
def two_modes(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng)
    return frame.assign(x0=rng.choice([-0.8, 0.8], n) + 0.6 * rng.standard_normal(n)) if is_new else frame


@shift("design")
def signs_of_two_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng)
    if is_new:
        flip = rng.random(n) < 0.25
        frame["x1"] = np.where(flip, np.abs(frame["x1"]) * np.sign(frame["x0"]), frame["x1"])
    return frame


@shift("design")
def along_a_narrow_direction(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng, 0.95)
    return frame.assign(x0=frame["x0"] + 0.07 * is_new, x1=frame["x1"] - 0.07 * is_new)


@shift("design")
def rows_that_are_gone(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(3 * n, 5, rng, 0.3)
    gone = (frame["x0"] > 0.8) & (frame["x1"] > 0.5)
    return frame[~gone | (rng.random(len(frame)) < 0.4) | (not is_new)].head(n).reset_index(drop=True)


@shift("design", has_target=True)
def labels_of_classes(n: int, is_new: bool, rng: Rng) -> Frame:
    return with_classes(numbers(n, 4, rng), 0.0 if is_new else 1.0, rng)


@shift("design", has_target=True)
def slope_of_a_number(n: int, is_new: bool, rng: Rng) -> Frame:
    return with_numbers(numbers(n, 4, rng), 0.7 if is_new else 1.0, 1.0, rng)


# --- shifts that were looked at once


@shift("held-out", 1000, 200)
def means_of_3_of_10_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 10, rng, 0.2)
    frame[["x1", "x4", "x7"]] += 0.2 * is_new
    return frame


@shift("held-out")
def scales_of_all_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 6, rng) * (0.87 if is_new else 1.0)


@shift("held-out", 200, 200)
def one_of_60_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 60, rng)
    return frame.assign(x31=frame["x31"] + 0.5 * is_new)


@shift("held-out", 500, 500)
def all_correlations(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 8, rng, 0.38 if is_new else 0.2)


@shift("held-out", 1000, 300)
def new_cluster_in_10_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 10, rng)
    if is_new:
        frame[rng.random(n) < 0.05] += 1.2
    return frame


@shift("held-out")
def two_levels_merged(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    return frame.assign(product=frame["product"].replace({"p9": "p8"})) if is_new else frame


@shift("held-out")
def gaps_where_income_is_high(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    if is_new:
        score = rng.normal(0, 1, n) + 0.5 * np.log(frame["income"])
        above = frame["income"] > frame["income"].median()
        frame["score"] = score.mask(rng.random(n) < np.where(above, 0.16, 0.04))
    return frame


@shift("held-out")
def another_unit_in_some_rows(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    if is_new:
        frame["income"] = frame["income"].where(rng.random(n) > 0.05, frame["income"] / 12)
    return frame


@shift("held-out")
def a_category_and_a_number(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    chance = 0.5 + (0.3 if is_new else 0.1) * np.sign(frame["age"] - 53.5)
    return frame.assign(member=np.where(rng.random(n) < chance, "yes", "no"))


@shift("held-out")
def rotation(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 2, rng) * [1.5, 1.0]
    angle = np.pi / 8 * is_new
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return pd.DataFrame(frame.to_numpy() @ turn, columns=["x0", "x1"])


@shift("held-out")
def spread_that_depends_on_a_column(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 3, rng)
    wide = rng.random(n) < 0.5
    sign = np.sign(frame["x1"]) > 0
    use = sign if is_new else wide
    return frame.assign(x0=frame["x0"] * np.where(use, 1.6, 0.7))


@shift("held-out")
def rounded_values(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng)
    return frame.assign(x0=frame["x0"].round(0)) if is_new else frame


@shift("held-out")
def another_curve(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 3, rng)
    curve = (frame["x0"] ** 2 - 1) / np.sqrt(2)
    return frame.assign(x1=0.35 * curve * (1 if is_new else -1) + frame["x1"])


@shift("held-out")
def rare_level_gone(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = mixed(n, rng)
    return frame.assign(product=frame["product"].replace({"p10": "p0", "p11": "p0"})) if is_new else frame


@shift("held-out", 500, 500)
def signs_of_three_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 3, rng)
    if is_new:
        flip = (np.sign(frame).prod(axis=1) < 0) & (rng.random(n) < 0.6)
        frame["x2"] = np.where(flip, -frame["x2"], frame["x2"])
    return frame


@shift("held-out", has_target=True)
def noise_of_a_number(n: int, is_new: bool, rng: Rng) -> Frame:
    return with_numbers(numbers(n, 4, rng), 1.0, 1.35 if is_new else 1.0, rng)


@shift("held-out", has_target=True)
def labels_and_columns(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = numbers(n, 4, rng)
    frame["x2"] += 0.8 * is_new
    return with_classes(frame, 0.0 if is_new else 1.0, rng)


@shift("held-out", has_target=True)
def label_shares(n: int, is_new: bool, rng: Rng) -> Frame:
    frame = with_classes(numbers(2 * n, 4, rng), 1.0, rng)
    kept = (frame["y"] == "a") | (rng.random(2 * n) < 0.6) | (not is_new)
    return frame[kept].head(n).reset_index(drop=True)


# --- no shift


@same(20, 15)
def few_rows(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 3, rng)


@same(5, 4)
def nine_rows(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 2, rng)


@same(300, 200)
def numbers_alone(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 6, rng, 0.3)


@same(80, 60)
def more_columns_than_rows(n: int, is_new: bool, rng: Rng) -> Frame:
    return numbers(n, 200, rng, 0.1)


@same(600, 100)
def heavy_tails(n: int, is_new: bool, rng: Rng) -> Frame:
    return pd.DataFrame(rng.standard_t(1.5, (n, 5)), columns=[f"x{j}" for j in range(5)])


@same(400, 250)
def columns_of_every_kind(n: int, is_new: bool, rng: Rng) -> Frame:
    return mixed(n, rng)


@same(300, 300)
def few_values(n: int, is_new: bool, rng: Rng) -> Frame:
    return pd.DataFrame(rng.integers(0, 3, (n, 5)), columns=[f"q{j}" for j in range(5)]).astype(float)


@same(500, 300, has_target=True)
def columns_alone_moved_classes(n: int, is_new: bool, rng: Rng) -> Frame:
    return with_classes(numbers(n, 4, rng) + 0.6 * is_new, 1.0, rng)


@same(500, 300, has_target=True)
def columns_alone_moved_numbers(n: int, is_new: bool, rng: Rng) -> Frame:
    return with_numbers(numbers(n, 4, rng) + 0.6 * is_new, 1.0, 1.0, rng)
