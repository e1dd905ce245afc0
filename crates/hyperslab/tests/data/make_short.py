"""Writes short/: a file whose numbered sources are partly missing, and one whose external file ends too early.

    target/oracles/venv/bin/python crates/hyperslab/tests/data/make_short.py
"""

import os

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "short"))
END = h5s.UNLIMITED

for letter, count in (("a", 3), ("b", 1)):
    for number in range(count):
        with h5py.File(f"{letter}-{number}.h5", "w", libver="v110") as file:
            file["x"] = np.full(2, 10 * number + (letter == "b"), "<i2")

with h5py.File("master.h5", "w", libver="v110") as file:
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_layout(h5d.VIRTUAL)
    for row, letter in enumerate("ab"):
        here = h5s.create_simple((2, 2), (2, END))
        here.select_hyperslab((row, 0), (1, END), (1, 2), (1, 2))
        plist.set_virtual(here, f"{letter}-%b.h5".encode(), b"/x", h5s.create_simple((2,)))
    h5d.create(file.id, b"numbered", h5t.STD_I16LE, h5s.create_simple((2, 2), (2, END)), plist)
    # 6 bytes in the first file, 10 in the second, which has 4.
    file.create_dataset("raw", (8,), "<i2", external=[("whole.raw", 2, 6), ("short.raw", 4, 10)])
np.arange(4, dtype="<i2").tofile("whole.raw")
np.arange(4, dtype="<i2").tofile("short.raw")
with h5py.File("master.h5") as file:
    print(file["numbered"][...].tolist(), file["raw"][...].tolist())

# A group whose attributes cannot be read, above an array that can.
with h5py.File("deep.h5", "w", libver="v110") as file:
    file["g/sub/x"] = np.arange(3, dtype="<i2")
    file["y"] = np.arange(3, dtype="<i2")
    for number in range(20):
        file["g"].attrs[f"a{number}"] = np.int16(number)
with open("deep.h5", "r+b") as file:
    stored = file.read()
    file.seek(stored.index(b"FRHP"))
    file.write(b"DAMAGED!")

# Names in Latin-1, which differ in bytes that are not UTF-8.
with h5py.File("names.h5", "w", libver="v110") as file:
    for byte in (b"\xe4", b"\xf6"):
        dataset = h5d.create(file.id, b"link" + byte, h5t.STD_I16LE, h5s.create_simple((2,)))
        for other in (b"\xe4", b"\xf6"):
            h5py.h5a.create(dataset, b"attribute" + other, h5t.STD_I16LE, h5s.create_simple((2,)))
    compound = h5t.create(h5t.COMPOUND, 4)
    enumeration = h5t.enum_create(h5t.STD_I8LE)
    for number, byte in enumerate((b"\xe4", b"\xf6")):
        compound.insert(b"member" + byte, 2 * number, h5t.STD_I16LE)
        enumeration.enum_insert(b"value" + byte, number)
    h5d.create(file.id, b"compound", compound, h5s.create_simple((2,)))
    h5d.create(file.id, b"enumeration", enumeration, h5s.create_simple((2,)))

# What only HDF5 has: labels, a scale with another name, a second scale, a scale of two dimensions, and a user block.
with h5py.File("facts.h5", "w", libver="v110", userblock_size=512) as file:
    for name, shape in (("x", 3), ("other", 3), ("lat", (2, 3))):
        file[name] = np.ones(shape, "<f4")
    data = file["data"] = np.arange(6, dtype="<i2").reshape(2, 3)
    data = file["data"]
    file["x"].make_scale("longitude")
    file["other"].make_scale("other")
    file["lat"].make_scale("lat")
    data.dims[0].label = "row"
    data.dims[1].attach_scale(file["x"])
    data.dims[1].attach_scale(file["other"])
    data.dims[0].attach_scale(file["lat"])
    h5py.h5o.set_comment(file["data"].id, b"measured twice")
    # A dimension by its name, with values that are not the fill value.
    file["pure"] = np.float32([1, 2])
    file["pure"].make_scale("This is a netCDF dimension but not a netCDF variable         2")
with open("facts.h5", "r+b") as file:
    file.write(b"MATLAB 7.3")
