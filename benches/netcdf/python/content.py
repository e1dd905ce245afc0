"""Prints a hash of the elements of all variables of a file, in the order of their names, read by netCDF4.

    content.py FILE
"""

import sys

import netCDF4
from blake3 import blake3

total = blake3(max_threads=blake3.AUTO)
with netCDF4.Dataset(sys.argv[1]) as file:
    file.set_auto_maskandscale(False)
    for name in sorted(file.variables):
        elements = file.variables[name][:]
        total.update(f"{name} {elements.shape}\n".encode())
        total.update(elements.tobytes())
print(total.hexdigest())
