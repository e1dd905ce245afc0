"""Conversion of Python and NumPy values to the elements that a store declares: nothing wraps, is truncated or loses its mask."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

# Dtypes whose elements are whole numbers in memory.
_COUNTED = "iuMm"


def prepared(values: Any) -> np.ndarray:
    """Values as the library takes them: in native byte order, members of compounds without gaps, strings as objects."""
    array = np.asarray(values)
    if array.dtype.kind in "UT":
        return array.astype(object)
    kind = native(array.dtype)
    return array if kind == array.dtype else array.astype(kind)


def native(dtype: np.dtype) -> np.dtype:
    """The same dtype in native byte order, with packed members."""
    if dtype.kind in "UT":
        return np.dtype(object)
    if (of := sequence(dtype)) is not None:
        return _sequences(native(of))
    if dtype.fields is not None:
        return np.dtype([(name, native(of[0])) for name, of in dtype.fields.items()])
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((native(base), shape))
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def sequence(dtype: np.dtype) -> np.dtype | None:
    """The item dtype of sequences, marked as in h5py: ``h5py.vlen_dtype("i4")``."""
    if dtype.kind != "O" or not dtype.metadata:
        return None
    of = dtype.metadata.get("vlen")
    return None if of is None or of in (str, bytes) else np.dtype(of)


def _sequences(of: np.dtype) -> np.dtype:
    return np.dtype(object, metadata={"vlen": of})


def elements(place: str, values: Any, dtype: np.dtype | None = None, fill: Any = None) -> np.ndarray:
    """Values as elements of a dtype [default: their own].

    fill: the replacement for masked values

    Values that the dtype cannot hold are an error, as are masked values without a fill value.
    """
    kind = None if dtype is None else native(np.dtype(dtype))
    if kind is not None and sequence(kind) is not None:
        return cast(place, _in_rows(values), kind)
    given = prepared(_filled(place, values, fill))
    if kind is None:
        found = _found_sequences(given)
        kind = native(given.dtype) if found is None else found
    return cast(place, given, kind)


def _in_rows(values: Any) -> np.ndarray:
    """Sequences as objects, even if they all have the same length."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return values
    rows = list(values)
    given = np.empty(len(rows), object)
    for index, row in enumerate(rows):
        given[index] = row
    return given


def _found_sequences(given: np.ndarray) -> np.dtype | None:
    """The sequence dtype of objects that are all arrays, if their dtype states it or they all have the same dtype."""
    if given.dtype.kind != "O":
        return None
    if given.dtype.metadata and "vlen" in given.dtype.metadata:
        return native(given.dtype) if sequence(given.dtype) is not None else None
    kinds = {item.dtype for item in given.flat if isinstance(item, np.ndarray)}
    if len(kinds) != 1 or not all(isinstance(item, np.ndarray) for item in given.flat):
        return None
    return native(_sequences(kinds.pop()))


def fill_element(place: str, value: Any, dtype: np.dtype) -> np.ndarray:
    """A fill value as an element. An integer may be given as a float, and a time as its count."""
    if dtype.names is not None:
        return np.array(value, dtype)
    given = prepared(value)
    is_count = dtype.kind in "iu" and given.dtype.kind == "f" and bool(np.all((given == np.rint(given)) & (abs(given) < 2**63)))
    if is_count or (dtype.kind in "Mm" and given.dtype.kind in "iu"):
        given = given.astype("i8") if is_count else given.astype(dtype)
    return cast(place, given, dtype)


def _filled(place: str, values: Any, fill: Any) -> Any:
    """Values with masked ones replaced by the fill value."""
    if not np.ma.is_masked(values):
        return values
    if fill is None:
        raise ValueError(f"{place}: masked values without a fill value; give one, or fill them")
    return values.filled(fill_element(place, fill, values.dtype.newbyteorder("="))[()])


def _check_texts(place: str, array: np.ndarray) -> None:
    for item in array.flat:
        if not isinstance(item, (str, bytes)):
            raise TypeError(f"{place}: an element of type {type(item).__name__}, {_instead(item)}")


def _instead(item: Any) -> str:
    """What to write instead of an object that is not a string."""
    if item is None:
        return "expected a string; write an empty string for a missing one"
    if isinstance(item, int) and not -(2**63) <= item < 2**64:
        return f"{item}, expected an integer of at most 64 bits"
    if hasattr(item, "isoformat"):
        return "expected a string; use np.array(…, dtype='datetime64[us]') for times"
    if isinstance(item, (np.ndarray, list, tuple)):
        return "expected a string; sequences of different lengths need a dtype such as h5py.vlen_dtype('i4')"
    return "expected a string"


