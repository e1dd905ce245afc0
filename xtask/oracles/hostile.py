"""Runs every verb on files that ask for excessive resources: python hostile.py HYPERSLAB FOLDER [NAME...]

Each run must end with an answer or an error that states what is wrong, within 5 seconds and 512 MiB. On a machine with
other work to do, the seconds on the clock say little: a run fails if it also takes 5 seconds of processor time. A table
at the end has the time and the peak memory of each file and verb.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import hostile_files
from tally import Tally

SECONDS = 5
MEBIBYTES = 512
# The limits at which a run is killed: high enough to show by how much it fails.
PATIENCE = 20
ADDRESS_SPACE = 6 << 30

# Each verb with its arguments; FILE and the targets are replaced.
VERBS = {
    "ls": ["ls", "-rl", "FILE"],
    "show": ["show", "FILE"],
    "stat": ["stat", "--values", "FILE"],
    "describe": ["describe", "FILE"],
    "describe --values=10": ["describe", "--values=10", "FILE"],
    "digest": ["digest", "FILE"],
    "diff": ["diff", "FILE", "FILE"],
    "check": ["check", "FILE"],
    "convert -n": ["convert", "-n", "--allow-loss=all", "FILE", "TARGET"],
    "convert": ["convert", "--allow-loss=all", "FILE", "TARGET"],
    "convert to HDF5": ["convert", "--allow-loss=all", "FILE", "HDF5"],
    "repack": ["repack", "--allow-loss=all", "FILE", "HDF5"],
}


def remove(target):
    if os.path.isfile(target):
        os.remove(target)
    shutil.rmtree(target, ignore_errors=True)


class Run:
    """One run: its exit code, seconds on the clock and of processors, mebibytes, and the last of its messages."""

    def __init__(self, command, target):
        remove(target)

        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))

        with tempfile.TemporaryFile() as messages:
            begun = time.monotonic()
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=limited
            )
            killer = threading.Timer(PATIENCE, lambda: os.kill(child.pid, signal.SIGKILL))
            killer.start()
            _, status, used = os.wait4(child.pid, 0)
            killer.cancel()
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - begun
            self.work = used.ru_utime + used.ru_stime
            self.mebibytes = used.ru_maxrss / 1024
            messages.seek(0)
            self.messages = messages.read().decode(errors="replace")

    def faults(self, is_honest):
        if self.code not in (0, 1, 2):
            yield f"exit code {self.code}"
        if self.code == 2 and not self.messages:
            yield "exit code 2 without a message"
        if self.seconds > SECONDS and not is_honest:
            yield f"{self.seconds:.1f} s, {self.work:.1f} s of processor time"
        if self.mebibytes > MEBIBYTES:
            yield f"{self.mebibytes:.0f} MiB"


def best(command, target):
    """The fastest of up to three runs: another program may have taken the time of a slow one."""
    runs = [Run(command, target)]
    while SECONDS < runs[-1].seconds < PATIENCE and len(runs) < 3:
        runs.append(Run(command, target))
    return min(runs, key=lambda run: run.seconds)


def main():
    program, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    tally, rows = Tally(), []
    for name in hostile_files.write(folder, names):
        for verb, arguments in VERBS.items():
            targets = {"TARGET": "target.zarr", "HDF5": "target.h5"}
            targets = {word: os.path.join(folder, target) for word, target in targets.items()}
            target = targets.get(arguments[-1], targets["TARGET"])
            places = {"FILE": os.path.join(folder, name), **targets}
            run = best([program, "-q"] + [places.get(word, word) for word in arguments], target)
            faults = list(run.faults(name in hostile_files.HONEST))
            rows.append((name, verb, run, faults))
            tally.check(not faults, f"{verb} {name}: {', '.join(faults)}", run.messages.splitlines()[:2])
    print(f"{'file':26}{'verb':22}{'exit':>4}{'seconds':>9}{'CPU':>7}{'MiB':>7}")
    for name, verb, run, faults in rows:
        mark = "  FAILED" if faults else ""
        print(f"{name:26}{verb:22}{run.code:4}{run.seconds:9.2f}{run.work:7.2f}{run.mebibytes:7.0f}{mark}")
    slowest = max(run.seconds for _, _, run, _ in rows)
    busiest = max(run.work for _, _, run, _ in rows)
    largest = max(run.mebibytes for _, _, run, _ in rows)
    print(f"slowest {slowest:.2f} s, most processor time {busiest:.2f} s, peak memory {largest:.0f} MiB")
    tally.close()


main()
