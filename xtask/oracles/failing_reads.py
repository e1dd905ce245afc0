"""Fails every request of a run in turn: python failing_reads.py HYPERSLAB EXAMPLES [all]

Each read, open, status and listing of the source fails once, in a run of its own. The run must exit with 1 or 2 and a
message, or give the same answer as the undisturbed one. A file that is absent is not an error of the system and is not
tried. Without `all`, few verbs and files are.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tally import Tally

EIO, EACCES, EMFILE = 5, 13, 24
# The kinds of requests, with the error of each.
KINDS = {"R": EIO, "O": EMFILE, "S": EACCES, "L": EIO}
FEW = ["floats.zarr", "single.zarr.zip", "strings.nc", "classic.nc"]
VERBS = {
    "digest": ["digest", "FILE"],
    "describe": ["describe", "--values=1000", "FILE"],
    "ls": ["ls", "-rl", "FILE"],
    "stat": ["stat", "--values", "FILE"],
    "check": ["check", "FILE"],
    "diff": ["diff", "FILE", "FILE"],
    "files": ["files", "FILE"],
    "convert": ["-q", "convert", "--allow-loss=all", "FILE", "TARGET"],
}


class Trial:
    def __init__(self, program, shim, source, verb, kind):
        self.command = [program, "-j1", *VERBS[verb]]
        self.shim, self.source, self.verb, self.kind = shim, source, verb, kind

    def run(self, number):
        """The exit code, the answer, the messages and the number of requests."""
        with tempfile.TemporaryDirectory() as folder:
            target, count = os.path.join(folder, "target.zarr"), os.path.join(folder, "count")
            places = {"FILE": self.source, "TARGET": target}
            settings = {
                "LD_PRELOAD": self.shim,
                "FAIL_BELOW": os.path.dirname(self.source),
                "FAIL_KINDS": self.kind,
                "FAIL_NUMBER": str(number),
                "FAIL_ERROR": str(KINDS[self.kind]),
                "FAIL_COUNT": count,
            }
            done = subprocess.run(
                [places.get(word, word) for word in self.command],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **settings},
                timeout=120,
            )
            answer = done.stdout.replace(target.encode(), b"TARGET")
            if self.verb == "convert" and done.returncode == 0:
                answer += contents(target)
            with open(count) as counted:
                requests = int(counted.read())
        return done.returncode, answer, done.stderr, requests

    def faults(self):
        """How many requests there are, and the numbers of those whose failure nobody is told."""
        code, answer, _, requests = self.run(-1)
        silent = []
        for number in range(requests):
            failed, found, messages, _ = self.run(number)
            same = failed == code and found == answer
            told = failed in (1, 2) and (messages or found)
            if not (same or told):
                silent.append(f"{self.kind}{number} of {requests}: exit {failed}")
        return requests, silent


def contents(folder):
    """The files of a store, with their bytes."""
    found = []
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            with open(os.path.join(path, name), "rb") as file:
                found.append(name.encode() + file.read())
    return b"".join(found)


def main():
    program, examples = os.path.abspath(sys.argv[1]), os.path.realpath(sys.argv[2])
    every = sys.argv[3:] == ["all"]
    tally, total = Tally(), Counter()
    if not (shutil.which("cc") and sys.platform == "linux"):
        tally.skip("no C compiler for the library that fails requests")
        tally.close()
    with tempfile.TemporaryDirectory() as folder:
        shim = os.path.join(folder, "failing_reads.so")
        code = os.path.join(os.path.dirname(os.path.abspath(__file__)), "failing_reads.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, code, "-ldl"], check=True)
        names = sorted(os.listdir(examples)) if every else FEW
        names = [name for name in names if os.path.splitext(name)[1] in (".h5", ".nc", ".zarr", ".zip", ".yaml")]
        sources = []
        for name in names:
            # A folder of its own, so that nothing else is below it.
            alone = os.path.join(folder, name + ".alone")
            os.mkdir(alone)
            copy = shutil.copytree if os.path.isdir(os.path.join(examples, name)) else shutil.copy
            copy(os.path.join(examples, name), os.path.join(alone, name))
            sources.append(os.path.join(alone, name))
        # A store with records of what Zarr lacks.
        kept = os.path.join(folder, "kept.alone", "kept.zarr")
        os.mkdir(os.path.dirname(kept))
        subprocess.run(
            [program, "-q", "convert", "--allow-loss=all", os.path.join(examples, "ocean.nc"), kept],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        sources.append(kept)
        verbs = VERBS if every else ["digest"]
        trials = [Trial(program, shim, source, verb, kind) for source in sources for verb in verbs for kind in KINDS]
        if not every:
            trials += [Trial(program, shim, sources[0], "convert", kind) for kind in "RO"]
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            for trial, (requests, silent) in zip(trials, workers.map(Trial.faults, trials)):
                total[trial.verb] += requests
                name = os.path.basename(trial.source)
                tally.check(not silent, f"{trial.verb} {name}: {len(silent)} failures in silence", silent)
    print(", ".join(f"{verb}: {count} requests" for verb, count in total.items()))
    tally.check(sum(total.values()) > 300, f"only {sum(total.values())} requests were failed")
    tally.close()


main()
