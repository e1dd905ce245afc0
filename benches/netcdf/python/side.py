"""One side of a comparison: writes a file repeatedly, on commands from standard input.

    side.py program write KEY=VALUE...
    side.py many write KEY=VALUE...

Keys: `source`, `into`, and `words` of the program, in which SOURCE and INTO stand for them. `many` writes `count` variables
along one dimension with netCDF4.
"""

import os
import sys

import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "side", "python"))

from bench_program import Program, Written
from bench_side import serve

FEW = np.arange(10, dtype="f4")


def content(into):
    return [os.path.join(HERE, "content.py"), into] if into.endswith(".nc") else ["-c", "print('-')"]


class Many(Written):
    def __init__(self, job):
        super().__init__(job["into"], content(job["into"]))
        self.count = int(job["count"])
        self.extent = None if job.get("unlimited") else 10

    def run(self):
        with netCDF4.Dataset(self.into, "w") as file:
            file.createDimension("x", self.extent)
            for number in range(self.count):
                variable = file.createVariable(f"v{number:05}", "f4", ("x",))
                variable.units = "m"
                variable[:10] = FEW


def begin(side, kind, job):
    if side == "many":
        return Many(job)
    words = [job.get(word.lower(), word) if word in ("SOURCE", "INTO") else word for word in job["words"].split()]
    return Program(words, job["into"], content(job["into"]))


serve(begin)
