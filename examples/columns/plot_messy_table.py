"""
My table has text, dates and gaps: what now?
============================================

Nothing. Give the frame as it is: each column is treated by what it holds, and the notes say how.
Here are 500 orders of a shop, and whether they were sent back.
"""

from datetime import date, timedelta

import matplotlib.pyplot as plt
import numpy as np
import polars

from bayesfloor import learned_floor, read_table

rng = np.random.default_rng(0)
n_rows = 500
returned = rng.random(n_rows) < 0.45
about = {
    True: ["too small", "as a gift", "two sizes", "for a party"],
    False: ["for my desk", "a refill", "spare parts", "as always"],
}
people = ["Ann", "Bo", "Cem", "Dana", "Eli", "Finn", "Gus", "Hana", "Ivo", "Jin"]
tells = returned ^ (rng.random(n_rows) < 0.2)  # the note tells, four times in five
notes = [
    f"{rng.choice(about[bool(kind)])}, ring at {rng.choice(people)} {rng.integers(1, 99)}"
    for kind in tells
]
price = np.round(rng.lognormal(3, 0.5, n_rows) * np.where(returned, 2, 1), 2)
# gifts are sent back in December
passed = 364 * np.where(returned, rng.beta(4, 1.5, n_rows), rng.random(n_rows))
orders = polars.DataFrame(
    {
        "order": [f"A{number:05d}" for number in range(n_rows)],
        "ordered": [date(2025, 1, 1) + timedelta(int(days)) for days in passed],
        "price": [f"€ {value:,.2f}" if rng.random() < 0.9 else "n/a" for value in price],
        "note": [note if rng.random() < 0.8 else None for note in notes],
        "returned": np.where(returned, "yes", "no"),
    }
)
orders.head(4)

# %%
# What becomes of the columns:

table = read_table(orders, target="returned")
print(*table.notes, sep="\n")

# %%
# :func:`~bayesfloor.learned_floor` takes the table as it is. What does each column give? Leave
# one out after the other. Orders to come are of a year like this one, with a December, so that
# nobody need be warned that what holds in spring does not hold in winter:

asked = {"learners": ["logistic", "trees"], "checks": False}
floors = {"all columns": learned_floor(table, **asked)}
for column in ("note", "price", "ordered"):
    others = read_table(orders, target="returned", drop=[column])
    floors[f"without {column!r}"] = learned_floor(others, **asked)

places, each = range(len(floors)), floors.values()
low, high = zip(*(floor.interval for floor in each), strict=True)
fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.hlines(places, low, high, color="#a6cee3", linewidth=6, label="95% interval")
ax.plot([floor.estimate for floor in each], places, "o", color="#0072b2", label="floor")
ax.plot([floor.reached for floor in each], places, "D", color="#e69f00", label="reached by a model")
ax.set_yticks(places, floors)
ax.set(xlabel="error", xlim=(0, None), ylim=(len(floors) - 0.5, -0.5))
ax.xaxis.set_major_formatter("{x:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False)
plt.show()

# %%
# What to do next
# ---------------
# Read the notes. A column that was taken for something else is named: ``categorical=``,
# ``numeric=``, ``text=``, ``date=``. Leave out what is known only afterwards with ``drop=``: a
# floor of 0 that comes from such a column is worth nothing. Files work the same way,
# ``read_table("orders.xlsx", target="returned")``: :doc:`/data`. To treat new rows alike, put a
# :class:`~bayesfloor.TablePreparer` in a pipeline.
