"""Compares our engine with those of netCDF4 and h5netcdf on all files of a folder: ``python corpus.py FOLDER``.

Every group of every HDF5 and NetCDF file is opened by all engines, undecoded and decoded, and the names, dimensions, dtypes,
attributes and elements are compared. Files are read in a separate process, because netCDF4 and h5py crash on some of them.
The last line has the counts; the exit status is 1 if our engine failed where the other did not, or read something else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENGINES = ("netcdf4", "h5netcdf")
MAGIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")
LARGEST_FILE, LARGEST_VARIABLE, MAX_GROUPS = 100 << 20, 32 << 20, 40

# Expected differences, by the ends of paths.
KNOWN = {
    "oldflavor_numeric.h5": "netCDF4 cuts texts in sequences to their first bytes, and h5netcdf does not open them",
    "compound_type.h5": "netCDF4 reads texts in compounds as single bytes, and what follows them from wrong places",
    "air_linked.nc": "arrays with two names give dimensions two names, of which ours is that of the array itself",
}


def files_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            with path.open("rb") as file:
                if file.read(8).startswith(MAGIC):
                    yield path


def groups_in(path: str) -> list[str]:
    """The groups that are compared."""
    import hyperslab

    groups = (member.name for member in hyperslab.open(path).walk() if isinstance(member, hyperslab.Group))
    return ["/", *groups][:MAX_GROUPS]


def compared(path: str) -> Iterator[dict[str, str]]:
    """What differs, group by group; before each step, what is about to be done.

    Whatever one of the other engines reads as ours does counts as the same, even if the second one reads something else.
    """
    from hyperslab.xarray import HyperslabBackendEntrypoint

    warnings.simplefilter("ignore")
    yield {"stage": "ours"}
    groups, failed = ["/"], None
    try:
        groups = groups_in(path)
    except Exception as error:
        failed = error
    for group in groups:
        for is_decoded in (False, True):
            others, reasons = {}, []
            for engine in ENGINES:
                yield {"stage": engine}
                try:
                    others[engine] = opened(path, engine, group, is_decoded)
                except Exception as error:
                    reasons.append(repr(error)[:150])
            if not others:
                yield {"group": group, "result": "others fail", "why": " ".join(reasons)}
                continue
            yield {"stage": "ours"}
            try:
                if failed is not None:
                    raise failed
                ours = opened(path, HyperslabBackendEntrypoint, group, is_decoded)
            except Exception as error:
                yield {"group": group, "result": "ours fails", "why": repr(error)[:150]}
                continue
            for variable in ours.variables.values():
                if variable.size * max(variable.dtype.itemsize, 8) <= LARGEST_VARIABLE:
                    with contextlib.suppress(Exception):
                        variable.load()
            yield {"stage": "elements"}
            found = [dict(reversed(list(differences(other, ours)))) for other in others.values()]
            subjects = [subject for subject in found[0] if all(subject in of for of in found)]
            if not subjects:
                yield {"group": group, "result": "same"}
            for subject in subjects:
                words = f"{subject}: {'decoded ' if is_decoded else ''}{found[0][subject]}"
                yield {"group": group, "result": "differs", "why": words}


def opened(path: str, engine: Any, group: str, is_decoded: bool) -> Any:
    import xarray

    options: dict[str, Any] = {"phony_dims": "access"} if engine == "h5netcdf" else {}
    return xarray.open_dataset(
        path, engine=engine, group=group, decode_cf=None if is_decoded else False, cache=False, **options
    )


def differences(other: Any, ours: Any) -> Iterator[tuple[str, str]]:
    """What in `other` is not the same in `ours`: the name of a variable or an attribute, and a description."""
    yield from attribute_differences("", other.attrs, ours.attrs)
    for name in other.variables:
        if name not in ours.variables:
            yield f"{name}", "no such variable here"
        else:
            words = variable_differences(other.variables[name], ours.variables[name])
            yield from ((f"{name}", word) for word in words)
            yield from attribute_differences(f"{name}", other.variables[name].attrs, ours.variables[name].attrs)
    for name in ours.variables:
        if name not in other.variables and is_internal(str(name)):
            yield f"{name}", "no such variable there"
    unlimited = [{dim for dim in of.encoding.get("unlimited_dims", ()) if not is_phony(dim)} for of in (other, ours)]
    if unlimited[0] != unlimited[1]:
        yield "unlimited dimensions", f"{unlimited[0]} {unlimited[1]}"


def is_internal(name: str) -> bool:
    """Whether a name is one that NetCDF stores but does not show."""
    return name.startswith(("_Netcdf4", "_nc3", "_nc4", "_NC")) or name in ("DIMENSION_LIST", "REFERENCE_LIST")


def is_phony(dim: Any) -> bool:
    return str(dim).startswith("phony_dim_")


def variable_differences(other: Any, ours: Any) -> Iterator[str]:
    import numpy

    if other.size * max(other.dtype.itemsize, 8) > LARGEST_VARIABLE:
        return
    try:
        theirs = numpy.asarray(other.values)
    except Exception:
        return
    if other.shape != ours.shape:
        yield f"shape {other.shape} {ours.shape}"
        return
    dims = [tuple("phony" if is_phony(dim) else dim for dim in of.dims) for of in (other, ours)]
    if dims[0] != dims[1]:
        yield f"dimensions {dims[0]} {dims[1]}"
    try:
        read = numpy.asarray(ours.values)
    except Exception as error:
        yield f"cannot be read: {error!r}"[:200]
        return
    texts = theirs.dtype.kind in "OSU" and read.dtype.kind in "OSU"
    has_same_type = theirs.dtype.names == read.dtype.names if theirs.dtype.names else theirs.dtype == read.dtype
    if not texts and not has_same_type:
        yield f"dtype {theirs.dtype} {read.dtype}"
    if not is_equal(theirs, read):
        yield f"elements {str(theirs.reshape(-1)[:4])[:80]} {str(read.reshape(-1)[:4])[:80]}"


def is_equal(one: Any, other: Any) -> bool:
    import numpy

    if one.dtype.names:
        # There may be padding between members.
        return one.dtype.names == other.dtype.names and all(is_equal(one[name], other[name]) for name in one.dtype.names)
    try:
        if numpy.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM"):
            return True
    except (TypeError, ValueError):
        pass
    if one.dtype.kind not in "OSUV" or one.shape != other.shape:
        return False
    pairs = zip(one.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True)
    return all(is_same(left, right) for left, right in pairs)


def is_same(left: Any, right: Any) -> bool:
    import numpy

    # In our engine, references are paths.
    if str(left) == str(right) or "HDF5" in str(left):
        return True
    try:
        return bool(numpy.array_equal(numpy.asarray(as_text(left)), numpy.asarray(as_text(right))))
    except (TypeError, ValueError):
        return False


def as_text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def attribute_differences(of: str, other: dict[Any, Any], ours: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    from xarray.core.utils import equivalent

    for key in [*other, *(key for key in ours if key not in other)]:
        subject = f"{of}@{key}"
        if key not in ours:
            yield subject, f"only there: {other[key]!r}"[:200]
        elif key not in other:
            # We read more, such as references.
            if is_internal(key):
                yield subject, f"only here: {ours[key]!r}"[:200]
        else:
            left, right = as_text(other[key]), as_text(ours[key])
            try:
                found_same = equivalent(left, right)
            except Exception:
                found_same = False
            if not found_same and not is_same(left, right):
                yield subject, f"{left!r:.80} {right!r:.80}"


def work() -> None:
    """Compares the files whose names arrive on standard input, one per line."""
    for line in sys.stdin:
        for result in compared(line.rstrip("\n")):
            print(json.dumps(result), flush=True)
        print(json.dumps({"stage": "done"}), flush=True)


def crashes_alone(path: Path) -> bool:
    """Whether our engine crashes in a separate process. In the shared one, the other engines may have damaged the memory."""
    command = [sys.executable, __file__, "--alone", path]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode < 0


def read_alone(path: Path) -> None:
    """Reads a file with our engine. Errors are ignored here, because the comparison reports them."""
    from hyperslab.xarray import HyperslabBackendEntrypoint

    with contextlib.suppress(Exception):
        for group in groups_in(str(path)):
            for is_decoded in (False, True):
                with contextlib.suppress(Exception):
                    opened(str(path), HyperslabBackendEntrypoint, group, is_decoded).load()


def run(folder: Path, is_verbose: bool) -> int:
    import hyperslab  # noqa: F401: an error is better than one for each file

    worker: subprocess.Popen[str] | None = None
    count: Counter[str] = Counter()
    for path in files_in(folder):
        if worker is None:
            command = [sys.executable, __file__, "--work", "."]
            worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write(f"{path}\n")
        worker.stdin.flush()
        stage, whole = "ours", Counter[str]()
        for line in worker.stdout:
            told = json.loads(line)
            stage = told.get("stage", stage)
            if stage == "done":
                break
            if "result" in told:
                if told["result"] == "differs" and path.name in KNOWN:
                    told["result"] = "known"
                whole[told["result"]] += 1
                if told["result"] in ("differs", "ours fails") or (is_verbose and told["result"] != "same"):
                    print(f"{path.relative_to(folder)} {told['group']}: {told['result']}: {told.get('why', '')}", flush=True)
        else:
            whole["ours crashes" if stage == "ours" and crashes_alone(path) else "others crash"] += 1
            print(f"{path.relative_to(folder)}: the process ended, reading {stage}", flush=True)
            worker = None
        count["files"] += 1
        order = ("ours crashes", "ours fails", "differs", "known", "others crash", "others fail", "same")
        count[next((result for result in order if whole[result]), "same")] += 1
    print(dict(count))
    return int(bool(count["differs"] or count["ours fails"] or count["ours crashes"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--verbose", action="store_true", help="show also what the others do not read")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work()
    elif arguments.alone:
        read_alone(arguments.folder)
    else:
        sys.exit(run(arguments.folder, arguments.verbose))
