"""Reads HDF5 files that we write with other libraries: all elements, attributes and links must be those of the document.

    hdf5_written.py HYPERSLAB COUNT [FIRST]

Each file is made from a random document. It is checked, and read by this project, by the libhdf5 of h5py, by the libhdf5 of
netCDF4, and by Debian's h5dump if that knows the version. Some files are then edited by h5py.
"""

import glob
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

# The library reads this when it starts: external raw data is beside the file, not in the working folder.
os.environ["HDF5_EXTFILE_PREFIX"] = "${ORIGIN}"

import h5py
import hdf5plugin  # noqa: F401 (registers the filters)
import numpy as np
from h5py import h5a, h5d, h5l, h5o, h5s

import hdf5_continued
import hdf5_documents as documents
from hdf5_by_library import Library
from tally import Reasons, Tally

# Notes that content is in another file.
OUTSIDE = ("hdf5/external-link", "hdf5/external-data")
# What libhdf5 leaves behind, even in its own files: free space that it forgets when it closes a file, elements of deleted
# attributes, and a heap that was empty and counts only what was added since.
LOST = ("hdf5/unaccounted", "hdf5/unreferenced", "hdf5/heap-size")
SCALE = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip()


# Our own readers.

def create(hyperslab, trial):
    with open(f"{trial.name}.json", "w", encoding="utf-8") as f:
        json.dump(trial.groups, f)
    trial.write_others(".")
    options = [f"--option={option}" for option in trial.options]
    code, _, said = run(hyperslab, "create", "--overwrite", *options, f"{trial.name}.json", trial.path)
    return [f"create {' '.join(options)}: {said[:600]}"] if code or "wrote" not in said or "loss" in said else []


def digests(hyperslab, path):
    code, out, said = run(hyperslab, "digest", "--json", path)
    lines = [json.loads(line) for line in out.splitlines()]
    return code, said, {line.pop("path"): line for line in lines}


def by_us(hyperslab, trial):
    reasons = Reasons()
    written, document = digests(hyperslab, trial.path), digests(hyperslab, f"{trial.name}.json")
    for code, said, _ in (written, document):
        reasons.expect(code == 0, said)
    for path in sorted(written[2].keys() | document[2].keys()):
        if path not in trial.data or not trial.data[path].elsewhere:
            reasons.equal(f"digest of {path}", written[2].get(path), document[2].get(path))
    return reasons + check(hyperslab, trial.path)


def check(hyperslab, path, allowed=()):
    """No finding, and every byte is accounted for."""
    _, out, said = run(hyperslab, "check", "--verbose", "--json", path)
    return [line[:300] for line in out.splitlines() if json.loads(line)["rule"] not in (*OUTSIDE, *allowed)] + ([said] if said else [])


# The library of h5py.

def by_h5py(trial):
    reasons = Reasons()
    with h5py.File(trial.path) as file:
        # An object with several hard links has the name that is visited first.
        named = ["/target" if file[name] == file["/target"] else name for name in names(file)]
        reasons.equal("names", sorted(named), sorted(trial.names()))
        for path, data in trial.data.items():
            elements(reasons, path, data, file[path].id, file)
            dataset(reasons, trial, path, data, file[path])
        for (path, name), data in trial.attributes.items():
            elements(reasons, f"{path}@{name}", data, h5a.open(file[path].id, name.encode()), file)
        for path in [*trial.data, *trial.groups]:
            wanted = {name for owner, name in trial.attributes if owner == path} | ({"units"} if path == "/target" else set())
            reasons.equal(f"attributes of {path}", set(file[path].attrs) - SCALE, wanted)
        for (group, name), link in trial.links.items():
            reasons.equal(f"link {group}/{name}", link_of(file[group], name), link)
        for group, order in trial.ordered.items():
            reasons.equal(f"order of {group}", list(file[group]), order)
    return reasons


def names(file):
    found = []
    h5o.visit(file.id, lambda name: found.append("/" + name.decode()))
    return found


