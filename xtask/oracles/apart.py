"""Comparisons in separate processes, because libraries crash on some files."""

import ast
import collections
import os
import sys
import traceback

from tally import Tally


# The exit status after an exception.
EXCEPTION = 70


class Done:
    """The output and the counts of a comparison."""

    def __init__(self, said):
        *lines, last = said.rstrip("\n").split("\n")
        self.lines = lines
        self.passed, self.failed, self.reasons, self.counts = ast.literal_eval(last)

    def add_to(self, tally, reasons, counts):
        print("\n".join(self.lines), end="\n" if self.lines else "")
        tally.passed += self.passed
        tally.failed += self.failed
        reasons.update(self.reasons)
        counts.update(self.counts)


def apart(look):
    """Calls look(tally, reasons, counts) in a separate process. Returns nothing if that process crashes."""

    def work(out):
        tally, reasons, counts = Tally(), collections.Counter(), collections.Counter()
        sys.stdout = out
        look(tally, reasons, counts)
        print(repr((tally.passed, tally.failed, dict(reasons), {kind: int(number) for kind, number in counts.items()})))

    said, is_exception = in_child(work)
    if is_exception:
        # A comparison that ends early has compared nothing.
        return Done("FAILED: the exception above ended a comparison\n(0, 1, {}, {})")
    return None if said is None else Done(said)


def in_child(work):
    """Runs work in a separate process, because the NetCDF library crashes on some files. Returns its text, or nothing after
    a crash, and whether an exception ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "w") as out:
                work(out)
        except BaseException:
            traceback.print_exc()
            os._exit(EXCEPTION)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as text:
        said = text.read()
    _, status = os.waitpid(child, 0)
    return said if status == 0 else None, os.WIFEXITED(status) and os.WEXITSTATUS(status) == EXCEPTION
