"""Compares `describe --as cdl` with ncdump, byte for byte: the declarations, and for small files also the values.

    cdl.py HYPERSLAB CORPUS... [N]

Each file below the folders that ncdump can open is compared, or every Nth. Lines that begin with `// not in CDL:` name what
ncdump silently omits, and are removed first.
"""

import itertools
import os
import resource
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tally import Tally

SIGNATURES = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")

# Files up to this size are compared with their values.
SMALL = 300_000

# Output beyond this size is not read, because even a small file can have many values.
MAX = 20_000_000

# Files whose links form a loop make ncdump run until it is out of memory.
SECONDS = 20
MEMORY = 1 << 30

# Files with known differences, by the end of their path: what differs, and why.
EXCEPTIONS = {
    # Numbers of 16 bytes, which the library treats as strings; hyperslab omits them with a comment.
    "big_endian.h5": "128-bit floats are `string` in ncdump",
    "h5diff_basic1.h5": "long doubles are `string` in ncdump",
    "t128bit_float.h5": "128-bit floats are `string` in ncdump",
    "tfloatsattrs.h5": "128-bit floats are `string` in ncdump",
    "tldouble.h5": "long doubles are `string` in ncdump",
    # The model has no null strings: they become empty strings.
    "test_gold.nc": "a null text is NIL in ncdump",
    "vlen.h5": "null texts are NIL in ncdump",
    "multidim_string_datasest.hdf5": "null texts are NIL in ncdump",
    # Damaged on purpose: the object is named in a comment and an error.
    "tmisc38a.h5": "a damaged datatype is `string` in ncdump",
    "tmisc38b.h5": "a damaged datatype is an integer in ncdump",
    "tCVE-2021-37501_attr_decode.h5": "ncdump shows attributes of a damaged extent",
    # Faults of ncdump and the library.
    "f03tst_open_mem.nc": "ncdump shows memory that was never written, other in each run",
    "dec2_20_pluslig_1pGene_grch38_UBR4_D_1nt.pairwise.sorted.cool": "ncdump reads behind texts without a NUL",
    "air_linked.nc": "two links to one dimension have one identifier, and ncdump shows the last name for both",
    "nc4_groups.nc": "dimensions of two groups have one identifier, and ncdump shows the last name for both",
    "test-h5link.h5": "a group that two external links lead to is not shown twice",
    "dim_scales.hdf5": "the library takes the last of several scales of a dimension, the format the first",
    "sizes_24e.h5": "the library reads 0xffffffff as a maximum where lengths have 4 bytes",
    "sizes_44e.h5": "the library reads 0xffffffff as a maximum where lengths have 4 bytes",
    "sizes_84e.h5": "the library reads 0xffffffff as a maximum where lengths have 4 bytes",
}


def files(folders):
    for folder in folders:
        for below, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                path = os.path.join(below, name)
                with open(path, "rb") as file:
                    head = file.read(8)
                if head.startswith(SIGNATURES):
                    yield path


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*command):
    limit = limited if command[0] == "ncdump" else None
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, b"", b"timeout"
    return done.returncode, done.stdout, done.stderr


def without_comments(text):
    """The text without the lines that name what ncdump omits, and whether there were any."""
    if b"// not in CDL: " not in text:
        return text, False
    lines = text.split(b"\n")
    kept = [line for line in lines if not line.lstrip().startswith(b"// not in CDL: ")]
    return b"\n".join(kept), True


def first_difference(own, other):
    for number, (a, b) in enumerate(zip(own.split(b"\n"), other.split(b"\n")), 1):
        if a != b:
            return [f"line {number}: {a[:160]!r}", f"ncdump: {b[:160]!r}"]
    return [f"{len(own)} bytes, ncdump {len(other)}"]


def compare(hyperslab, path, values):
    """`None` if ncdump cannot open the file, otherwise a word for the result and the reasons."""
    code, wanted, _ = run("ncdump", *([] if values else ["-h"]), path)
    if code != 0 or not wanted.endswith(b"}\n") or len(wanted) > MAX:
        return None
    options = ["--values"] if values else []
    code, found, said = run(hyperslab, "describe", "--quiet", "--follow-links", "--as", "cdl", *options, path)
    if code is None:
        return "differs", ["timeout"]
    found, has_comments = without_comments(found)
    if found == wanted:
        return ("equal but for comments" if has_comments else "equal"), []
    return "differs", first_difference(found, wanted) + [said.decode(errors="replace").strip()[:200]]


def main():
    hyperslab, *folders = sys.argv[1:]
    every = int(folders.pop()) if folders[-1].isdigit() else 1
    tally, counts, occurred = Tally(), Counter(), set()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = []
        for path in itertools.islice(files(folders), 0, None, every):
            for values in (False, True):
                if not values or os.path.getsize(path) <= SMALL:
                    asked.append((path, values, pool.submit(compare, hyperslab, path, values)))
        for path, values, answer in asked:
            result = answer.result()
            kind = "with values" if values else "declarations"
            if result is None:
                counts[f"{kind}: not opened by ncdump"] += 1
                continue
            word, reasons = result
            counts[f"{kind}: {word}"] += 1
            known = [end for end in EXCEPTIONS if path.endswith(end)]
            if known and word == "differs":
                occurred.update(known)
                continue
            tally.check(word != "differs", f"{path}, {kind}", reasons)
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    for end in sorted(EXCEPTIONS.keys() - occurred):
        # Only if all files were compared is it known that no file of this name differs.
        if every == 1 and any(path.endswith(end) for path, _, _ in asked):
            tally.check(False, f"{end} no longer differs; its exception must go")
    tally.close()


if __name__ == "__main__":
    main()
