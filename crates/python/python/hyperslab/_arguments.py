"""Arguments of the verbs, translated for the library."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from . import _hyperslab
from ._errors import ArgumentError
from ._indexing import label
from ._objects import Array, Group
from ._storage import local, storage_of
from ._stores import DEFAULTS, Opened, named

Location = Any
"""A path, ``"STORE:/PATH"``, a `Group`, an `Array`, or anything else that `hyperslab.open` takes."""

Progress = Callable[[str, int], object] | bool | None
"""Called with the path of an array and the bytes so far; True for a tqdm progress bar, if tqdm is installed."""

Layout = Any
"""A rule for all arrays, or a mapping of patterns such as ``/waves/**`` to rules."""


def place(x: Location) -> tuple[_hyperslab.File, str, str | None]:
    """The open store, its name, and the path of the selected part."""
    if isinstance(x, (Group, Array)):
        return x._opened.file, named(x._opened), None if x.name == "/" else x.name
    store, path = split(x)
    opened = Opened(store, dict(DEFAULTS), None)
    return opened.file, named(opened), path


def split(x: Location) -> tuple[Location, str | None]:
    """The store to open, and the path in it. Only strings can contain one."""
    if not isinstance(x, str):
        return x, None
    return _hyperslab.locate(x)


def stored(x: Location) -> dict[str, Any]:
    """The source for a verb that writes and opens it itself: a path with options, or an open store that has no path."""
    if isinstance(x, (Group, Array)):
        opened, path = x._opened, None if x.name == "/" else x.name
        location, options = opened.location, opened.options
        opened.check()
    else:
        location, path = split(x)
        opened, options = None, dict(DEFAULTS)
    # The key of an encrypted store must not be written anywhere.
    how = " ".join(f"{name}={value!r}" for name, value in options.items() if value != DEFAULTS[name] and name != "key")
    source = storage_of(location, opened.storage_options if opened else None)
    if isinstance(source, (str, os.PathLike)):
        return {"file": None, "store": os.fspath(source), "path": path, "open": options, "how": how}
    opened = opened or Opened(location, options, None)
    return {"file": opened.file, "store": named(opened), "path": path, "open": options, "how": how}


def target_path(path: str | os.PathLike[str]) -> str:
    """The path of the target."""
    text = local(path)
    if "://" in text:
        raise ArgumentError(f"{text} is a URL, and URLs can only be read; write to a local path and copy the result there")
    return text


def target(path: str | os.PathLike[str] | None) -> str | None:
    """The path of the target, if there is one."""
    return None if path is None else target_path(path)


def document_path(path: str | os.PathLike[str] | None) -> str | None:
    """The path of a document to read, if there is one."""
    return None if path is None else local(path)


def selections(select: str | Sequence[str] | Mapping[str, Any]) -> list[str]:
    """Selections in text form, from ``"time=2026-03,lat=-30..30"`` or from labels by dimension as `Array.sel` takes them."""
    if isinstance(select, str):
        return [select]
    if isinstance(select, Mapping):
        return [",".join(label(name, value) for name, value in select.items())] if select else []
    return list(select)


def check_tolerances(**tolerances: float) -> None:
    """Refuse tolerances that make no sense."""
    for name, tolerance in tolerances.items():
        if not 0 <= float(tolerance) < float("inf"):
            raise ArgumentError(f"{name}={tolerance}, expected a finite, non-negative number")


def words(given: str | Iterable[str]) -> list[str]:
    """Words from a comma-separated string or from a list."""
    listed = given.split(",") if isinstance(given, str) else given
    return [word.strip() for word in listed]


def losses(allowed: str | Iterable[str]) -> list[str]:
    """The kinds of losses that are allowed: ``"filters,precision"``, a list of them, or nothing."""
    return words(allowed) if allowed else []


def options(given: Mapping[str, Any] | None) -> list[tuple[str, str | None]]:
    """Options of formats: ``{"hdf5.userblock": 512}``, or nested by format: ``{"hdf5": {"userblock": 512}}``."""
    listed: list[tuple[str, str | None]] = []
    for name, value in (given or {}).items():
        if isinstance(value, Mapping):
            listed += [(f"{name}.{key}", text) for key, text in options(value)]
        elif isinstance(value, bool):
            listed.append((name, "true" if value else "false"))
        else:
            listed.append((name, None if value is None else str(value)))
    return listed


def layout(
    chunk: Layout = None, shard: Layout = None, filters: Layout = None, endian: Layout = None, fill: Layout = None
) -> dict[str, list[str]]:
    """Layout rules for arrays in text form."""
    return {
        "chunk": _rules(chunk, _cut),
        "shard": _rules(shard, _cut),
        "filters": _rules(filters, _pipeline),
        "endian": _rules(endian, str),
        "fill": _rules(fill, _fill),
    }


def _rules(given: Layout, text: Callable[[Any], str]) -> list[str]:
    if given is None:
        return []
    if isinstance(given, Mapping) and any(key is None or str(key).startswith("/") for key in given):
        # Later rules take precedence, so the rule for all arrays comes first.
        keys = sorted(given, key=lambda key: key is not None)
        return [text(given[key]) if key is None else f"{key}:{text(given[key])}" for key in keys]
    if isinstance(given, list) and given and all(isinstance(rule, str) for rule in given) and text is not _pipeline:
        return given
    return [text(given)]


def _cut(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return ",".join(f"{name}={size}" for name, size in given.items())
    if isinstance(given, Sequence):
        return ",".join(str(int(size)) for size in given)
    raise ArgumentError(
        f"{given!r} is not a chunk specification, expected a shape, sizes by dimension, or a string such as '4MiB'"
    )


def pipeline(given: str | Iterable[Any]) -> list[Any]:
    """Filters in Ndarray Data Language notation, from a comma-separated string, a list of names, or pairs as in `Array.filters`."""
    if isinstance(given, str):
        return words(given)
    return [one if isinstance(one, str) else dict([one]) if isinstance(one, tuple) else dict(one) for one in given]


def _pipeline(given: Any) -> str:
    if isinstance(given, str):
        return given
    listed = pipeline(given)
    if not listed:
        return "none"
    if all(isinstance(one, str) for one in listed):
        return ",".join(listed)
    return json.dumps([{one: {}} if isinstance(one, str) else one for one in listed])


def _fill(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given)


@contextmanager
def telling(progress: Progress, verb: str) -> Iterator[Callable[[str, int, int | None], object] | None]:
    """The progress callback for the library."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        call = progress
        yield lambda path, count, of: call(path, count)
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc=verb, unit="B", unit_scale=True, unit_divisor=1024) as bar:

        def tell(path: str, count: int, of: int | None) -> None:
            bar.total, bar.n = of, count
            bar.set_postfix_str(path, refresh=False)
            bar.refresh()

        yield tell


def write_options(
    format: str | None,
    allow_loss: str | Iterable[str],
    given: Mapping[str, Any] | None = None,
    rules: dict[str, list[str]] | None = None,
    *,
    overwrite: bool,
    dry_run: bool = False,
    verify: bool = False,
    resume: bool = False,
    sync: bool = False,
) -> dict[str, Any]:
    """How a store is written.

    given: options of the format
    rules: layout rules, as returned by `layout`
    """
    return {
        "format": format,
        "allow_loss": losses(allow_loss),
        "dry_run": dry_run,
        "verify": verify,
        "overwrite": overwrite,
        "resume": resume,
        "sync": sync,
        "layout": layout() if rules is None else rules,
        "options": options(given),
        "progress": None,
    }
