"""Is what spoils a figure named in the headline: leaks, rows that belong together, an order in time?

    python -m benchmarks.truth.trust run [--half design] [--workers 2]
    python -m benchmarks.truth.trust table            write benchmarks/results/trust.md
    python -m benchmarks.truth.trust quick            print what quick checks find, without training a stack

Thirty tables in which something is planted, for classes and for numbers, and forty clean ones. A planted one counts as
found where a reason names every planted column in the headline; a clean one is a false alarm where there is any reason
in the headline. Thresholds were chosen on the half called design; the half called held-out was looked at once, and run
again where what is looked for moved from the report to all functions that show a figure. Ten of the twenty planted
tables of the design half were held out first: five of nine were found then, rules were changed, and ten new ones took
their place.
Each table is recorded in benchmarks/results/trust.jsonl and not measured again.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn import datasets

from bayesfloor import difficulty_report, read_table
from bayesfloor.floor.learned.trust.checks import quick_checks
from bayesfloor.floor.learned.trust.source import source_of
from bayesfloor.floor.trees.problem import check_options
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "trust.jsonl"
#: Rows of each table that is made.
N = 360

Rng = np.random.Generator
#: A table, its target, and the columns that are planted.
Planted = tuple[pd.DataFrame, str, tuple[str, ...]]


def plain(rng: Rng, n: int = N, n_columns: int = 5) -> pd.DataFrame:
    """Return columns of which the first three tell something."""
    table = pd.DataFrame(rng.standard_normal((n, n_columns)), columns=[f"m{j}" for j in range(n_columns)])
    table["kind"] = rng.choice(["red", "green", "blue"], n)
    return table


def signal(table: pd.DataFrame) -> np.ndarray:
    """Return what the columns of `plain` tell."""
    return (
        1.2 * table["m0"].to_numpy() - table["m1"].to_numpy() * (table["kind"] == "red") + 0.5 * table["m2"].to_numpy()
    )


def of_classes(rng: Rng) -> pd.DataFrame:
    """Return a table with two classes that overlap."""
    table = plain(rng)
    table["y"] = np.where(signal(table) + 1.2 * rng.standard_normal(len(table)) > 0, "yes", "no")
    return table


def of_numbers(rng: Rng) -> pd.DataFrame:
    """Return a table with a positive number that is half noise."""
    table = plain(rng)
    table["y"] = np.exp(0.4 * (signal(table) + 1.2 * rng.standard_normal(len(table))) + 3)
    return table


# Leaks


def copied_label(rng: Rng) -> Planted:
    """Plant the label in other words."""
    table = of_classes(rng)
    table["status"] = np.where(table["y"] == "yes", "closed", "active")
    return table, "y", ("status",)


def known_afterwards(rng: Rng) -> Planted:
    """Plant three columns that have a value where the label is yes."""
    table = of_classes(rng)
    for name in ("yrdth", "modth", "dadth"):
        table[name] = np.where(table["y"] == "yes", rng.integers(1, 28, len(table)), np.nan)
    return table, "y", ("yrdth", "modth", "dadth")


def telling_id(rng: Rng) -> Planted:
    """Plant numbers that were given class by class."""
    table = of_classes(rng).sort_values("y", kind="stable").reset_index(drop=True)
    table["ticket"] = 40_000 + np.cumsum(rng.integers(1, 30, len(table)))
    return table.sample(frac=1, random_state=1).reset_index(drop=True), "y", ("ticket",)


def nearly_copied_label(rng: Rng) -> Planted:
    """Plant the label with one row in two hundred wrong."""
    table = of_classes(rng)
    is_yes = (table["y"] == "yes").to_numpy() ^ (rng.random(len(table)) < 0.005)
    table["flag"] = is_yes.astype(int)
    return table, "y", ("flag",)


def later_than(rng: Rng) -> Planted:
    """Plant two numbers of which the larger one is the label."""
    table = of_classes(rng)
    table["promised"] = rng.integers(1, 200, len(table)).astype(float)
    late = np.where(table["y"] == "yes", rng.integers(1, 15, len(table)), -rng.integers(0, 15, len(table)))
    table["delivered"] = table["promised"] + late
    return table, "y", ("promised", "delivered")


def model_score(rng: Rng) -> Planted:
    """Plant a score of a model that has seen the labels."""
    table = of_classes(rng)
    table["risk"] = np.where(table["y"] == "yes", 0.6, 0.2) + 0.19 * rng.random(len(table))
    return table, "y", ("risk",)


def logarithm(rng: Rng) -> Planted:
    """Plant the logarithm of the number."""
    table = of_numbers(rng)
    table["ly"] = np.log(table["y"])
    return table, "y", ("ly",)


def ratio(rng: Rng) -> Planted:
    """Plant two numbers whose ratio it is."""
    table = of_numbers(rng)
    table["visits"] = rng.integers(20, 400, len(table)).astype(float)
    table["revenue"] = (table["y"] * table["visits"]).round(2)
    return table, "y", ("visits", "revenue")


def ten_bins(rng: Rng) -> Planted:
    """Plant ten levels of the number."""
    table = of_numbers(rng)
    table["band"] = [f"band {code}" for code in pd.qcut(table["y"], 10, labels=False)]
    return table, "y", ("band",)


def other_unit(rng: Rng) -> Planted:
    """Plant the number in another unit, rounded."""
    table = of_numbers(rng)
    table["inches"] = (table["y"] / 2.54).round(1)
    return table, "y", ("inches",)


def total(rng: Rng) -> Planted:
    """Plant the two parts that add up to the number."""
    table = of_numbers(rng)
    share = rng.uniform(0.2, 0.8, len(table))
    table["net"] = (table["y"] * share).round(3)
    table["tax"] = (table["y"] - table["net"]).round(3)
    return table, "y", ("net", "tax")


def three_bins(rng: Rng) -> Planted:
    """Plant three levels of the number."""
    table = of_numbers(rng)
    table["level"] = np.array(["low", "middle", "high"])[pd.qcut(table["y"], 3, labels=False)]
    return table, "y", ("level",)


# Groups and time


def grouped(rng: Rng, is_number: bool, name: str, codes: Callable[[np.ndarray], np.ndarray], per_group: int) -> Planted:
    """Return rows that come several to a group, close together, with a target of the group's own."""
    groups = np.repeat(np.arange(N // per_group), per_group)
    centres = 2.0 * rng.standard_normal((groups.max() + 1, 5))
    points = centres[groups] + 0.3 * rng.standard_normal((len(groups), 5))
    own = rng.standard_normal(groups.max() + 1)[groups] + 0.3 * centres[groups, 0]
    table = pd.DataFrame(points, columns=[f"m{j}" for j in range(5)])
    table[name] = codes(groups)
    noisy = own + 0.3 * rng.standard_normal(len(groups))
    table["y"] = 20.0 + 5.0 * noisy if is_number else np.where(noisy > 0, "ill", "well")
    return table.sample(frac=1, random_state=2).reset_index(drop=True), "y", (name,)


def patients(rng: Rng) -> Planted:
    """Plant visits of patients, for classes."""
    return grouped(rng, False, "patient_id", lambda groups: 1000 + groups, 6)


def machines(rng: Rng) -> Planted:
    """Plant runs of machines with names, for classes."""
    return grouped(rng, False, "machine", lambda groups: np.array([f"M-{code:03d}" for code in groups]), 8)


def stores(rng: Rng) -> Planted:
    """Plant months of stores, for a number."""
    return grouped(rng, True, "store_id", lambda groups: 50 + groups, 6)


def routes(rng: Rng) -> Planted:
    """Plant years of routes with names, for a number."""
    return grouped(rng, True, "route", lambda groups: np.array([f"R{code}x" for code in 7 * groups]), 4)


def drifting(rng: Rng, is_number: bool, name: str, times: pd.Series, *, turns: bool) -> Planted:
    """Return rows whose target changes its meaning, or its level, with time."""
    n = len(times)
    table = pd.DataFrame(rng.standard_normal((n, 4)), columns=[f"m{j}" for j in range(4)])
    when = np.linspace(-1, 1, n)
    angle = 2.2 * when
    tells = np.cos(angle) * table["m0"] + np.sin(angle) * table["m1"] if turns else table["m0"] + 3.0 * when
    table["m3"] += 1.5 * when  # so that models can tell the time
    noisy = tells + 0.4 * rng.standard_normal(n)
    table["y"] = 10.0 + 2.0 * noisy if is_number else np.where(noisy > 0, "up", "down")
    table[name] = times.to_numpy()
    return table.sample(frac=1, random_state=3).reset_index(drop=True), "y", (name,)


def days() -> pd.Series:
    """Return a day for each row."""
    return pd.Series(pd.date_range("2021-03-01", periods=N, freq="D"))


def turning_days(rng: Rng) -> Planted:
    """Plant days along which classes change their meaning."""
    return drifting(rng, False, "day", days(), turns=True)


def turning_years(rng: Rng) -> Planted:
    """Plant years along which classes change their meaning."""
    return drifting(rng, False, "year", pd.Series(np.repeat(np.arange(1990, 2010), N // 20)), turns=True)


def turning_dates_of_numbers(rng: Rng) -> Planted:
    """Plant dates along which a number changes its meaning."""
    return drifting(rng, True, "sold_on", days(), turns=True)


def rising_dates_of_numbers(rng: Rng) -> Planted:
    """Plant dates along which a number rises."""
    return drifting(rng, True, "date", days(), turns=False)


# New ones, made after the others had been looked at


def several_copies(rng: Rng) -> Planted:
    """Plant a code for each class of three, and a text that says the same."""
    table = plain(rng)
    codes = np.clip(np.round(signal(table) / 2 + 0.8 * rng.standard_normal(N)) + 1, 0, 2).astype(int)
    table["y"] = np.array(["low", "mid", "top"])[codes]
    table["outcome_code"] = 10 * codes + 3
    table["outcome_text"] = [f"result {code}" for code in codes]
    return table, "y", ("outcome_code", "outcome_text")


def one_sided_gap(rng: Rng) -> Planted:
    """Plant a date that is there for one class only."""
    table = of_classes(rng)
    when = pd.Series(pd.date_range("2019-01-01", periods=N, freq="D")).sample(frac=1, random_state=5).to_numpy()
    table["refund_date"] = pd.Series(when).where(table["y"] == "yes")
    return table, "y", ("refund_date",)


def balance(rng: Rng) -> Planted:
    """Plant what came in and what went out, of which the label is the sign."""
    table = of_classes(rng)
    table["paid_in"] = rng.gamma(3.0, 100.0, N).round(2)
    change = rng.gamma(2.0, 20.0, N).round(2) + 0.01
    table["paid_out"] = table["paid_in"] + np.where(table["y"] == "yes", change, -change)
    return table, "y", ("paid_in", "paid_out")


def squared(rng: Rng) -> Planted:
    """Plant the square of the number, with a little noise."""
    table = of_numbers(rng)
    table["area"] = table["y"] ** 2 * (1 + 0.002 * rng.standard_normal(N))
    return table, "y", ("area",)


def product(rng: Rng) -> Planted:
    """Plant price and quantity of an amount."""
    table = of_numbers(rng)
    table["quantity"] = rng.integers(6, 60, N).astype(float)
    table["price"] = table["y"] / table["quantity"]
    return table, "y", ("quantity", "price")


def five_grades(rng: Rng) -> Planted:
    """Plant five grades of the number, of unequal size."""
    table = of_numbers(rng)
    cuts = table["y"].quantile([0.1, 0.3, 0.7, 0.9]).to_numpy()
    table["grade"] = np.array(list("EDCBA"))[np.searchsorted(cuts, table["y"])]
    return table, "y", ("grade",)


def students(rng: Rng) -> Planted:
    """Plant tests of students, nine each, for classes."""
    return grouped(rng, False, "student_no", lambda groups: 9000 + 13 * groups, 9)


def households(rng: Rng) -> Planted:
    """Plant members of households, five each, for a number."""
    return grouped(rng, True, "household", lambda groups: np.array([f"H{code:05d}" for code in 31 * groups]), 5)


def turning_hours(rng: Rng) -> Planted:
    """Plant moments, hours apart, along which classes change their meaning."""
    times = pd.Series(pd.date_range("2023-05-01 06:00", periods=N, freq="7h"))
    return drifting(rng, False, "recorded_at", times, turns=True)


def rising_years_of_numbers(rng: Rng) -> Planted:
    """Plant years along which a number rises."""
    return drifting(rng, True, "year", pd.Series(np.repeat(np.arange(1984, 2020), N // 36)), turns=False)


DESIGN = [copied_label, known_afterwards, telling_id, logarithm, ratio, ten_bins, patients, stores, turning_days]
DESIGN += [rising_dates_of_numbers, nearly_copied_label, later_than, model_score, other_unit, total, three_bins]
DESIGN += [machines, routes, turning_years, turning_dates_of_numbers]
HELD_OUT = [several_copies, one_sided_gap, balance, squared, product, five_grades, students, households]
HELD_OUT += [turning_hours, rising_years_of_numbers]
PLANTED = {make.__name__: make for make in (*DESIGN, *HELD_OUT)}


# Clean tables


def clean(name: str) -> tuple[pd.DataFrame, str]:
    """Return a table in which nothing is planted; the number at the end of the name seeds it."""
    kind, seed = name.rsplit(" ", 1)
    rng = np.random.default_rng([7, int(seed)])
    if kind in ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        found = getattr(datasets, f"load_{kind}")(as_frame=True).frame
        return found.sample(min(len(found), 300), random_state=int(seed)).reset_index(drop=True), "target"
    table = of_numbers(rng) if kind.endswith("number") else of_classes(rng)
    n = len(table)
    what = kind.rsplit(" ", 1)[0]
    if what == "date":
        table["date"] = pd.date_range("2020-01-01", periods=n, freq="D")
    elif what == "year":
        table["year"] = rng.integers(1995, 2015, n)
    elif what == "id":
        table["customer_id"] = rng.integers(1, n // 5, n)
    elif what == "row id":
        table["id"] = np.arange(n) + 1
    elif what == "strong column":
        noise = 0.12 * rng.standard_normal(n)
        if kind.endswith("number"):
            table["strong"] = np.log(table["y"]) + noise
        else:
            table["strong"] = (table["y"] == "yes") + 2.0 * noise
    elif what == "gaps":
        table.loc[rng.random(n) < 0.3, "m1"] = np.nan
    elif what == "sorted":
        table = table.sort_values("y").reset_index(drop=True)
    elif what == "easy":
        table["y"] = np.where(table["m0"] + table["m1"] > 0, "yes", "no")
    elif what == "town":
        table["town"] = [f"town {code}" for code in rng.integers(0, 40, n)]
    return table, "y"


_OF_CLASSES = ("plain", "date", "year", "id", "row id", "strong column", "gaps", "sorted", "easy", "town")
_OF_NUMBERS = ("plain", "date", "year", "id", "row id", "strong column", "gaps", "sorted", "town")
_CLEAN = [f"{what} classes" for what in _OF_CLASSES] + [f"{what} number" for what in _OF_NUMBERS]
CLEAN = {
    "design": [f"{kind} 0" for kind in ["iris", *_CLEAN]],
    "held-out": [f"{kind} 1" for kind in ["wine", "breast_cancer", "diabetes", "digits", *_CLEAN[:8], *_CLEAN[10:18]]],
}


def table_of(name: str) -> Planted:
    """Return a table by its name, and what is planted in it."""
    if name in PLANTED:
        return PLANTED[name](np.random.default_rng([11, sorted(PLANTED).index(name)]))
    return *clean(name), ()


def measure(half: str, name: str) -> dict:
    """Report on one table, and hold the headline against what was planted."""
    table, target, columns = table_of(name)
    _, seconds, report = timed(lambda: difficulty_report(table, target, n_jobs=1))
    reasons = [reason for reason in report.verdict.reasons if reason.in_headline]
    named = {column for reason in reasons for column in reason.columns}
    headline = " ".join(report.summary["answer"])
    is_right = set(columns) <= named and all(column in headline for column in columns) if columns else not reasons
    return {
        "half": half,
        "name": name,
        "planted": list(columns),
        "kinds": [reason.kind for reason in reasons],
        "named": sorted(named),
        "is_right": bool(is_right),
        "headline": headline,
        "seconds": round(seconds, 1),
    }


def run(half: str, workers: int) -> None:
    """Measure the tables of a half that were not measured yet."""
    done = {(record["half"], record["name"]) for record in read_records(RECORDS)}
    planted = [make.__name__ for make in (DESIGN if half == "design" else HELD_OUT)]
    keys = [(half, name) for name in (*planted, *CLEAN[half])]
    measure_all(measure, [key for key in keys if key not in done], RECORDS, workers)


def quick() -> None:
    """Print how many tables the checks without training name what was planted in, and how many clean ones they name."""
    how, found, alarms, seconds = check_options(n_jobs=1, device="cpu"), [], [], []
    for name in [*PLANTED, *CLEAN["design"], *CLEAN["held-out"]]:
        table, target, columns = table_of(name)
        ready = read_table(table, target=target)
        source = source_of(ready, None, None, task=ready.task)
        _, taken, said = timed(lambda source=source: quick_checks(source, how))
        seconds.append(taken)
        if columns:
            found.append(all(column in said.sentence() for column in columns))
        elif said.sentence():
            alarms.append(name)
    n_clean = len(seconds) - len(found)
    print(f"{sum(found)} of {len(found)} planted tables are found; false alarms on {len(alarms)} of {n_clean} {alarms}")
    print(f"processor seconds: median {np.median(seconds):.2f}, most {max(seconds):.2f}")


def write_table() -> None:
    """Write the page."""
    records = sorted(read_records(RECORDS), key=lambda record: (record["half"], not record["planted"], record["name"]))
    counts = []
    for half in ("design", "held-out"):
        own = [record for record in records if record["half"] == half]
        found = [record["is_right"] for record in own if record["planted"]]
        alarms = [not record["is_right"] for record in own if not record["planted"]]
        counts.append((half, f"{sum(found)} of {len(found)}", f"{sum(alarms)} of {len(alarms)}"))
    rows = [
        (
            *(record["half"], record["name"], ", ".join(record["planted"]) or "–", ", ".join(record["named"]) or "–"),
            *("yes" if record["is_right"] else "**no**", record["seconds"]),
        )
        for record in records
    ]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    heads = as_table(("half", "planted and named in the headline", "false alarms"), counts)
    tables = as_table(("half", "table", "planted", "named", "right", "s"), rows)
    first = [f"- *{record['name']}*: {record['headline']}" for record in records if record["planted"]]
    write_page("trust", "# Trust in the headline", about, heads, "## Tables", tables, "## Headlines", "\n".join(first))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table", "quick"])
    parser.add_argument("--half", choices=["design", "held-out"], default="design")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.half, chosen.workers)
    elif chosen.what == "quick":
        quick()
    else:
        write_table()
