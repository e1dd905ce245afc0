"""Checks every file: a file that a library wrote and closed must have no error, a file that is broken on purpose must have one.

    check_corpus.py HYPERSLAB DIRECTORY

Broken files are listed in `xtask/corpus/exceptions.tsv`.
"""

import json
import multiprocessing
import os
import subprocess
import sys

from corpus import Refused, exceptions, stores
from tally import Tally

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
    files, broken = stores(directory), exceptions("broken", directory)
    tally = Tally()
    refused = Refused(tally, directory)
    with multiprocessing.Pool(2) as pool:
        for path, code, errors in pool.imap(one, [(hyperslab, path) for path in files], chunksize=8):
            name = os.path.relpath(path, directory).replace(os.sep, "/")
            if refused.check(path, code == 2):
                continue
            why = broken.pop(name, None)
            if why:
                tally.check(code == 1 and errors, f"{name}: no error found, although broken: {why}")
            else:
                tally.check(code == 0 and not errors, f"{name}: errors in a sound file", errors)
    refused.close()
    tally.check(not broken, "broken files that are not in the corpus", sorted(broken))
    tally.close()


if __name__ == "__main__":
    main()
