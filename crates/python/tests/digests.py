"""Content digests of elements in NumPy arrays, computed in Python alone.

The type of an array is read from its canonical text, which is part of a digest, and the NumPy array must have that type.
"""

from __future__ import annotations

import importlib.util
import math
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ORACLES = Path(__file__).resolve().parents[3] / "xtask" / "oracles"


def oracle(name: str) -> Any:
    """A module from the folder of oracles, whose name may also be that of a module here."""
    known = f"oracles_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, ORACLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[known] = module
    return sys.modules[known]


_HASHED = oracle("hashed")
digest: Callable[[str, Any, Iterable[bytes]], str] = _HASHED.digest
string: Callable[[bytes], bytes] = _HASHED.string


class Type(NamedTuple):
    """A type: its word, the types that it contains, the names of its members, and its numbers."""

    word: str
    of: tuple[Type, ...] = ()
    names: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


# The NumPy kinds of datetimes and durations.
TIMES = {"datetime": "M8", "timedelta": "m8"}

# The units of times that h5py stores as opaque elements.
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")

NUMBERS = {
    **{f"{sign}int{8 * size}": f"{sign[:1] or 'i'}{size}" for size in (1, 2, 4, 8) for sign in ("", "u")},
    "float16": "f2",
    "float32": "f4",
    "float64": "f8",
    "float128": "V16",
    "int128": "V16",
    "uint128": "V16",
    "complex64": "c8",
    "complex128": "c16",
    "bool": "?",
}


_WORD = re.compile(r"u?int\d+|b?float\d*|complex\d*|[a-z]+(?=\()|bool|string|objref|regref|reference")


def parsed(text: str) -> Type:
    """The type that a canonical text describes."""
    for found, end in _types(text, 0):
        if end == len(text):
            return found
    raise ValueError(f"{text!r} is not a type")


def _types(text: str, at: int) -> Iterator[tuple[Type, int]]:
    """The types that may begin at a position, and where they end. There may be several, since member names may contain anything."""
    found = _WORD.match(text, at)
    if not found:
        return
    word, at = found[0], found.end()
    if text[at : at + 1] != "(":
        yield Type(word), at
        return
    at += 1
    if word == "compound":
        yield from _members(text, at, ())
    elif word in ("vlen", "nullable", "complex", "enum", "array"):
        for base, end in _types(text, at):
            if word == "enum":
                yield from ((Type(word, (base,), names), last) for names, last in _labels(text, end))
            elif word == "array" and (sizes := re.compile(r";([\d,]*)\)").match(text, end)):
                yield Type(word, (base,), (), tuple(map(int, filter(None, sizes[1].split(","))))), sizes.end()
            elif word not in ("enum", "array") and text[end : end + 1] == ")":
                yield Type(word, (base,)), end + 1
    elif told := re.compile(r"([^()]*)\)").match(text, at):
        yield Type(word, (), (told[1],), tuple(map(int, re.findall(r"^\d+", told[1])))), told.end()


def _members(text: str, at: int, before: tuple[tuple[str, Type], ...]) -> Iterator[tuple[Type, int]]:
    if text[at : at + 1] == ")":
        yield Type("compound", tuple(of for _, of in before), tuple(name for name, _ in before)), at + 1
        return
    at += bool(before)
    for colon in (found.start() for found in re.compile(":").finditer(text, at)):
        for of, end in _types(text, colon + 1):
            if text[end : end + 1] in (";", ")"):
                yield from _members(text, end, (*before, (text[at:colon], of)))


