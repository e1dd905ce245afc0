"""Values of Python and NumPy as the elements that a store declares: nothing wraps, is cut off or loses its mask on the way."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

# Dtypes whose elements are whole numbers in memory.
_COUNTED = "iuMm"


def prepared(values: Any) -> np.ndarray:
    """Values as the library takes them: in native byte order, members of compounds without gaps, texts as objects."""
    array = np.asarray(values)
    if array.dtype.kind in "UT":
        return array.astype(object)
    kind = native(array.dtype)
    return array if kind == array.dtype else array.astype(kind)


def native(dtype: np.dtype) -> np.dtype:
    """The same dtype in native byte order, with members one behind the other."""
    if dtype.kind in "UT":
        return np.dtype(object)
    if dtype.fields is not None:
        return np.dtype([(name, native(of[0])) for name, of in dtype.fields.items()])
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((native(base), shape))
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def elements(place: str, values: Any, dtype: np.dtype | None = None, fill: Any = None) -> np.ndarray:
    """Values as elements of a dtype [default: their own].

    fill: what masked values become

    Values that the dtype cannot hold are an error, as are masked values without a fill value.
    """
    given = prepared(_filled(place, values, fill))
    if given.dtype.kind == "O":
        _check_texts(place, given)
    return given if dtype is None else cast(place, given, native(np.dtype(dtype)))


def fill_element(place: str, value: Any, dtype: np.dtype) -> np.ndarray:
    """A fill value as an element. A whole number may be given as a fraction, and a time as its count."""
    if dtype.names is not None:
        return np.array(value, dtype)
    given = prepared(value)
    is_count = dtype.kind in "iu" and given.dtype.kind == "f" and bool(np.all(given == np.rint(given)))
    if is_count or (dtype.kind in "Mm" and given.dtype.kind in "iu"):
        given = given.astype("i8") if is_count else given.astype(dtype)
    return cast(place, given, dtype)


def _filled(place: str, values: Any, fill: Any) -> Any:
    """Values without a mask."""
    if not np.ma.is_masked(values):
        return values
    if fill is None:
        raise ValueError(f"{place}: masked values and no fill value, give one or fill them")
    return values.filled(fill_element(place, fill, values.dtype.newbyteorder("="))[()])


def _check_texts(place: str, array: np.ndarray) -> None:
    for item in array.flat:
        if not isinstance(item, (str, bytes)):
            raise TypeError(f"{place}: an element of type {type(item).__name__}, {_instead(item)}")


def _instead(item: Any) -> str:
    """What is written instead of an object that is no text."""
    if item is None:
        return "expected a text; write an empty text for a missing one"
    if isinstance(item, int):
        return f"{item}, which no integer of 64 bits holds"
    if hasattr(item, "isoformat"):
        return "expected a text; np.array(…, dtype='datetime64[us]') makes times"
    if isinstance(item, (np.ndarray, list, tuple)):
        return "expected a text; sequences of different lengths are written by documents, with create"
    return "expected a text"


def cast(place: str, given: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Elements of another dtype that mean the same."""
    own = given.dtype
    if own == kind:
        return given
    if kind.names is not None:
        if own.names != kind.names:
            raise TypeError(f"{place}: values of dtype {own}, expected {kind}")
        made = np.empty(given.shape, kind)
        for name in kind.names:
            made[name] = cast(f"{place}, member {name}", given[name], kind[name].base)
        return made
    if kind.kind == "O":
        if own.kind == "S":
            return given.astype(object)
        raise TypeError(f"{place}: values of dtype {own}, expected texts")
    if kind.kind == "S" and own.kind in "OS":
        return _fixed(place, given, kind)
    counts = own.kind in "iu" and kind.kind in "iu"
    # What NumPy takes for the same kind: whole numbers become fractions, and times those of another unit.
    if own.kind in "OSV" or kind.kind in "SV" or not (counts or np.can_cast(own, kind, "same_kind")):
        raise TypeError(f"{place}: values of dtype {own}, expected {kind}; convert them with astype() if that is meant")
    with np.errstate(over="ignore"):
        made = given.astype(kind)
    # Times of a coarser unit reach further than those of a finer one, which NumPy calls safe.
    if np.can_cast(own, kind) and own.kind not in "Mm":
        return made
    if kind.kind in "fc" and bool(np.any(np.isfinite(given) & ~np.isfinite(made))):
        raise ValueError(f"{place}: values that {kind} cannot hold")
    if own.kind in _COUNTED and kind.kind in _COUNTED and not np.array_equal(_counts(made.astype(own)), _counts(given)):
        raise ValueError(f"{place}: values that {kind} cannot hold")
    # Back and forth, a number that wraps into the sign is the same again.
    if counts and own.kind != kind.kind and given.size and bool(np.any((given < 0) != (made < 0))):
        raise ValueError(f"{place}: values that {kind} cannot hold")
    return made


def _counts(array: np.ndarray) -> np.ndarray:
    return array.view("i8") if array.dtype.kind in "Mm" else array


def _fixed(place: str, given: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Texts of a fixed number of bytes, in UTF-8."""
    encoded = [item.encode() if isinstance(item, str) else item for item in given.reshape(-1).tolist()]
    longest = max(map(len, encoded), default=0)
    if longest > kind.itemsize:
        raise ValueError(f"{place}: a text of {longest} bytes, expected at most {kind.itemsize}")
    return np.array(encoded, kind).reshape(given.shape)


def attribute(value: Any) -> np.ndarray:
    """An attribute as an array: of no dimensions for a text or a number, or for the JSON of `None`, of a mapping, or of a list
    that is none of numbers or texts only."""
    if isinstance(value, bytes):
        try:
            return np.array(value.decode(), dtype=object)
        except UnicodeDecodeError:
            return np.array(value)
    if value is None or isinstance(value, dict) or (isinstance(value, list) and _is_document(value)):
        return np.array(json.dumps(value, separators=(",", ":"), ensure_ascii=False), dtype=object)
    if isinstance(value, str):
        return np.array(value, dtype=object)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        texts = np.empty(len(value), dtype=object)
        texts[:] = value
        return texts
    array = prepared(_filled("an attribute", value, None))
    if array.dtype.kind == "O" and not all(isinstance(item, (str, bytes)) for item in array.flat):
        raise TypeError(f"an attribute of {type(value).__name__}, expected texts or numbers")
    return array


def _is_document(items: list[Any]) -> bool:
    """Whether a list is one that only JSON has, as attributes of Zarr are read: of mappings, nulls, or items of several kinds."""
    if any(item is None or isinstance(item, dict) for item in items):
        return True
    inner = [item for item in items if isinstance(item, list)]
    if inner:
        return len(inner) < len(items) or len({len(item) for item in inner}) > 1 or any(map(_is_document, inner))
    return len({isinstance(item, str) for item in items}) > 1
