"""Text: where it lies along the main directions of hashed n-grams."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.tables.columns import Column, RawTable, TextColumn
from bayesfloor.tables.readings import TextReading
from bayesfloor.tables.treatments import Treatment, is_array

#: Hash buckets of n-grams, maximum number of texts to learn directions from, and maximum number of directions.
_N_BUCKETS, _MOST_TEXTS, _N_DIRECTIONS = 4096, 4000, 30
#: Maximum number of letters of a text to read.
_MOST_LETTERS = 2000
#: Mean length of texts, in letters, above which words are counted and not letters: short texts have too few words.
_LONG_TEXT = 40
#: Texts whose coordinates spread less than this coincide, up to rounding.
_LEAST_SPREAD = 1e-9
#: N-grams of letters and of words, as HashingVectorizer takes them.
_N_GRAMS: dict[str, dict[str, Any]] = {
    "letters": {"analyzer": "char_wb", "ngram_range": (3, 4)},
    "words": {"analyzer": "word", "ngram_range": (1, 2)},
}


@dataclass(frozen=True, eq=False)
class TextFeatures(Treatment):
    """Text: where it lies along the main directions of hashed n-grams.

    Attributes
    ----------
    unit : str
        "letters" for three and four letters within words, "words" for single words and pairs of them.
    weights : ndarray of shape (n_buckets,)
        Rare n-grams weigh more.
    directions : ndarray of shape (n_buckets, n_directions)
        The directions, ready scaled.
    """

    unit: str = "letters"
    weights: Floats = field(default_factory=lambda: np.zeros(_N_BUCKETS))
    directions: Floats = field(default_factory=lambda: np.zeros((_N_BUCKETS, 0)))

    kind = "text"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names such as review: direction 1."""
        return tuple(f"{self.name}: direction {number + 1}" for number in range(self.directions.shape[1]))

    def apply(self, column: Column, table: RawTable) -> Floats:
        """Return the place along each direction; 0 where there is no text."""
        assert isinstance(column, TextColumn)
        places = np.zeros((len(column.categories) + 1, self.directions.shape[1]))
        if column.categories:
            places[:-1] = n_gram_counts(column.categories, self.unit) @ (self.weights[:, np.newaxis] * self.directions)
        return places[column.codes]

    def tabular(self, column: Column, features: Floats) -> tuple[Floats, list[str], bool]:
        """Return the same, with gaps."""
        assert isinstance(column, TextColumn)
        values = features.copy()
        values[column.codes < 0] = np.nan
        return values, list(self.feature_names), False

    def check(self) -> None:
        """Refuse arrays of another shape, and numbers that texts do not lead to."""
        n = self.directions.shape[1] if isinstance(self.directions, np.ndarray) and self.directions.ndim == 2 else -1
        self.refuse_unless(
            isinstance(self.reading, TextReading),
            isinstance(self.unit, str) and self.unit in _N_GRAMS,
            1 <= n <= _N_DIRECTIONS,
            is_array(self.weights, (_N_BUCKETS,), 1.0, 2.0 + np.log(_MOST_TEXTS)),
            is_array(self.directions, (_N_BUCKETS, n), -2.0 / _LEAST_SPREAD, 2.0 / _LEAST_SPREAD),
        )


def n_gram_counts(texts: Sequence[str], unit: str) -> Any:
    """Count n-grams, hashed into buckets; each row has length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(n_features=_N_BUCKETS, alternate_sign=False, norm="l2", **_N_GRAMS[unit])
    return vectorizer.transform(text[:_MOST_LETTERS] for text in texts)


def learn_text(column: TextColumn, reading: TextReading) -> TextFeatures:
    """Learn the main directions of the different texts, in an order that the rows have no part in."""
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits

    texts = sorted(column.categories)
    texts = texts[:: max(1, -(-len(texts) // _MOST_TEXTS))]
    unit = "words" if np.mean([len(text) for text in texts]) > _LONG_TEXT else "letters"
    counts = n_gram_counts(texts, unit)
    n_with = np.bincount(counts.indices, minlength=_N_BUCKETS)
    weights = np.log((1.0 + len(texts)) / (1.0 + n_with)) + 1.0
    n_directions = max(1, min(_N_DIRECTIONS, len(texts) - 1))
    with threadpool_limits(1):  # the same directions with any number of threads
        svd = TruncatedSVD(n_directions, random_state=0).fit(counts.multiply(weights).tocsr())
        directions = np.ascontiguousarray(svd.components_.T)
        places = counts @ (weights[:, np.newaxis] * directions)
    spread = float(places.std(axis=0).max())
    directions = directions / (spread if spread > _LEAST_SPREAD else 1.0)
    return TextFeatures(column.name, unit, weights, directions, lenient=True, reading=reading)