def elements(reasons, what, data, source, file):
    """Elements of a dataset or an attribute."""
    space = source.get_space()
    is_null = space.get_simple_extent_type() == h5s.NULL
    reasons.equal(f"shape of {what}", None if is_null else list(space.shape), data.shape)
    stored, count = data.stored(), data.count
    if is_null or not count:
        return
    if stored is not None:
        raw, kind = np.zeros(len(stored), "u1"), source.get_type()
        reasons.equal(f"size of {what}, {data.kind.name}", kind.get_size() * count, len(stored))
        if kind.get_size() * count != len(stored):
            return
        if isinstance(source, h5a.AttrID):
            source.read(raw, mtype=kind)
        else:
            source.read(h5s.ALL, h5s.ALL, raw, mtype=kind)
        reasons.expect(raw.tobytes() == stored, f"{what}, {data.kind.name}: {raw.tobytes()[:60].hex()}, expected {stored[:60].hex()}")
    elif data.values is not None and data.kind.same:
        found = np.empty(source.shape, source.dtype)
        if isinstance(source, h5a.AttrID):
            source.read(found)
        else:
            source.read(h5s.ALL, h5s.ALL, found)
        for value, one in zip(data.values, items(found, data.count)):
            if not data.kind.same(value, one, file):
                reasons.append(f"{what}, {data.kind.name}: {one!r}, expected {value!r}")
                break


def items(found, count):
    """The elements of an array. Those of array types are further dimensions in NumPy."""
    found = np.asarray(found)
    return found.reshape(count, -1) if found.size > count else found.reshape(-1)


def dataset(reasons, trial, path, data, found):
    if data.shape is None:
        return
    reasons.equal(f"maximum of {path}", found.maxshape, tuple(trial.unlimited if n is None else n for n in data.maximum))
    if data.kind.dtype:
        reasons.equal(f"type of {path}", found.dtype, data.kind.dtype)
    plist = found.id.get_create_plist()
    if data.chunk:
        reasons.equal(f"chunk of {path}", list(found.chunks), data.chunk)
        reasons.equal(f"filters of {path}", plist.get_nfilters(), len(data.filters))
    reasons.equal(f"scales of {path}", [scale[0].name for scale in found.dims if len(scale)], trial.scales.get(path, []))
    times = {"early": h5d.ALLOC_TIME_EARLY, "late": h5d.ALLOC_TIME_LATE, "incremental": h5d.ALLOC_TIME_INCR}
    if path.startswith("/target") or path in trial.scales or path == "/x":
        return
    storage = trial.entry(path)["storage"]
    if "alloc_time" in storage.get("hdf5", {}):
        reasons.equal(f"allocation time of {path}", plist.get_alloc_time(), times[storage["hdf5"]["alloc_time"]])
    if data.fill is documents.NOTHING:
        reasons.equal(f"fill value of {path}", plist.fill_value_defined(), h5d.FILL_VALUE_UNDEFINED)


def link_of(group, name):
    """A link as the document has it."""
    kind = group.id.links.get_info(name.encode()).type
    if kind > h5l.TYPE_EXTERNAL:
        return {"user": {"class": kind, "data": "0x0102"}}
    link = group.get(name, getlink=True)
    if isinstance(link, h5py.SoftLink):
        return {"soft": link.path}
    if isinstance(link, h5py.ExternalLink):
        return {"external": {"file": link.filename, "path": link.path}}
    return {"hard": group[name].name if group[name] != group.file["/target"] else "/target"}


# h5dump of Debian.

# What 1.10 prints when it ends after a file with external links.
CLOSING = "infinite loop closing library"
H5DUMP = documents.AGE.index("v1.10")
OBJECT = re.compile(r'^ *(GROUP|DATASET|ATTRIBUTE|DATATYPE|SOFTLINK|EXTERNAL_LINK|USERDEFINED_LINK) "(.*)" \{$')


