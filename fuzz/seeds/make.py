"""Writes the seeds next to this script: files that are as small as possible, with one feature each.

    target/oracles/venv/bin/python fuzz/seeds/make.py
"""

import os

import h5py
import numpy as np

LATEST = "latest"


def contiguous(f):
    f["x"] = np.arange(3, dtype="<i2")


def compound(f):
    f["c"] = np.array([(1, b"ab", [0.5, 1])], [("n", "<i2"), ("s", "S3"), ("a", ">f4", (2,))])
    f["e"] = np.int8(1)
    f.create_dataset("enum", data=np.int8([0, 1]), dtype=h5py.enum_dtype({"no": 0, "yes": 1}, "i1"))


def variable(f):
    f.create_dataset("s", data=np.array(["a", "", "text"], object), dtype=h5py.string_dtype())
    d = f.create_dataset("v", (2,), dtype=h5py.vlen_dtype("<u2"))
    d[0], d[1] = [1, 2, 3], []


def references(f):
    f["x"] = np.zeros((2, 3), "u1")
    f["r"] = np.array([f["x"].ref, f.ref], h5py.ref_dtype)
    f.create_dataset("region", (1,), dtype=h5py.regionref_dtype)[0] = f["x"].regionref[0:1, 1:2]


def chunked(f):
    f.create_dataset("c", data=np.arange(10, dtype="<i4").reshape(2, 5), chunks=(2, 2), maxshape=(None, 5),
                     compression=1, shuffle=True, fletcher32=True)


def chunked_two_unlimited(f):
    f.create_dataset("c", data=np.arange(6, dtype="<i4").reshape(2, 3), chunks=(1, 2), maxshape=(None, None))


def dense(f):
    g = f.create_group("g", track_order=True)
    for index in range(10):
        g[f"l{index}"] = h5py.SoftLink("/g")
        g.attrs[f"a{index}"] = np.int8(index)


def scales(f):
    f["x"] = np.float32([1, 2])
    f["x"].make_scale("x")
    f["y"] = np.zeros((2, 2), "u1")
    f["y"].dims[0].attach_scale(f["x"])
    f["x"].attrs["_Netcdf4Dimid"] = np.int32(0)


SEEDS = [
    ("contiguous_v0.h5", "earliest", contiguous),
    ("contiguous_v3.h5", LATEST, contiguous),
    ("compound.h5", LATEST, compound),
    ("variable_v0.h5", "earliest", variable),
    ("references_v0.h5", "earliest", references),
    ("chunked_v0.h5", "earliest", chunked),
    ("chunked_v3.h5", LATEST, chunked),
    ("two_unlimited.h5", LATEST, chunked_two_unlimited),
    ("dense.h5", LATEST, dense),
    ("scales_v0.h5", "earliest", scales),
]

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name, libver, write in SEEDS:
        with h5py.File(os.path.join(here, name), "w", libver=libver) as f:
            write(f)
        print(f"{os.path.getsize(os.path.join(here, name)):6}  {name}")
