"""Several stores as one, joined along a dimension."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _hyperslab, _text
from ._arguments import check_tolerances
from ._errors import ArgumentError, Error, JoinWarning, NoFileError
from ._objects import Group, open, opened_object
from ._storage import JoinedStores, local
from ._stores import DEFAULTS
from ._warnings import warn

# How many gaps between stores are shown as warnings.
_MAX_GAPS = 10


def open_joined(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    path: str = "/",
    *,
    along: str | int | None = None,
    new_dimension: str | None = None,
    sort: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    **options: Any,
) -> Group:
    """Open several stores as one, concatenated along a dimension.

    sources: paths of files or folders, or patterns such as "2026-*.nc", in the order of the coordinates
    path: group to begin at, or array or pattern; only this is joined and compared, with the coordinates and bounds that it names.
        For an array or a pattern, the group with all of these is returned
    along: name of the dimension, or its position in arrays whose dimensions have no names [default: the unlimited dimension, or
        else the only one whose size or coordinates differ]
    new_dimension: instead, a dimension that the stores do not have, of which each store is one step; a scalar variable of this
        name provides its coordinates
    sort: join in the order of the coordinates instead of the given order
    rtol, atol: differences of floating-point numbers to ignore in what is not joined, such as other coordinates;
        the values of the first store are read

    The other options are those of `open`, except `storage_options`, because the stores must be on this machine. All stores are
    compared: they must have the same arrays, types, units and other attributes that define the meaning of values, and coordinates
    that follow one another. A `JoinWarning` names the coordinates that are missing between them. The `warnings` of the group also
    list other attributes that differ, of which those of the first store are kept. Only a few stores are open at the same time.
    """
    if unknown := options.keys() - DEFAULTS.keys():
        raise TypeError(f"open_joined() has no option {', '.join(sorted(unknown))}")
    if options.get("follow_links"):
        raise ArgumentError("follow_links=True is not supported for joined stores")
    stores, within = stores_and_path(sources)
    if within is not None and path not in ("/", within):
        raise ArgumentError(f"the sources name the path {within}, but path is {path}")
    within = within or (None if path == "/" else path)
    if len(stores) == 1 and along is None and new_dimension is None:
        # A single store needs no dimension to join along.
        return _group_at(open(stores[0], **options), within)
    joined = joined_stores(stores, within, along, new_dimension, sort, rtol, atol)
    try:
        root = opened_object(joined, "/", DEFAULTS | options, None)
    except Error as error:
        error.set_help([help.replace(", as FILE:/PATH", ', with path="/PATH"') for help in error.help])
        raise
    gaps = root._opened.file.gaps()
    for gap in gaps[:_MAX_GAPS]:
        warn(gap, JoinWarning)
    if len(gaps) > _MAX_GAPS:
        more = _text.counted(len(gaps) - _MAX_GAPS, "more gap")
        warn(f"{more}; `warnings` of the group lists all of them", JoinWarning)
    return _group_at(root, within)


def _group_at(root: Group, path: str | None) -> Group:
    """The group at a path; the root for an array or a pattern."""
    if path is None or (path not in root and _hyperslab.is_pattern(path)):
        return root
    found = root[path]
    return found if isinstance(found, Group) else root


def joined_stores(
    stores: list[str],
    path: str | None,
    along: str | int | None,
    new_dimension: str | None,
    sort: bool,
    rtol: float,
    atol: float,
) -> JoinedStores:
    """The stores to join, and how."""
    if isinstance(along, int) and not isinstance(along, bool) and along >= 0:
        along = str(along)
    if not (along is None or isinstance(along, str)):
        raise ArgumentError(f"along={along!r}, expected the name of a dimension, or a non-negative position")
    if not (new_dimension is None or isinstance(new_dimension, str)):
        raise ArgumentError(f"new_dimension={new_dimension!r}, expected the name of a dimension")
    if along is not None and new_dimension is not None:
        raise ArgumentError(f"along={along!r} and new_dimension={new_dimension!r}, expected one of them")
    check_tolerances(rtol=rtol, atol=atol)
    return JoinedStores(tuple(stores), path, along, new_dimension, bool(sort), float(rtol), float(atol))


def stores_and_path(sources: Any) -> tuple[list[str], str | None]:
    """The stores that paths and patterns name, and the path within them, which must be the same for all."""
    given = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    stores, paths = [], []
    for source in given:
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"cannot join {type(source).__name__}, expected paths of files or folders")
        text = local(source)
        if "://" in text:
            raise ArgumentError(f"{text} is not a local path, and only local files and folders can be joined")
        found = _hyperslab.stores_like(text)
        if found == [text] and _hyperslab.is_pattern(text) and not os.path.exists(_hyperslab.locate(text)[0]):
            raise NoFileError(f"{text}: nothing matches")
        for store, path in map(_hyperslab.locate, found):
            stores.append(store)
            paths.append(path)
    if not stores:
        raise ArgumentError("no stores were given, expected at least one")
    for store, path in zip(stores, paths, strict=True):
        if path != paths[0]:
            raise ArgumentError(f"{store}: the path differs from that of {stores[0]}")
    return stores, paths[0]
