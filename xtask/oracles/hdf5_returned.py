"""Writes every HDF5 file of a folder again: repacked, via Zarr, and from its own description.

    hdf5_returned.py HYPERSLAB DIRECTORY [STRIDE]

Each way must keep content and storage, except for what its report names. The written file must be valid, and h5py must
find in it what it finds in the source. Every STRIDE-th file is tried.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

# The library reads this when it starts: external raw data is beside the file, not in the working folder.
os.environ["HDF5_EXTFILE_PREFIX"] = "${ORIGIN}"

import hdf5plugin  # noqa: F401 (registers the filters)

from h5py import h5t

import content
from corpus import exceptions, stores
from tally import Reasons, Tally

# Places and sizes differ from file to file.
CHANGING = re.compile(r"0x[0-9a-f]+|\d+")
# Headers of version 1 have one time, or none; newer ones have four.
TIMES = ("atime", "mtime", "ctime", "btime")
# What `create` rejects by name, because no document can represent it.
UNWRITABLE = re.compile(r"which could not be read|a reference to")
# h5py reads arrays up to this size in bytes.
MAX_COMPARED = 1 << 24


class Failed(Exception):
    """A run ended in a way that is itself an error."""


class Unread(Exception):
    """Nothing of the source can be read."""


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, timeout=300)
    if done.returncode not in (0, 1, 2):
        raise Failed(f"{' '.join(command[1:3])} dies with {done.returncode}: {done.stderr[-300:]}")
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


class Seen(content.File):
    """What h5py finds in a file. An object that it cannot read is its error."""

    def describe(self, path, obj):
        try:
            super().describe(path, obj)
        except Exception as e:
            self.lines[path.decode(errors="replace")] = {"error": type(e).__name__}

    def digest(self, source, t, is_attribute):
        return super().digest(source, t, is_attribute) | {"stored": stored(t)}

    def elements(self, source, kind, count, is_attribute):
        if count * kind.size > MAX_COMPARED:
            raise NotImplementedError("too large")
        return super().elements(source, kind, count, is_attribute)


def stored(t):
    """The properties of a type that are not in the digest."""
    if t.get_class() == h5t.STRING:
        return "variable" if t.is_variable_str() else t.get_size(), t.get_strpad(), t.get_cset()
    if t.get_class() == h5t.COMPOUND:
        members = range(t.get_nmembers())
        return t.get_size(), [(t.get_member_offset(i), stored(t.get_member_type(i))) for i in members]
    if t.get_class() in (h5t.ARRAY, h5t.VLEN, h5t.ENUM):
        return stored(t.get_super())
    if t.get_class() in (h5t.INTEGER, h5t.FLOAT):
        # The byte order of a single byte is irrelevant.
        return t.get_size(), t.get_size() > 1 and t.get_order(), t.get_precision(), t.get_offset()
    return t.get_size()


def seen(path):
    try:
        return Seen(path).digests()
    except Exception as e:
        return {"/": {"error": type(e).__name__}}


class Ways:
    """The ways of one file to another file with the same content."""

    def __init__(self, hyperslab, source, is_broken, folder):
        self.hyperslab, self.source, self.is_broken, self.folder = hyperslab, source, is_broken, folder
        # Beside the source, where the names of other files lead to the same files.
        self.target = f"{source}.again.h5"

    def write(self, verb, source, target, *options):
        """Writes with all planned losses allowed, and without arrays whose elements turn out to be damaged. Returns the
        rows of the report that change or lose something."""
        command = [self.hyperslab, verb, "--json", *options, source, target]
        code, out, said = run(*command, "--dry-run")
        if code == 2 and not out:
            raise Unread(said)
        kinds = {row["kind"] for row in json.loads(out)["report"] if row["kind"]}
        code, out, said = run(*command, "--overwrite", "--allow-loss", ",".join(sorted(kinds | {"unreadable", "references"})))
        damaged = re.findall(r"^warning: left out: (/.*?): ", said, re.MULTILINE)
        if code == 2 or code == 1 and not damaged:
            raise Failed(f"{verb} ends with {code}, although planned: {said[:300]}")
        rows = [row for row in json.loads(out)["report"] if row["fate"] != "restored"]
        return rows + [{"places": damaged}]

    def repacked(self):
        return self.judged(self.write("repack", self.source, self.target))

    def by_zarr(self):
        store = os.path.join(self.folder, "between.zarr")
        report = self.write("convert", self.source, store, "--raw")
        report += self.write("convert", store, self.target, "-O", "hdf5.sources=keep")
        shutil.rmtree(store)
        return self.judged(report)

    def described(self):
        """From the description. Only a new description is compared, because large arrays have no values in it."""
        describe = (self.hyperslab, "describe", "--raw", "--storage=full", "--values=1000000")
        code, text, said = run(*describe, self.source)
        if code == 2:
            raise Unread(said)
        document = os.path.join(self.folder, "document.yaml")
        with open(document, "wb") as f:
            f.write(text)
        code, _, said = run(self.hyperslab, "create", "--dry-run", document, self.target)
        refused = re.findall(r"^error\[ndl/create\]: (.*)$", said, re.MULTILINE)
        if code == 1 and refused and all(UNWRITABLE.search(why) for why in refused):
            return [], Reasons()
        report = self.write("create", document, self.target, "-O", "hdf5.sources=keep", "-O", "hdf5.times")
        before, after = (content_of(run(*describe, "--json", path)[1]) for path in (self.source, self.target))
        reasons = Reasons()
        reasons.extend(self.new_findings(report))
        if not any(row["places"] for row in report):
            reasons.extend(itertools.islice(changes("", before, after), 9))
        return report, reasons

    def judged(self, report):
        reasons = Reasons()
        code, out, said = run(self.hyperslab, "diff", "--raw", "--storage", "--order", "--json", self.source, self.target)
        differences = lines(out)
        reasons.expect(code in (0, 1) and (code == 0) == (not differences), f"diff ends with {code}: {said[:300]}")
        reasons.extend(str(line)[:300] for line in differences if not is_excused(line, report))
        reasons.extend(self.new_findings(report))
        if not self.is_broken:
            before, after = seen(self.source), seen(self.target)
            unread = {path for path, line in before.items() if "error" in line}
            for path in sorted(before.keys() | after.keys()):
                is_read = not {"/", path, path.partition("@")[0]} & unread
                if is_read and before.get(path) != after.get(path) and not is_named(path, report):
                    reasons.append(f"h5py: {path}: {before.get(path)} became {after.get(path)}")
        return report, reasons

    def new_findings(self, report):
        lost = [place for row in report if row.get("fate") == "lost" for place in row["places"]]
        found = self.findings(self.target, lost) - self.findings(self.source)
        return [f"check: {finding}" for finding in sorted(found)]

    def findings(self, path, lost=()):
        """What `check` reports about the content of a file, without positions and without links to lost objects."""
        _, out, _ = run(self.hyperslab, "check", "--verbose", "--json", path)
        leads_to_lost = lambda line: line["rule"] == "hdf5/dangling-soft-link" and any(
            f'"{place}{end}' in line["message"] for place in lost for end in ('"', "/"))
        found = (line for line in lines(out) if not leads_to_lost(line))
        return {f"{line['rule']} {line['object']}: {CHANGING.sub('N', line['message'])}" for line in found}


def content_of(document):
    """A document in JSON without times."""
    def without_times(part):
        if isinstance(part, list):
            return [without_times(item) for item in part]
        if not isinstance(part, dict):
            return part
        kept = {key: without_times(value) for key, value in part.items() if key not in TIMES}
        return {key: value for key, value in kept.items() if value != {} or key not in ("hdf5", "storage")}
    found = without_times(json.loads(document))
    found.pop("x-hyperslab", None)
    return found


def changes(where, before, after):
    """What differs in two JSON values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from changes(f"{where}/{key}", before.get(key), after.get(key))
    elif before != after:
        yield f"{where}: {str(before)[:150]} became {str(after)[:150]}"


