"""The preparation of tables as a scikit-learn transformer."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.data.labels import check_labels
from bayesfloor.data.numbers import check_numbers
from bayesfloor.runtime.arrays import Floats
from bayesfloor.tables.arguments import at_hand
from bayesfloor.tables.chunked import chunks_like, joined_rows
from bayesfloor.tables.columns import RawTable
from bayesfloor.tables.frames import is_eager_frame, raw_of_array, raw_of_frame
from bayesfloor.tables.options import ReadOptions, as_names, kinds_given
from bayesfloor.tables.prepare import make_table
from bayesfloor.tables.readings import UnseenValues
from bayesfloor.tables.targets import Labels, number_labels


class TablePreparer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Make numbers of a data frame, each column by what it holds, as `read_table` does.

    To be put in front of any estimator in a Pipeline. Values that were not there in training, gaps, further columns
    and columns in another order are taken; a column that is missing is an error.

    Parameters
    ----------
    encode : {"onehot", "ordinal", "drop"} or None, default=None
        What to do with categories; None decides by the number of values.
    scale : {"standard", "minmax", "none"}, default="standard"
        How to scale numbers.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        How to fill missing numbers; None for the median, plus a was-missing flag where there are enough gaps.
    drop, categorical, numeric, text, date : str or sequence of str, default=()
        Columns to leave out, and columns whose kind is given.

    Attributes
    ----------
    preparation_ : Preparation
        What was learnt.
    columns_ : tuple of ColumnSummary
        What each column holds, and what is done with it.
    notes_ : tuple of str
        The same in sentences.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X is a data frame.

    See Also
    --------
    read_table : The same for files, with the labels.

    Notes
    -----
    A category with many values becomes the shares of the classes among rows of the same value, or the mean of a y that
    holds numbers with fractions. `fit_transform` computes them for each row from other rows, so that no row sees its
    own label; it differs there from `fit` and `transform`.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesfloor import TablePreparer
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0, 2.0], "color": ["red", "blue", "red", "red"]})
    >>> TablePreparer().fit_transform(frame).round(2).tolist()
    [[-1.41, 1.0], [0.0, 0.0], [1.41, 1.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        encode: str | None = None,
        scale: str = "standard",
        impute: str | None = None,
        drop: str | Sequence[str] = (),
        categorical: str | Sequence[str] = (),
        numeric: str | Sequence[str] = (),
        text: str | Sequence[str] = (),
        date: str | Sequence[str] = (),
    ) -> None:
        self.encode = encode
        self.scale = scale
        self.impute = impute
        self.drop = drop
        self.categorical = categorical
        self.numeric = numeric
        self.text = text
        self.date = date

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column holds.

        Parameters
        ----------
        X : data frame, lazy frame, Dask collection, path or array-like of shape (n_samples, n_features)
            The columns; of what is too large for memory, those of rows drawn at random.
        y : array-like of shape (n_samples,), default=None
            The labels; categories with many values need them.

        Returns
        -------
        TablePreparer
            This transformer.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats:
        """Learn what each column holds, and make numbers of it.

        Parameters
        ----------
        X, y
            As for `fit`.
        **fit_params
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        options = ReadOptions(
            encode=self.encode,
            scale=self.scale,
            impute=self.impute,
            drop=as_names(self.drop, "drop", X),
            kinds=kinds_given(X, categorical=self.categorical, numeric=self.numeric, text=self.text, date=self.date),
        )
        given, (X, beside) = X, at_hand(X, y=y)
        y = beside["y"]
        raw = self._columns_of(X, is_first=True)
        labels, kind = None, "unknown" if y is None else type_of_target(y)
        if kind in ("binary", "multiclass"):
            classes, codes = check_labels(y, raw.n_rows)
            labels = Labels(classes[codes], classes, codes, "")
        elif kind == "continuous":
            labels = number_labels(check_numbers(y, raw.n_rows), "y")
        table = make_table(raw, options, labels=labels, is_labelled=labels is not None)
        self.preparation_, self.columns_, self.notes_ = table.preparation, table.columns, table.notes
        return self.transform(given) if table.origin.is_drawn else table.X

    def transform(self, X: Any) -> Floats:
        """Make numbers of other rows.

        Parameters
        ----------
        X : data frame, lazy frame, Dask collection, path or array-like of shape (n_samples, n_features)
            The columns that `fit` saw, in any order; others are left out. What is not in memory is read chunk by chunk.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)

        Warns
        -----
        UserWarning
            Where something cannot be read as its column was in `fit`, and is taken for missing.
        """
        check_is_fitted(self)
        unseen = UnseenValues()
        chunks = chunks_like(X, self.preparation_)
        tables = [self._columns_of(X)] if chunks is None else chunks
        features = joined_rows(self.preparation_.apply(table, unseen) for table in tables)
        if unseen.unread:
            warnings.warn(unseen.unread_note(), UserWarning, stacklevel=2)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self.preparation_.feature_names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _columns_of(self, X: Any, *, is_first: bool = False) -> RawTable:
        """Return the columns of a frame, or of an array, called x0, x1 and so on."""
        if is_eager_frame(X) or isinstance(X, RawTable):
            raw = X if isinstance(X, RawTable) else raw_of_frame(X)
            if is_first:
                self.feature_names_in_, self.n_features_in_ = np.array(raw.names, dtype=object), len(raw.names)
            return raw
        points = validate_data(
            self, X, reset=is_first, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1 + is_first
        )
        return raw_of_array(points, "the array")
