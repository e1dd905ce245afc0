"""Writes sohm_*.hex. Run with h5py 3.16 (HDF5 2.0.0)."""

import ctypes
import glob
import os
import tempfile

import h5py
import numpy

from hextext import offsets, uint, write

FOLDER = os.path.join(os.path.dirname(h5py.__file__), os.pardir)
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(FOLDER, "h5py.libs", "libhdf5-*.so*"))[0])
LIBRARY.H5Pset_shared_mesg_nindexes.argtypes = [ctypes.c_int64, ctypes.c_uint]
LIBRARY.H5Pset_shared_mesg_index.argtypes = [ctypes.c_int64] + [ctypes.c_uint] * 3
LIBRARY.H5Pset_shared_mesg_phase_change.argtypes = [ctypes.c_int64] + [ctypes.c_uint] * 2

DATASPACE, DATATYPE, ATTRIBUTE = 1 << 1, 1 << 3, 1 << 12


def plist():
    """h5py does not know shared messages, so the library behind it is called."""
    made = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    assert LIBRARY.H5Pset_shared_mesg_nindexes(made.id, 2) >= 0
    assert LIBRARY.H5Pset_shared_mesg_index(made.id, 0, ATTRIBUTE, 20) >= 0
    assert LIBRARY.H5Pset_shared_mesg_index(made.id, 1, DATASPACE | DATATYPE, 10) >= 0
    assert LIBRARY.H5Pset_shared_mesg_phase_change(made.id, 4, 3) >= 0
    return made


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.h5")
    made = h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, plist())
    with h5py.File(made) as file:
        for i in range(5):
            file.create_dataset(f"d{i}", (i + 1, 2), dtype=f"S{i + 1}")
        for i in range(3):
            file[f"d{i}"].attrs["units"] = numpy.bytes_("a unit that three datasets have")
        file["d0"].attrs["name"] = numpy.bytes_("a name that one dataset has")
    with open(path, "rb") as file:
        data = file.read()

(at,) = offsets(data, b"SMTB")
write("sohm_table", "table of a list of attributes and a B-tree of dataspaces and datatypes", data[at : at + 68])
(at,) = [at for at in offsets(data, b"SMLI") if uint(data, at + 9, 4) == 3]
write("sohm_list", "list of two attributes, of which three datasets have one", data[at : at + 8 + 2 * 17])
