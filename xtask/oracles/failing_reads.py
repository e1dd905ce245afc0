"""Fails every request of a run in turn: python failing_reads.py HYPERSLAB EXAMPLES [all]

Each read, open, status and listing of the source fails once, in a separate run; for conversions, so do those of the target
and each write to it. The run must exit with 1 or 2 and a message that names the system error, or give the same answer
as the undisturbed run, and a target must be either complete or absent. A missing file is not a system error and
is not tried. Without `all`, only a few verbs and files are tried.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tally import Tally

EIO, EACCES, EMFILE, ENOSPC = 5, 13, 24, 28
# The kinds of requests, with the error of each.
KINDS = {"R": EIO, "O": EMFILE, "S": EACCES, "L": EIO, "W": ENOSPC}
# The wording of each error in messages.
WORDS = {EIO: b"input/output error", EACCES: b"permission denied", EMFILE: b"too many open files", ENOSPC: b"no space left"}
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
    "verify": ["-q", "convert", "--allow-loss=all", "--verify", "FILE", "TARGET"],
    # Requests to the folder of the target fail, not those to the source.
    "target": ["-q", "convert", "--allow-loss=all", "--verify", "FILE", "TARGET"],
    "zip": ["-q", "convert", "--allow-loss=all", "FILE", "TARGET.zip"],
}


# The maximum memory of a run, for files of a few kilobytes.
MEBIBYTES = 256
# Verbs for which the requests to the target fail.
TARGETS = ["target", "zip"]


class Trial:
    def __init__(self, program, shim, source, verb, kind):
        self.command = [program, "-j1", *VERBS[verb]]
        self.shim, self.source, self.verb, self.kind = shim, source, verb, kind

    def run(self, number):
        """The exit code, the answer, the content of the target, the messages, and the number of requests."""
        with tempfile.TemporaryDirectory() as folder:
            # A separate folder, in which nothing else is counted.
            beside, count = os.path.join(folder, "beside"), os.path.join(folder, "count")
            os.mkdir(beside)
            target = os.path.join(beside, "target.zarr")
            places = {"FILE": self.source, "TARGET": target, "TARGET.zip": target + ".zip"}
            settings = {
                "LD_PRELOAD": self.shim,
                "FAIL_BELOW": beside if self.verb in TARGETS else os.path.dirname(self.source),
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
            answer = done.stdout.replace(folder.encode(), b"FOLDER")
            # Files that an interrupted run leaves for the next one are hidden, and are not a target.
            names = [name for name in sorted(os.listdir(beside)) if not name.startswith(".")]
            target = b"".join(contents(os.path.join(beside, name)) for name in names)
            with open(count) as counted:
                requests = int(counted.read())
        return done.returncode, answer, target, done.stderr, requests

    def faults(self):
        """The number of requests, the failures that are not reported, and those whose message names no cause."""
        code, whole, target, _, requests = self.run(-1)
        silent, vague = [], []
        for number in range(requests):
            failed, found, written, messages, _ = self.run(number)
            if (failed, found, written) == (code, whole, target):
                continue
            which = f"{self.kind}{number} of {requests}: exit {failed}"
            # If the source is read completely, the target must be complete too; unreadable parts are an allowed loss.
            half = self.verb in TARGETS and written not in (b"", target)
            if failed not in (1, 2) or not (messages or found) or half:
                silent.append(which)
            elif WORDS[KINDS[self.kind]] not in messages.lower() + found.lower():
                vague.append(f"{which}: {messages.decode(errors='replace').strip()[:200]}")
        return requests, silent, vague


def contents(folder):
    """The files of a store, with their bytes."""
    found = []
    if os.path.isfile(folder):
        with open(folder, "rb") as file:
            found.append(file.read())
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
            # A separate folder, so that nothing else is below it.
            alone = os.path.join(folder, name + ".alone")
            os.mkdir(alone)
            copy = shutil.copytree if os.path.isdir(os.path.join(examples, name)) else shutil.copy
            copy(os.path.join(examples, name), os.path.join(alone, name))
            sources.append(os.path.join(alone, name))
        # A store with records of what Zarr cannot represent.
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
            trials += [Trial(program, shim, sources[0], "target", kind) for kind in "RW"]
        # The source is only read.
        trials = [trial for trial in trials if trial.kind != "W" or trial.verb in TARGETS]
        began = time.monotonic()
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            for trial, (requests, silent, vague) in zip(trials, workers.map(Trial.faults, trials)):
                total[trial.verb] += requests
                name = os.path.basename(trial.source)
                tally.check(not silent, f"{trial.verb} {name}: {len(silent)} failures in silence", silent)
                tally.check(not vague, f"{trial.verb} {name}: {len(vague)} messages without a cause", vague)
    failed = sum(total.values())
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(", ".join(f"{verb}: {count} requests" for verb, count in total.items()))
    print(
        f"{failed + len(trials)} runs, {failed} failures injected, "
        f"at most {peak} MiB, {time.monotonic() - began:.0f} s"
    )
    tally.check(failed > 300, f"only {failed} requests were failed")
    tally.check(peak < MEBIBYTES, f"{peak} MiB, at most {MEBIBYTES} expected")
    tally.close()


main()