def is_excused(difference, report):
    """Whether the report names what differs, or both files give the same error for an object that cannot be read."""
    if difference["kind"] == "unreadable" and CHANGING.sub("N", difference.get("a", "")) == CHANGING.sub("N", difference.get("b", "")):
        return True
    return is_named(difference["path"], report)


def is_named(path, report):
    return any(path in row["places"] or path.partition("@")[0] in row["places"] for row in report)


WAYS = (Ways.repacked, Ways.by_zarr, Ways.described)


def one(hyperslab, path, is_broken):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(hyperslab, path, is_broken, folder)
        for way in WAYS:
            report = []
            try:
                report, reasons = way(ways)
            except Unread:
                return []
            except Failed as e:
                reasons = [str(e)]
            except subprocess.TimeoutExpired:
                reasons = ["takes more than 300 seconds"]
            finally:
                if os.path.exists(ways.target):
                    os.remove(ways.target)
            found.append((way.__name__, [*reasons, *(f"report: {json.dumps(row)[:300]}" for row in report)] if reasons else []))
    return found


def main():
    hyperslab, directory = sys.argv[1:3]
    stride = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tally = Tally()
    listed = exceptions("refused", directory) | exceptions("unconverted", directory)
    broken = exceptions("broken", directory)
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        copy = shutil.copytree(directory, os.path.join(folder, "hdf5"))
        files = [os.path.relpath(path, copy) for path in stores(copy)[::stride]]
        jobs = [(name, pool.submit(one, os.path.abspath(hyperslab), os.path.join(copy, name), name in broken)) for name in files]
        for name, job in jobs:
            found = job.result()
            is_listed = any(name == row or row.endswith("/") and name.startswith(row) for row in listed)
            if not found or is_listed:
                tally.check(bool(found) != is_listed, f"{name}: listed as unread {is_listed}")
            for way, reasons in found:
                tally.check(not reasons, f"{name} ({way})", reasons)
    tally.close()


if __name__ == "__main__":
    main()
