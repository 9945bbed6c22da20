"""What a model file unpacks to, checked before and after skops makes objects of it.

The file is a zip of a description in JSON, ``schema.json``, and of arrays that it names. What `pack` writes is not
compressed and each array is named once, so that what is read takes a multiple of the size of the file, and no more. A
file of ours holds plain values: no other type is made of it, whatever skops thinks of it.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesfloor.runtime.text import listed, shortened

#: Bytes that a model file may unpack to; a linear model of 1000 classes and 100 000 columns takes 0.8 GB.
UNPACKED_MODEL_LIMIT = 2**30
#: Bytes of its description. A value takes about 200, so that this is 300 000 values of categories; read, it takes up to
#: 20 times as much memory.
SCHEMA_LIMIT = 2**26
#: Maximum number of values in a model file; a shared value counts once per reference.
MOST_VALUES = 2**20
#: Maximum length of a message about a damaged file.
MOST_LETTERS = 200

#: Types beyond those that skops trusts by itself: `SimpleImputer` keeps that of what it was fitted on.
_HARMLESS = ["numpy.dtype"]

_SCHEMA = "schema.json"
#: What plain values are described as: by loader, module and class.
_PLAIN_NODES = {
    ("DictNode", "builtins", "dict"),
    ("ListNode", "builtins", "list"),
    ("TupleNode", "builtins", "tuple"),
    ("JsonNode", "builtins", "str"),
    ("TypeNode", "builtins", "str"),  # of the keys of a dict
    ("NdArrayNode", "numpy", "ndarray"),
}


def pack(stored: dict[str, Any]) -> bytes:
    """Return the contents of a file that holds plain values.

    Raises
    ------
    ValueError
        Where they are so large that `unpack` would refuse them.
    """
    from skops import io as skops_io  # type: ignore[import-untyped]

    contents = bytes(skops_io.dumps(stored))
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        too_large = _too_large(archive)
    if too_large:
        raise ValueError(
            f"{too_large}, which 'predict' would refuse to read; take fewer rows (--max-rows), less effort, or leave "
            "out columns of very many values (--drop)"
        )
    return contents


def unpack(contents: bytes, name: str) -> Any:
    """Return what skops has written, where it is made of known types alone.

    Parameters
    ----------
    contents : bytes
        Of the file.
    name : str
        Of the file.

    Returns
    -------
    dict or object
        A dict holds plain values alone: text, finite numbers, None, arrays of them, and lists, tuples and dicts of all
        these. Anything else is made of types that skops knows to be harmless.

    Raises
    ------
    ValueError
        For anything else; types that are not known are listed, and none of their code is run.
    """
    from skops import io as skops_io

    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            if too_large := _too_large(archive):
                raise ValueError(too_large)
            schema = json.loads(archive.read(_SCHEMA))
            is_plain = schema["__loader__"] == "DictNode"
            if is_plain and _unpacked_size(archive) > len(contents):
                raise ValueError("it is compressed")
        _check_references(schema)
        _check_arrays(schema)
        unknown = set(skops_io.get_untrusted_types(data=contents)).difference(_HARMLESS)
    except Exception as error:  # whatever a damaged description makes skops stumble over
        raise no_model(name, error) from error
    if unknown:
        names = listed([shortened(each, MOST_LETTERS) for each in sorted(unknown)])
        raise ValueError(f"{name} holds types that are not known, and is refused: {names}")
    try:
        if not is_plain:
            return skops_io.loads(contents, trusted=_HARMLESS)
        _check_types(schema)
        stored = skops_io.loads(contents)
        _check_values(stored)
        return stored
    except Exception as error:
        raise no_model(name, error) from error


def no_model(name: str, error: Exception) -> ValueError:
    """Return an error that says in one short line why a file is no model."""
    why = shortened(f"{type(error).__name__}: {error}", MOST_LETTERS)
    return ValueError(f"{name} is not a model that 'bayesfloor fit' wrote, or it is damaged ({why})")


def _unpacked_size(archive: zipfile.ZipFile) -> int:
    return sum(member.file_size for member in archive.infolist())


def _too_large(archive: zipfile.ZipFile) -> str:
    """Say what of a model is too large; nothing where it is not."""
    if _unpacked_size(archive) > UNPACKED_MODEL_LIMIT:
        return f"the model takes more than {UNPACKED_MODEL_LIMIT / 2**30:g} GiB"
    if archive.getinfo(_SCHEMA).file_size > SCHEMA_LIMIT:
        return f"the description of the model takes more than {SCHEMA_LIMIT / 2**20:g} MiB"
    return ""


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Walk through what a description describes."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            if "__loader__" in node:
                yield node


def _check_references(schema: Any) -> None:
    """Refuse a description in which one id stands for two things: for the second of them, skops takes the first.

    Parts of one size stay so when they are exchanged. So what is made of a description is as large as it is, and no
    list can hold another twice, and so on, until nothing can walk through it.
    """
    size_of: dict[Any, int] = {}

    def size(node: Any) -> int:
        if isinstance(node, list):
            return sum(map(size, node))
        if not isinstance(node, dict):
            return 1
        own = 1 + sum(map(size, node.values()))
        if node.get("__id__") and size_of.setdefault(node["__id__"], own) != own:
            raise ValueError("it refers to itself")
        return own

    size(schema)


def _check_arrays(schema: Any) -> None:
    """Refuse a description that names an array twice: unless by the same id, skops reads it as often."""
    id_of: dict[str, Any] = {}
    for node in _nodes(schema):
        if "file" in node and (id_of.setdefault(node["file"], node["__id__"]) != node["__id__"] or not node["__id__"]):
            raise ValueError("it names an array twice")


def _check_types(schema: Any) -> None:
    """Refuse a description of anything but plain values."""
    for node in _nodes(schema):
        if (node["__loader__"], node["__module__"], node["__class__"]) not in _PLAIN_NODES:
            raise ValueError(f"it holds a {node['__class__']}, and not plain values alone")


def _check_values(stored: Any) -> None:
    """Refuse numbers that are not finite or beyond 64 bits, keys that are no text, and values that are too many."""
    waiting, n_values = [("", stored)], 0
    while waiting:
        name, value = waiting.pop()
        n_values += 1
        if n_values > MOST_VALUES:
            raise ValueError(f"it holds more than {MOST_VALUES} values")
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise ValueError(f"{name!r} has keys that are no text")
            waiting += value.items()
        elif isinstance(value, list | tuple):
            waiting += [(name, each) for each in value]
        elif isinstance(value, np.ndarray):
            if value.dtype.kind not in "biuf":
                raise ValueError(f"the array {name!r} has another type than it should have")
            if not np.isfinite(value).all():
                raise ValueError(f"the array {name!r} holds values that are no finite numbers")
        elif isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise ValueError(f"{name!r} holds a number of more than 64 bits")
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name!r} holds a number that is not finite")
