"""
Words or letters?
=================

Short texts of six kinds, the lines of six modules of Python. Which columns tell them apart: words,
pairs of letters, or both? Vectorisers are fitted in each training set alone, so that no word of a
test text is known before.
"""

import inspect
import json
import random
import string
import textwrap
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from bayesfloor import compare_features

modules = [random, string, textwrap, json, import_module("heapq"), import_module("calendar")]
texts, kinds = [], []
for module in modules:
    lines = [
        line.strip() for line in inspect.getsource(module).splitlines() if len(line.strip()) > 25
    ]
    texts += lines[:90]
    kinds += [module.__name__] * len(lines[:90])

short = {"random_state": 0, "n_components": 20}
features = {
    "words": make_pipeline(TfidfVectorizer(), TruncatedSVD(**short)),
    "letters": make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(2, 3)), TruncatedSVD(**short)
    ),
    "length": np.array([[len(text), text.count(" ")] for text in texts]),
    "words and letters": ["words", "letters"],
}
compared = compare_features(
    features, kinds, X=texts, learners=["logistic", "kernels"], effort="fast"
)
print(compared.sentence())

# %%
# The floor of each, and what is reached with the texts at hand:

compared.plot()
plt.show()

# %%
# What to do next
# ---------------
# Where a curve still falls, more texts help more than another vectoriser does. An embedding of a
# language model takes part as an array with a row for each text. More: :doc:`/compare`.
