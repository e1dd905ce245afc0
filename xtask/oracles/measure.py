"""Measurements that all tables of `cargo xtask bench` share."""

import json
import os
import platform
import subprocess
import sys
import time

ROUNDS = 7


def run(command, allowed=(0,)):
    """The time in seconds, the peak memory in MiB, the last line of output and its size in bytes, of a process."""
    seconds, _, peak, last, size = run_with_cpu(command, allowed)
    return seconds, peak, last, size


def run_with_cpu(command, allowed=(0,)):
    """As `run`, with the CPU seconds of all threads after the time."""
    # Started from a small process, because the peak of a child begins with that of its parent, which has imported libraries.
    small = subprocess.run([sys.executable, "-S", __file__, *command], stdout=subprocess.PIPE, check=True)
    *figures, status = json.loads(small.stdout)
    if status not in allowed:
        sys.exit(f"{command} ended with status {status}")
    return figures


def measured(command):
    """As `run_with_cpu`, with the exit code."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    last = b""
    size = 0
    while piece := process.stdout.read(1 << 16):
        size += len(piece)
        last = (last + piece)[-200:]
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    last = last.decode(errors="replace").strip().splitlines()[-1:]
    cpu = usage.ru_utime + usage.ru_stime
    return seconds, cpu, usage.ru_maxrss / 1024, last, size, os.waitstatus_to_exitcode(status)


def machine():
    """A sentence that describes the machine."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}."


def write(table, lines):
    """Writes a page of docs/status."""
    os.makedirs(os.path.dirname(table), exist_ok=True)
    with open(table, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"wrote {table}")


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1:])))
