"""Writes nexus/: a master file that names data files, one of which names a file of raw bytes and one of which is missing.

    target/oracles/venv/bin/python crates/hyperslab/tests/data/make_nexus.py
"""

import os

import h5py
import numpy as np

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nexus"))

with h5py.File("data_1.h5", "w", libver="v110") as file:
    file["data"] = np.arange(4, dtype="<i2")
np.arange(4, 8, dtype="<i2").tofile("data_2.raw")
with h5py.File("data_2.h5", "w", libver="v110") as file:
    file.create_dataset("data", (4,), "<i2", external=[("data_2.raw", 0, 8)])
    # Back to where it was named.
    file["master"] = h5py.ExternalLink("master.nxs", "/")
with h5py.File("master.nxs", "w", libver="v110") as file:
    layout = h5py.VirtualLayout((3, 4), "<i2")
    for number in range(3):
        layout[number] = h5py.VirtualSource(f"data_{number + 1}.h5", "data", (4,))
    entry = file.create_group("entry")
    entry.create_virtual_dataset("all", layout)
    entry["first"] = h5py.ExternalLink("data_1.h5", "/data")
    entry["last"] = h5py.ExternalLink("data_3.h5", "/data")
    entry["outside"] = h5py.ExternalLink("../make_nexus.py", "/data")

# Two files that lead to each other, one to a group with a dimension.
with h5py.File("ring_a.h5", "w", libver="v110") as file:
    file["other"] = h5py.ExternalLink("ring_b.h5", "/")
    file["grid"] = h5py.ExternalLink("ring_b.h5", "/g")
    file["value"] = np.int16(1)
with h5py.File("ring_b.h5", "w", libver="v110") as file:
    file["back"] = h5py.ExternalLink("ring_a.h5", "/")
    group = file.create_group("g")
    group["x"] = np.float32([1, 2, 3])
    group["x"].make_scale("x")
    group["d"] = np.int16([4, 5, 6])
    group["d"].dims[0].attach_scale(group["x"])
    group["d"].attrs["of"] = group["x"].ref
    group["soft"] = h5py.SoftLink("d")
    group["refers"] = np.array([group["d"].ref], h5py.ref_dtype)
