"""Measurements that all tables of `cargo xtask bench` share."""

import os
import platform
import subprocess
import sys
import time

ROUNDS = 7


def run(command, allowed=(0,)):
    """The time in seconds, the peak memory in MiB and the last line of output of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    last = b""
    size = 0
    while piece := process.stdout.read(1 << 16):
        size += len(piece)
        last = (last + piece)[-200:]
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in allowed:
        sys.exit(f"{command} ended with status {status}")
    return seconds, usage.ru_maxrss / 1024, last.decode(errors="replace").strip().splitlines()[-1:], size


def machine():
    """A sentence that describes the machine."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}."