def cast(place: str, given: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Elements converted to another dtype without changing their meaning."""
    own = given.dtype
    if (of := sequence(kind)) is not None:
        return _cast_sequences(place, given, kind, of)
    if own == kind and not own.hasobject:
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
        if own.kind != "O":
            raise TypeError(f"{place}: values of dtype {own}, expected strings")
        _check_texts(place, given)
        return given.copy()
    if kind.kind == "S" and own.kind in "OS":
        return _fixed(place, given, kind)
    counts = own.kind in "iu" and kind.kind in "iu"
    # NumPy's casting within "same_kind": integers become floats, and times those of another unit.
    if own.kind in "OSV" or kind.kind in "SV" or not (counts or np.can_cast(own, kind, "same_kind")):
        raise TypeError(f"{place}: values of dtype {own}, expected {kind}; convert them with astype() if that is intended")
    with np.errstate(over="ignore"):
        made = given.astype(kind)
    # Casting times to a finer unit can overflow, although NumPy calls it safe.
    if np.can_cast(own, kind) and own.kind not in "Mm":
        return made
    if kind.kind in "fc" and bool(np.any(np.isfinite(given) & ~np.isfinite(made))):
        raise ValueError(f"{place}: values that cannot be represented as {kind}")
    if own.kind in _COUNTED and kind.kind in _COUNTED and not np.array_equal(_counts(made.astype(own)), _counts(given)):
        raise ValueError(f"{place}: values that cannot be represented as {kind}")
    # A number that wraps into the sign bit survives the round trip, so compare signs.
    if counts and own.kind != kind.kind and given.size and bool(np.any((given < 0) != (made < 0))):
        raise ValueError(f"{place}: values that cannot be represented as {kind}")
    return made


def _cast_sequences(place: str, given: np.ndarray, kind: np.dtype, of: np.dtype) -> np.ndarray:
    if given.dtype.kind != "O":
        raise TypeError(f"{place}: values of dtype {given.dtype}, expected sequences of {of}")
    made = np.empty(given.shape, kind)
    for index, item in np.ndenumerate(given):
        where = f"{place}, element {', '.join(map(str, index))}"
        if item is None or isinstance(item, (str, bytes)) or (not isinstance(item, np.ndarray) and not hasattr(item, "__len__")):
            raise TypeError(f"{where}: a value of type {type(item).__name__}, expected a sequence of {of}")
        if len(item) == 0:
            own = np.empty(0, of)
        elif sequence(of) is not None:
            own = cast(where, _in_rows(item), of)
        else:
            own = cast(where, prepared(item), of)
        if own.ndim != 1:
            raise TypeError(f"{where}: a value with {own.ndim} dimensions, expected a sequence of {of}")
        # Stores are written later, when the program may have changed its array.
        made[index] = own.copy()
    return made


def _counts(array: np.ndarray) -> np.ndarray:
    return array.view("i8") if array.dtype.kind in "Mm" else array


def _fixed(place: str, given: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Strings with a fixed number of bytes, in UTF-8."""
    encoded = [item.encode() if isinstance(item, str) else item for item in given.reshape(-1).tolist()]
    longest = max(map(len, encoded), default=0)
    if longest > kind.itemsize:
        raise ValueError(f"{place}: a string of {longest} bytes, expected at most {kind.itemsize}")
    return np.array(encoded, kind).reshape(given.shape)


def attribute(value: Any) -> np.ndarray:
    """An attribute as an array. It has no dimensions for a string or a number, or for JSON: that of `None`, of a mapping, or of a
    list that does not consist of numbers or strings only."""
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
    are_texts = all(isinstance(item, (str, bytes)) for item in array.flat)
    if array.dtype.kind == "O" and not are_texts and _found_sequences(array) is None:
        raise TypeError(f"an attribute of type {type(value).__name__}, expected strings or numbers")
    return elements("an attribute", array)


def _is_document(items: list[Any]) -> bool:
    """Whether only JSON can represent a list, as read from Zarr attributes: it has mappings, nulls, or items of several kinds."""
    if any(item is None or isinstance(item, dict) for item in items):
        return True
    inner = [item for item in items if isinstance(item, list)]
    if inner:
        return len(inner) < len(items) or len({len(item) for item in inner}) > 1 or any(map(_is_document, inner))
    return len({isinstance(item, str) for item in items}) > 1
