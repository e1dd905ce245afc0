"""Groups and arrays as HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ._stores import named

if TYPE_CHECKING:
    from ._objects import Array, Group

# The maximum number of members of a group that are shown.
_MAX_MEMBERS = 200


def group_html(group: Group) -> str:
    """A group: its dimensions, its members with shapes and types, and its attributes."""
    head = f"<b>{escape(group.name)}</b> of {escape(named(group._opened))} ({escape(group.format)})"
    dims = ", ".join(
        f"{escape(name)}: {dim.size}{' (unlimited)' if dim.unlimited else ''}" for name, dim in group.dims.items()
    )
    rows = []
    for name, (path, kind, told) in list(group._listed().items())[:_MAX_MEMBERS]:
        if kind in ("array", "coordinate"):
            array = group[path]
            rows.append((escape(name), _shape(array), escape(array.datatype), _stored(array)))
        else:
            rows.append((escape(name), kind, escape(str(told)) if told and kind != "dimension" else "", ""))
    left = len(group) - len(rows)
    more = f"<p>and {left} more</p>" if left > 0 else ""
    return f"<div>{head}<p>Dimensions: {dims or 'none'}</p>{_table(rows)}{more}{_attributes(group.attrs)}</div>"


def array_html(array: Array) -> str:
    """An array: its shape, type and storage, and its attributes."""
    rows = [
        ("shape", _shape(array)),
        ("type", escape(array.datatype)),
        ("storage", _stored(array)),
        ("size", f"{array.nbytes:,} bytes, {array.stored():,} stored"),
    ]
    return f"<div><b>{escape(array.path)}</b>{_table(rows)}{_attributes(array.attrs)}</div>"


def _shape(array: Array) -> str:
    sides = zip(array.dims, array.shape, strict=False)
    return f"({', '.join(f'{escape(dim)}: {size}' if dim else str(size) for dim, size in sides)})"


def _stored(array: Array) -> str:
    words = []
    if array.shards:
        words.append(f"shards of {array.shards}")
    if array.chunks:
        words.append(f"chunks of {array.chunks}")
    words += [name for name, _ in array.filters]
    return escape(", ".join(words) or "not chunked")


def _attributes(attrs: dict[str, Any]) -> str:
    if not attrs:
        return ""
    rows = [(escape(name), escape(str(value)[:500])) for name, value in attrs.items()]
    return f"<details><summary>Attributes ({len(rows)})</summary>{_table(rows)}</details>"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{cells}</table>"
