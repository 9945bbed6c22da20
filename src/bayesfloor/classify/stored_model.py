"""Model files: a trained estimator and the preparation of its table, written by skops.

A pickle runs whatever code its writer put in. What skops writes is a zip file of a description in JSON and of plain
arrays. Only types that skops itself knows to be harmless are ever made; any other is refused before anything is built.

The file holds the parts that predictions need, as plain arrays and lists::

    format        version of this layout
    kind          which estimator it is; as its class calls it
    parts         its fitted attributes that predictions need, as `bayesfloor.learn.records` writes them
    columns       how many columns it was fitted to, and their names
    preparation   how a table becomes rows for it; None where it was fitted to an array of numbers

The estimator is put together again from its parts. Parts that do not go together are refused, and so are parts that
this version does not know: leaving one out would change predictions.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.model_archive import no_model, pack
from bayesfloor.data.prepared_table import Table
from bayesfloor.learn.records import to_plain
from bayesfloor.runtime.text import counted
from bayesfloor.tables.preparation import Preparation

#: Letters in the name of a class: in an array of predictions, each row takes as much as the longest name.
MOST_LETTERS = 1000
#: Version of the layout.
FORMAT = "bayesfloor model 9"


class StoredModel:
    """Base class of estimators that a file can hold.

    Attributes
    ----------
    stored_as : str
        What files call the estimator.
    stored_parts : dict of str to annotation
        Its fitted attributes that predictions need, beside classes or a tree of them.
    takes_tables : bool
        Whether it predicts from a table, with codes and gaps, rather than from its numbers.
    """

    stored_as: ClassVar[str]
    stored_parts: ClassVar[dict[str, Any]]
    takes_tables: ClassVar[bool] = False

    def save(self, path: str | Path) -> None:
        """Write the trained model to a file that holds no code; `bayesfloor.load_model` reads it."""
        check_is_fitted(self)
        Path(path).write_bytes(pack_model(Model(self, getattr(self, "preparation_", None))))

    def check_stored(self, n_features: int) -> None:
        """Raise ValueError where attributes that were read do not go together, with so many columns of numbers."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier or regressor, and how to make rows ready for it."""

    estimator: Any
    preparation: Preparation | None

    @property
    def of_table(self) -> Preparation:
        """How a table becomes rows."""
        if self.preparation is None:
            raise ValueError("the model was fitted to an array, not to a table: bayesfloor.load_model reads it")
        return self.preparation

    def rows_of(self, table: Table) -> Any:
        """Return the rows of a table as the estimator takes them: a stack takes codes and gaps beside numbers."""
        return table if self.estimator.takes_tables else table.X

    def ask(self, method: str, table: Table, **more: Any) -> NDArray[Any]:
        """Ask the estimator for the rows of a table.

        Raises
        ------
        ValueError
            Where what was read does not go together, which shows when it is asked.
        """
        ask = getattr(self.estimator, method)
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(ask(self.rows_of(table), **more))
        except Exception as error:
            raise no_model("The model", error) from error
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise no_model("The model", ValueError("it predicts what is no finite number"))
        return found


def pack_model(model: Model) -> bytes:
    """Return the contents of a model file."""
    estimator = model.estimator
    check_letters(estimator)
    parts = {name: to_plain(getattr(estimator, name)) for name in estimator.stored_parts}
    if hasattr(estimator, "tree_"):
        parts["tree_"] = estimator.tree_.to_dict()
    elif hasattr(estimator, "classes_"):
        parts["classes_"] = estimator.classes_.tolist()
    names = getattr(estimator, "feature_names_in_", None)
    return pack(
        {
            "format": FORMAT,
            "kind": estimator.stored_as,
            "parts": parts,
            "columns": [estimator.n_features_in_, None if names is None else names.tolist()],
            "preparation": None if model.preparation is None else model.preparation.to_dict(),
        }
    )


def check_letters(estimator: Any) -> None:
    """Refuse names of classes that are too long, when a model is written and when it is read."""
    labels = getattr(estimator, "classes_", np.empty(0)).tolist()
    n_letters = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if n_letters > MOST_LETTERS:
        raise ValueError(f"a class has a name of {counted(n_letters)} letters; {counted(MOST_LETTERS)} are the most")
