"""The verbs of the command line: what they print there is returned as values here.

Each takes a path, ``"STORE:/PATH"`` as on the command line, an open `Group` or `Array`, or anything else that `hyperslab.open`
accepts. None of them holds the GIL; Ctrl-C stops them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import _hyperslab
from ._arguments import (
    Layout,
    Location,
    Progress,
    check_tolerances,
    document_path,
    layout,
    place,
    selections,
    split,
    stored,
    target,
    target_path,
    telling,
    words,
    write_options,
)
from ._differences import Difference, Found, Report
from ._errors import ArgumentError, DocumentWarning, FormatError
from ._joined import joined_stores, stores_and_path
from ._losses import LossReport, reported
from ._objects import Array, Group
from ._reports import (
    ArrayStat,
    Description,
    Digest,
    DigestLine,
    Folder,
    ListedObject,
    ListedStore,
    Listing,
    Statistics,
    record,
)
from ._storage import JoinedStores, storage_of
from ._stores import DEFAULTS, joining, named
from ._warnings import warn

Target = str | os.PathLike[str]
Select = str | Sequence[str] | Mapping[str, Any]


def describe(
    x: Location,
    values: int | bool | None = None,
    *,
    format: Literal["ndl", "cdl", "json"] = "ndl",
    storage: Literal["brief", "full", "none"] = "brief",
    depth: int | None = None,
    pure: bool = False,
    follow_links: bool = False,
) -> Description:
    """Describe the content as Ndarray Data Language text, from which `create` makes it again, or as CDL or JSON.

    values: write the values of arrays with at most this many elements; True for all
    storage: how much to say about chunks, filters and the like
    depth: levels of groups below the one that is described
    pure: write NDL 0.6.1 without extensions
    """
    if format not in ("ndl", "cdl", "json"):
        raise ArgumentError(f"format={format!r}, expected ndl, cdl or json")
    most = (2**64 - 1 if values else None) if isinstance(values, bool) else values
    text, about = _hyperslab.describe(
        place(x), format, values=most, storage=storage, depth=depth, pure=pure, follow_links=follow_links
    )
    described = Description(text)
    vars(described).update(about)
    return described


def ls(
    x: Location = ".", *, recursive: bool = False, attrs: bool = False, follow_links: bool = False
) -> Listing | Folder:
    """List the objects of a store or a group, those that match a pattern (``"ocean.nc:/**/t*"``), or the stores in a folder."""
    if isinstance(x, (str, os.PathLike)):
        store, path = split(x)
        if path is None and _hyperslab.is_folder(os.fspath(store)):
            rows, errors = _hyperslab.ls_folder(os.fspath(store))
            return Folder(os.fspath(store), [ListedStore(**row) for row in rows], errors)
    at = place(x)
    rows, about, errors = _hyperslab.ls(at, recursive=recursive, attrs=attrs, follow_links=follow_links)
    group, about["recursive"] = about["group"], recursive
    path = at[2] if group is None else None if group == "/" else group
    shown = at[1] if path is None else f"{at[1]}:{path}"
    return Listing(shown, [record(ListedObject, row) for row in rows], about, errors)


def stat(x: Location, *, values: bool = False, decode: bool = False, select: Select = ()) -> Statistics:
    """Report how arrays are stored: bytes, chunks, filters, advice.

    values: include extremes and means; decode: of the values after decoding by CF attributes; select: only of a part
    """
    texts = selections(select)
    has_values = values or decode or bool(texts)
    rows, errors = _hyperslab.stat(place(x), values=has_values, decode=decode, select=texts)
    return Statistics([ArrayStat.of(row) for row in rows], errors, has_values)


def digest(x: Location, *, progress: Progress = None) -> Digest:
    """Hash the content of each object and attribute, independently of format, chunks, compression and byte order."""
    with telling(progress, "digest") as tell:
        return Digest([record(DigestLine, row) for row in _hyperslab.digest(place(x), progress=tell)])


def diff(
    a: Location,
    b: Location,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    ulp: int = 0,
    order: bool = False,
    storage: bool = False,
    max: int = 20,
    select: Select = (),
    progress: Progress = None,
) -> Difference:
    """Compare two stores, groups, arrays or attributes of any formats.

    rtol, atol, ulp: differences of floating-point numbers to ignore
    order: compare the order of members; storage: compare chunks, filters and byte order
    max: number of differing elements to list for each array
    """
    check_tolerances(rtol=rtol, atol=atol, ulp=ulp, max=max)
    rules = {"rtol": float(rtol), "atol": float(atol), "ulp": ulp, "order": order, "storage": storage, "max": max}
    one, other = place(a), place(b)
    with telling(progress, "diff") as tell:
        rows, about = _hyperslab.diff(one, other, {**rules, "select": selections(select)}, progress=tell)
    return Difference([Found.of(row) for row in rows], about, (one[1], other[1]), rules)


def check(
    x: Location,
    conventions: str | None = None,
    *,
    rules: str | Sequence[str] | None = None,
    standard_names: Target | None = None,
    against: Target | None = None,
    strict: bool = False,
    lenient: bool = False,
    pure: bool = False,
    quick: bool = False,
    verbose: bool = False,
) -> Report:
    """Find violations of the rules of the format, of conventions such as "CF-1.11" or "auto", or of a contract.

    rules: rules of conventions to check or, after a minus, to leave out; standard_names: standard name table of CF as XML
    against: an NDL document that the data must agree with
    strict, lenient, pure: how strictly NDL is read; quick: do not decode chunks
    verbose: also report small pieces of unused space, which sound files have, and content that a contract does not name
    """
    if isinstance(x, (Group, Array)):
        location, path, opened = x._opened.location, None if x.name == "/" else x.name, x._opened
        settings, of_storage = opened.options, opened.storage_options
    else:
        location, path = split(x)
        settings, of_storage = dict(DEFAULTS), None
    if path is not None:
        raise ArgumentError(f"{path} is part of a store, but only whole stores can be checked")
    if isinstance(location, JoinedStores):
        raise ArgumentError(f"{location} is a join of several stores; check each of them separately")
    name = os.fspath(location) if isinstance(location, (str, os.PathLike)) else type(location).__name__
    checking = {
        "conventions": conventions,
        "rules": None if rules is None else ",".join(words(rules)),
        "standard_names": document_path(standard_names),
        "against": document_path(against),
        "strict": strict,
        "lenient": lenient,
        "pure": pure,
        "quick": quick,
        "verbose": verbose,
    }
    return Report(name, _hyperslab.check(storage_of(location, of_storage), name, settings, checking))


def convert(
    src: Location,
    dst: Target | None = None,
    *,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    dry_run: bool = False,
    verify: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    sync: bool = False,
    select: Select = (),
    follow_links: bool = False,
    chunk: Layout = None,
    shard: Layout = None,
    filters: Layout = None,
    endian: Layout = None,
    fill: Layout = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> LossReport:
    """Write the same content in another format or layout. `dst` appears when it is complete.

    format: name of the format [default: inferred from the name of `dst`]
    allow_loss: kinds of losses that are accepted, or "all"; any other loss raises `LossError` before anything is written
    dry_run: only plan; verify: read back and compare digests
    overwrite: replace an existing store; resume: continue an interrupted run; sync: wait for the disk
    select: a part of the elements, by positions or labels of dimensions
    chunk, shard: a shape ``(8, 256, 256)``, sizes by dimension ``{"time": 8}``, or a string such as "4MiB", "whole" or "none"
    filters: a string such as "shuffle,zstd=3", or a list as in `Array.filters`
    endian: "little" or "big"; fill: the value of elements that were never written
        each of these can also be given by path pattern: ``{"/waves/**": (8, 256), None: "4MiB"}``
    options: options of the format: ``{"hdf5.userblock": 512}``
    """
    rules = layout(chunk, shard, filters, endian, fill)
    writing = write_options(
        format, allow_loss, options, rules, overwrite=overwrite, dry_run=dry_run, verify=verify, resume=resume, sync=sync
    )
    source, path = stored(src), target(dst)
    with telling(progress, "convert") as tell:
        writing["progress"] = tell
        answer = _hyperslab.convert(source, path, writing, select=selections(select), follow_links=follow_links)
    return reported(source["store"], path, answer, dry_run, writing["allow_loss"])


def repack(
    src: Location,
    dst: Target,
    *,
    allow_loss: str | Iterable[str] = (),
    dry_run: bool = False,
    verify: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    sync: bool = False,
    chunk: Layout = None,
    shard: Layout = None,
    filters: Layout = None,
    endian: Layout = None,
    fill: Layout = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> LossReport:
    """Write a store again in its own format, with another layout or just without unused space. Arguments as for `convert`."""
    source, path = stored(src), target_path(dst)
    if source["file"] is not None:
        raise ArgumentError(f"{source['store']} has no path, but only files and folders can be repacked")
    rules = layout(chunk, shard, filters, endian, fill)
    writing = write_options(
        None, allow_loss, options, rules, overwrite=overwrite, dry_run=dry_run, verify=verify, resume=resume, sync=sync
    )
    with telling(progress, "repack") as tell:
        writing["progress"] = tell
        answer = _hyperslab.repack(source, path, writing)
    return reported(source["store"], path, answer, dry_run, writing["allow_loss"])


def concat(
    sources: str | os.PathLike[str] | Iterable[Location],
    dst: Target | None = None,
    *,
    along: str | int | None = None,
    new_dimension: str | None = None,
    sort: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    dry_run: bool = False,
    verify: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    sync: bool = False,
    select: Select = (),
    chunk: Layout = None,
    shard: Layout = None,
    filters: Layout = None,
    endian: Layout = None,
    fill: Layout = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> LossReport:
    """Concatenate several stores along a dimension and write them as one. Other arguments as for `convert`.

    sources: the stores to join, or a pattern such as "2026-*.nc"
    along: name of the dimension, or its position in arrays whose dimensions have no names [default: the unlimited dimension, or
        else the only one whose size or coordinates differ]
    new_dimension: instead, a dimension that the stores do not have, of which each store is one step; a scalar variable of this
        name provides its coordinates
    sort: join in the order of the coordinates instead of the given order
    rtol, atol: differences of floating-point numbers to ignore in what is not joined, such as other coordinates;
        the values of the first store are written
    """
    if isinstance(sources, (Group, Array)):
        raise ArgumentError(f"{named(sources._opened)} is a single store; use convert to write it, even if it was joined")
    given = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    patterns = [one for one in given if isinstance(one, (str, os.PathLike))]
    if len(patterns) == len(given):
        stores, path = stores_and_path(given)
        given = [store if path is None else f"{store}:{path}" for store in stores]
    listed = [stored(source) for source in given]
    for source in listed:
        if source["file"] is not None:
            raise ArgumentError(f"{source['store']} has no path, but only files and folders can be joined")
        if (source["path"], source["open"]) != (listed[0]["path"], listed[0]["open"]):
            raise ArgumentError(f"{source['store']}: the path or options differ from those of {listed[0]['store']}")
    first = listed[0]
    stores = [source["store"] for source in listed]
    joined = joined_stores(stores, first["path"], along, new_dimension, sort, rtol, atol)
    rules = layout(chunk, shard, filters, endian, fill)
    writing = write_options(
        format, allow_loss, options, rules, overwrite=overwrite, dry_run=dry_run, verify=verify, resume=resume, sync=sync
    )
    with telling(progress, "concat") as tell:
        writing["progress"] = tell
        answer = _hyperslab.concat(
            joining(joined, first["open"]),
            target(dst),
            writing,
            how=first["how"],
            select=selections(select),
        )
    return reported(str(joined), target(dst), answer, dry_run, writing["allow_loss"])


def create(
    document: str | bytes | os.PathLike[str] | Mapping[str, Any],
    dst: Target | None = None,
    *,
    format: str | None = None,
    strict: bool = False,
    lenient: bool = False,
    pure: bool = False,
    allow_loss: str | Iterable[str] = (),
    dry_run: bool = False,
    verify: bool = False,
    overwrite: bool = False,
    sync: bool = False,
    chunk: Layout = None,
    shard: Layout = None,
    filters: Layout = None,
    endian: Layout = None,
    fill: Layout = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> LossReport:
    """Create a store from an NDL document. Other arguments as for `convert`.

    document: a path; the text itself, as bytes or as a string of several lines; or the document as a JSON-like mapping
    strict, lenient, pure: how strictly the document is read; errors in it raise a FormatError with `report`
    """
    text = _document(document)
    reading = {"file": None if text is not None else document, "text": text, "strict": strict, "lenient": lenient, "pure": pure}
    rules = layout(chunk, shard, filters, endian, fill)
    writing = write_options(
        format, allow_loss, options, rules, overwrite=overwrite, dry_run=dry_run, verify=verify, sync=sync
    )
    name, path = "document" if text is not None else os.fspath(document), target(dst)  # type: ignore[arg-type]
    if path is None and not dry_run:
        raise ArgumentError("no target; give one, or set dry_run=True")
    with telling(progress, "create") as tell:
        writing["progress"] = tell
        findings, answer = _hyperslab.create(reading, path, writing)
    report = Report(name, findings)
    if answer is None:
        wrong = [finding for finding in report if finding.severity == "error"]
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        error = FormatError(f"{name}: {wrong[0].message}{more}" if wrong else f"{name}: nothing can be created")
        error.detail, error.file = wrong[0].message if wrong else "", name
        error.report = report
        raise error
    done = reported(name, path, answer, dry_run, writing["allow_loss"])
    done.document = report
    _warn_of(report)
    return done


def _warn_of(document: Report) -> None:
    """Warn about parts of a document that have no meaning."""
    found = [finding for finding in document if finding.severity == "warning"]
    for finding in found[:_MOST_WARNED]:
        at = "" if finding.line is None else f":{finding.line}:{finding.column}"
        hint = f"; {finding.hint}" if finding.hint else ""
        warn(f"{document.store}{at}: {finding.message}{hint}", DocumentWarning)
    if len(found) > _MOST_WARNED:
        warn(f"{document.store}: {len(found) - _MOST_WARNED} more; `document` of the report lists all of them", DocumentWarning)


# How many findings in a document are shown as warnings.
_MOST_WARNED = 10


def _of_numpy(value: Any) -> Any:
    """NumPy values in a document as Python values."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufU":
        return value.tolist()
    raise TypeError(
        f"a document contains {type(value).__name__}, expected strings, numbers, lists, mappings, and NumPy arrays of strings or"
        " numbers"
    )


def _document(document: Any) -> bytes | None:
    if isinstance(document, Mapping):
        return json.dumps(document, default=_of_numpy).encode()
    if isinstance(document, str) and "\n" in document:
        return document.encode()
    return bytes(document) if isinstance(document, (bytes, bytearray, memoryview)) else None
