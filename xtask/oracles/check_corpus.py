"""Has every file checked: what a library wrote and closed must have no error, what was broken on purpose must have one.

    check_corpus.py HYPERSLAB DIRECTORY
"""

import json
import multiprocessing
import os
import subprocess
import sys

from tally import Tally

# Files that are broken, by the end of their path, and how; libhdf5 refuses each, or the part that is meant.
BROKEN = {
    "PureHDF.Tests/TestFiles/blosc.h5": "its last B-tree node reaches past the end-of-file address",
    "generated/dev/bitflip.h5": "a bit of a chunk was turned",
    "generated/dev/truncated.h5": "cut",
    "c++/test/th5s.h5": "a dataspace of 33 dimensions",
    "test/testfiles/bad_compound.h5": "a compound without members",
    "test/testfiles/bad_offset.h5": "link names outside of their heap",
    "test/testfiles/corrupt_stab_msg.h5": "a symbol table message that leads elsewhere",
    "test/testfiles/memleak_H5O_dtype_decode_helper_H5Odtype.h5": "a datatype that is cut",
    "test/testfiles/tmisc38a.h5": "a fill value of another size than its elements",
    "h5dump/testfiles/3790_infinite_loop.h5": "an object header of four gigabytes",
    "h5dump/testfiles/err_attr_dspace.h5": "a dataspace of version 6",
    "h5dump/testfiles/tCVE-2021-37501_attr_decode.h5": "a dimension beyond its maximum",
    "h5dump/testfiles/test_subfiling_stripe_sizes.h5": "a stub without the files that hold its data",
    "h5repack/testfiles/h5repack_CVE-2018-14460.h5": "a message that is cut",
    "h5repack/testfiles/h5repack_CVE-2018-17432.h5": "a scalar with dimensions",
    "h5stat/testfiles/h5stat_err_old_fill.h5": "a fill value of 16 MB in a message of bytes",
    "h5stat/testfiles/h5stat_err_old_layout.h5": "a layout without dimensions",
    "h5stat/testfiles/h5stat_err_refcount.h5": "a reference count that is not that of its links",
    "misc/testfiles/h5clear_fsm_persist_greater.h5": "not closed: the end-of-file address is too large",
    "misc/testfiles/h5clear_fsm_persist_user_greater.h5": "not closed: the end-of-file address is too large",
    "misc/testfiles/h5clear_fsm_persist_user_less.h5": "not closed: the end-of-file address is too small",
    "misc/testfiles/h5clear_status_noclose.h5": "not closed: its root was never written",
}


def one(job):
    hyperslab, path = job
    try:
        done = subprocess.run([hyperslab, "check", "--json", path], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return path, None, ["takes more than a minute"]
    findings = map(json.loads, done.stdout.splitlines())
    errors = [f"{f['object']} byte {f['byte']} {f['rule']}: {f['message']}" for f in findings if f["severity"] == "error"]
    return path, done.returncode, errors


def main():
    hyperslab, directory = sys.argv[1:]
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(directory) for name in names)
    tally = Tally()
    refused = 0
    with multiprocessing.Pool(2) as pool:
        for path, code, errors in pool.imap(one, [(hyperslab, path) for path in files], chunksize=8):
            why = next((why for end, why in BROKEN.items() if path.replace(os.sep, "/").endswith(end)), None)
            name = os.path.relpath(path, directory)
            if code == 2:
                refused += 1
            elif why:
                tally.check(code == 1 and errors, f"{name}: no error found, although {why}")
            else:
                tally.check(code == 0 and not errors, f"{name}: errors in a sound file", errors)
    print(f"{refused} files are of no format that is checked, and refused")
    tally.close()


if __name__ == "__main__":
    main()