def _labels(text: str, at: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """The names of an enumeration, each with its value; there may be none."""
    if text.startswith(";)", at):
        yield (), at + 2
    for last in re.compile(r"=-?\d+\)").finditer(text, at):
        yield tuple(re.findall(r";(.*?)=-?\d+(?=[;)])", text[at : last.end()])), last.end()


def dtypes_of(of: Type) -> list[np.dtype[Any]]:
    """The dtypes that elements may have if their type contains no other types."""
    bits = of.numbers[0] if of.numbers else 0
    if of.word == "bfloat16":
        import ml_dtypes

        return [np.dtype(ml_dtypes.bfloat16)]
    if of.word in TIMES:
        (unit,) = of.names
        return [np.dtype(TIMES[of.word] if unit == "generic" else f"{TIMES[of.word]}[{unit}]")]
    if of.word == "bitfield" and bits in (8, 16, 32, 64):
        return [np.dtype(f"<u{bits // 8}")]
    if of.word in ("bitfield", "float"):
        return [np.dtype(f"V{math.ceil(bits / 8)}")]
    if of.word == "opaque":
        times = [np.dtype(f"{order}{kind}8[{unit}]") for order in "<>" for kind in "Mm" for unit in UNITS] if bits == 8 else []
        return [np.dtype(f"V{bits}"), *times]
    if of.word == "time":
        return [np.dtype(f"u{bits // 8}")]
    if of.word in NUMBERS:
        return [np.dtype(NUMBERS[of.word])]
    size = math.ceil(int(re.sub(r"\D", "", of.word)) / 8)
    return [np.dtype(f"{of.word[0]}{1 << (size - 1).bit_length()}")]


class Encoder:
    """Makes the canonical bytes of elements. `rank_of` returns the rank of the array that a reference points to."""

    def __init__(self, rank_of: Callable[[str], int]) -> None:
        self._rank_of = rank_of

    def encoded(self, of: Type, values: np.ndarray) -> bytes:
        """The bytes of elements along the first axis; further axes belong to elements that are arrays."""
        rows = self._rows(of, values)
        return rows.tobytes() if isinstance(rows, np.ndarray) else b"".join(rows)

    def _rows(self, of: Type, values: np.ndarray) -> np.ndarray | list[bytes]:
        """The bytes of each element: rows of an array if all have the same length, otherwise a list."""
        if of.word == "array":
            count = math.prod(of.numbers)
            inner = values.reshape(len(values) * count, *values.shape[1 + len(of.numbers) :])
            rows = self._rows(of.of[0], inner)
            if isinstance(rows, np.ndarray):
                return rows.reshape(len(values), count * rows.shape[1])
            return [b"".join(rows[at * count : (at + 1) * count]) for at in range(len(values))]
        if values.ndim != 1:
            raise TypeError(f"elements of {of.word} have the shape {values.shape[1:]}")
        if isinstance(values, np.ma.MaskedArray) and of.word == "nullable":
            rows, nulls = self._rows(of.of[0], values.data), np.ma.getmaskarray(values)
            return [b"\0" if null else b"\1" + bytes(row) for null, row in zip(nulls, rows, strict=True)]
        if of.word == "compound" and values.dtype.kind != "O":
            return self._members(of, values)
        if of.word == "complex":
            return self._members(Type("compound", of.of * 2, ("r", "i")), values)
        if values.dtype.kind in "OSU":
            return [self.element(of, value) for value in values]
        if of.word == "enum":
            is_boolean = of.names == ("FALSE", "TRUE") and values.dtype == "?"
            return self._rows(of.of[0], values.view("i1") if is_boolean else values)
        if values.dtype not in dtypes_of(of):
            raise TypeError(f"elements of {of.word} are of the dtype {values.dtype}")
        little = np.ascontiguousarray(values).view("u1").reshape(len(values), values.dtype.itemsize)
        # Integers of a size that NumPy does not have are stored in the next larger one.
        return little[:, : math.ceil(int(re.sub(r"\D", "", of.word)) / 8)] if "int" in of.word else little

    def _members(self, of: Type, values: np.ndarray) -> np.ndarray | list[bytes]:
        if values.dtype.kind == "c":
            part = np.dtype(f"f{values.dtype.itemsize // 2}")
            values = np.ascontiguousarray(values).view([("r", part), ("i", part)])
        if values.dtype.names != of.names:
            raise TypeError(f"members {of.names} have the names {values.dtype.names}")
        columns = [self._rows(member, values[name]) for name, member in zip(of.names, of.of, strict=True)]
        if all(isinstance(column, np.ndarray) for column in columns):
            return np.hstack(columns)
        return [b"".join(bytes(part) for part in parts) for parts in zip(*columns, strict=True)]

    def element(self, of: Type, value: Any) -> bytes:
        """The bytes of an element that is an object."""
        if of.word == "nullable":
            return b"\0" if value is None else b"\1" + self.element(of.of[0], value)
        if of.word == "string":
            return string(value.encode() if isinstance(value, str) else bytes(value))
        if of.word in ("objref", "regref", "reference"):
            return self._reference(of.word, value)
        if of.word == "vlen":
            return struct.pack("<Q", len(value)) + self.encoded(of.of[0], np.asarray(value))
        if of.word == "array":
            return self.encoded(of, np.asarray(value)[None])
        if of.word == "compound":
            return b"".join(self.element(member, part) for member, part in zip(of.of, value, strict=True))
        if of.word == "enum":
            return self.element(of.of[0], value)
        return self.encoded(of, np.array([value], dtypes_of(of)[0]))

    def _reference(self, word: str, text: str | None) -> bytes:
        """The bytes of a reference. Its text is a path or a mapping; a reference that points nowhere has none."""
        import yaml

        if not text:
            null = b"\xff" * 8 + (struct.pack("<BQQ", 0, 0, 0) if word == "regref" else b"")
            return b"\0" if word == "reference" else null
        told = yaml.safe_load(text) if text.startswith("{") else {"target": text}
        if "address" in told:
            # A target that is not in the file has no path.
            target = f"{told['file']}:address {told['address']}" if "file" in told else f"address {told['address']}"
            if "attribute" in told:
                return string(f"{target} attribute {told['attribute']}".encode())
            is_object = told.keys() <= {"file", "address"}
            return string(target.encode()) if is_object else string(f"{target} region".encode()) + self._region(told)
        target = string(told["target"].encode())
        if "attribute" in told:
            return b"\3" + target + string(told["attribute"].encode())
        if len(told) == 1:
            return (b"\1" if word == "reference" else b"") + target
        return (b"\2" if word == "reference" else b"") + target + self._region(told)

    def _region(self, told: dict[str, Any]) -> bytes:
        if "all" in told or "none" in told:
            return struct.pack("<BQQ", 3 if "all" in told else 0, self._rank_of(told["target"]) if "target" in told else 0, 0)
        if "elements" in told:
            kind, coordinates = 1, told["elements"]
        else:
            blocks = told["blocks"] if "blocks" in told else [told]
            kind, coordinates = 2, [[*block["start"], *block["opposite"]] for block in blocks]
        rank = len(coordinates[0]) // kind
        return struct.pack("<BQQ", kind, rank, len(coordinates)) + np.array(coordinates, "<u8").tobytes()