def by_h5dump(trial):
    """All values can be printed; the values of numbers must be right."""
    if documents.AGE.index(trial.high) > H5DUMP:
        return None
    lacking = [path for path, data in trial.data.items() if not data.is_plain]
    code, out, said = run("h5dump", "-y", trial.path)
    reasons = Reasons()
    reasons.expect(code == 0 or lacking, f"exit code {code}: {said[:300]}")
    reasons.expect(not said or lacking or CLOSING in said, said[:300])
    for path, tokens in printed(out):
        data = trial.data.get(path)
        if data is None or not data.is_plain or data.kind.dtype is None or data.stored() is None:
            continue
        wanted = np.frombuffer(data.stored(), data.kind.dtype)
        if data.kind.dtype.kind != "f":
            same = list(map(int, tokens)) == wanted.tolist()
        elif data.kind.dtype.itemsize == 2:
            # Half floats are printed as their bytes.
            continue
        else:
            found = np.array(tokens, "f8")
            # Six digits are printed.
            same = found.shape == wanted.shape and np.allclose(found, wanted, 1e-5, 0, equal_nan=True)
        reasons.expect(same, f"{path}: {tokens[:8]}, expected {wanted[:8]}")
    return reasons


def printed(out):
    """The values of datasets in the output of h5dump, by the path."""
    stack, tokens, depth_of_data = [], None, None
    for line in out.splitlines():
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if tokens is not None:
            if text == "}" and depth == depth_of_data:
                yield "/" + "/".join(name for _, name, _ in stack[1:]), tokens
                tokens = None
            else:
                tokens += [token.strip() for token in text.split(",") if token.strip()]
            continue
        while stack and depth <= stack[-1][2]:
            stack.pop()
        if match := OBJECT.match(line):
            stack.append((match[1], match[2], depth))
        elif text == "DATA {" and stack and stack[-1][0] == "DATASET":
            tokens, depth_of_data = [], depth


def trial_of(job):
    """Makes, reads and edits the file of a seed. Returns the reasons by what they are about."""
    hyperslab, seed = job
    trial = documents.Trial(seed)
    found = {"create": create(hyperslab, trial)}
    if found["create"]:
        return seed, trial.options, found
    found["digest and check"] = by_us(hyperslab, trial)
    for reader, read in [("h5py", by_h5py), ("netCDF4's libhdf5", lambda trial: LIBRARY.read(trial)), ("h5dump", by_h5dump)]:
        try:
            reasons = read(trial)
        except Exception as error:
            reasons = [f"{type(error).__name__}: {error}"]
        if reasons is not None:
            found[reader] = reasons
    if trial.is_continued:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hdf5_continued.py")
        code, out, said = run(sys.executable, script, seed)
        if code == hdf5_continued.NOT_COPIED:
            found["h5py copies nothing"] = []
        elif code:
            found["h5py goes on"] = [f"exit code {code}", *out.splitlines(), *said.splitlines()[-3:]]
        else:
            found["h5py goes on"] = check(hyperslab, trial.path, LOST)
    if not any(found.values()):
        for path in glob.glob(f"{trial.name}*"):
            os.remove(path)
    return seed, trial.options, found


LIBRARY = None


def start(folder):
    global LIBRARY
    os.chdir(folder)
    LIBRARY = Library()


def main():
    hyperslab, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    keep = os.environ.get("HYPERSLAB_KEEP")
    tally, readers = Tally(), {}
    folder = keep or tempfile.mkdtemp()
    try:
        os.makedirs(folder, exist_ok=True)
        documents.write_other(folder)
        workers = multiprocessing.get_context("spawn")
        # A reader that crashes ends the run.
        with ProcessPoolExecutor(os.cpu_count(), workers, start, (folder,)) as pool:
            jobs = [(hyperslab, seed) for seed in range(first, first + count)]
            for seed, options, found in pool.map(trial_of, jobs, chunksize=4):
                for reader, reasons in found.items():
                    readers[reader] = readers.get(reader, 0) + 1
                    tally.check(not reasons, f"seed {seed}, {reader}, {' '.join(options)}", reasons)
    finally:
        if not keep:
            shutil.rmtree(folder)
    print(", ".join(f"{reader}: {count} files" for reader, count in readers.items()))
    tally.close()


if __name__ == "__main__":
    main()
