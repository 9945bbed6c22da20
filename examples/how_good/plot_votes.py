"""
What if my annotators disagree?
===============================

Where annotators disagree about a row, no model can name the label that the next one gives. The
votes alone say how high an accuracy can be measured. Nothing is trained.

Twelve annotators have looked at 800 comments, three at each, and called them friendly, neutral or
rude. Some comments are clear; others are a matter of taste.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesfloor import vote_floor

rng = np.random.default_rng(0)
names = np.array(["friendly", "neutral", "rude"])
tone = rng.integers(3, size=800)
is_clear = rng.random(800) < 0.6
votes = np.full((800, 12), "", dtype=object)  # empty: not asked
for comment in range(800):
    chance = np.full(3, 0.02 if is_clear[comment] else 0.25)
    chance[tone[comment]] = 1.0 - 2.0 * chance[0]
    for annotator in rng.choice(12, 3, replace=False):
        votes[comment, annotator] = names[rng.choice(3, p=chance)]

floor = vote_floor(votes)
print(floor.sentence())

# %%
# The share of votes outside the majority of their row is the natural guess, and too low: of three
# votes, the majority follows the votes.

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
floor.plot(ax)
plt.show()

# %%
# Here the truth is known: an annotator is wrong in 4% of the clear comments, and in half of the
# others.

print(f"true floor {np.where(is_clear, 0.04, 0.5).mean():.3f}, estimate {floor.estimate:.3f}")

# %%
# What to do next
# ---------------
# A model that comes near ``1 - estimate`` is as good as can be measured. To see more, have each
# comment labelled by more annotators, and measure against their majority;
# ``floor.majority.ceiling`` says how high that goes:

for n_votes, ceiling in floor.majority.ceiling.items():
    print(f"against the majority of {n_votes}: at most {ceiling:.1%}")

# %%
# ``floor.annotators`` says who agrees with the others. More: :doc:`/votes`. On the command line
# it is ``bayesfloor votes votes.csv``.
