"""Makes traps.h5, in which other readers have been seen to go wrong, and checks it against h5py.

Every element is told by its indexes, so that one that stands in a wrong place shows: 100 i + j in two dimensions.
"""

import os
import struct

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MADE = os.path.join(HERE, "traps.h5")
PART = os.path.join(HERE, "traps_part.h5")


def grid(rows, columns, dtype):
    i, j = np.mgrid[0:rows, 0:columns]
    return (100 * i + j).astype(dtype)


def dataset(file, name, shape, dtype, chunks=None, maxshape=None, fill=None, nbit=False, alloc=None):
    """A dataset with what h5py's own function cannot say."""
    space = h5py.h5s.create_simple(shape, tuple(h5py.h5s.UNLIMITED if n is None else n for n in maxshape or shape))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunks:
        plist.set_chunk(chunks)
    if nbit:
        plist.set_filter(h5py.h5z.FILTER_NBIT, 0, ())
    if fill is not None:
        plist.set_fill_value(np.array(fill, dtype=dtype if not isinstance(dtype, h5py.h5t.TypeID) else "i4"))
    if alloc is not None:
        plist.set_alloc_time(alloc)
    kind = dtype if isinstance(dtype, h5py.h5t.TypeID) else h5py.h5t.py_create(np.dtype(dtype))
    return h5py.h5d.create(file.id, name.encode(), kind, space, plist)


def latest():
    with h5py.File(MADE, "w", libver="latest") as f:
        # Extensible array, version 2 B-tree and fixed array, with the growing dimension last or a maximum beyond
        # the extent.
        f.create_dataset("second_unlimited", data=grid(5, 7, "i4"), chunks=(2, 3), maxshape=(5, None))
        f.create_dataset("both_unlimited", data=grid(5, 7, "i4"), chunks=(2, 3), maxshape=(None, None))
        f.create_dataset("maximum_beyond", data=grid(5, 7, "i4"), chunks=(2, 3), maxshape=(11, 20))
        shrunk = f.create_dataset("shrunk", data=grid(6, 8, "i4"), chunks=(4, 4), maxshape=(None, None), fillvalue=-7)
        shrunk.resize((3, 5))
        shrunk.resize((6, 8))
        sparse = f.create_dataset("sparse", (6, 8), "f8", chunks=(3, 4), fillvalue=2.5)
        sparse[4, 6] = 1.0
        # Two datasets with chunks at the same coordinates.
        f.create_dataset("one", data=grid(4, 4, "i4"), chunks=(2, 2), compression="gzip")
        f.create_dataset("other", data=-grid(4, 4, "i4"), chunks=(2, 2), compression="gzip")
        # Filters whose own byte order is not that of the element.
        for name, dtype in [("big_i4", ">i4"), ("big_u2", ">u2"), ("little_i8", "<i8")]:
            f.create_dataset(f"scaleoffset_{name}", data=grid(4, 6, dtype), chunks=(4, 3), scaleoffset=0)
        for name, dtype in [("big_f4", ">f4"), ("big_f8", ">f8"), ("little_f8", "<f8")]:
            f.create_dataset(f"scaleoffset_{name}", data=grid(4, 6, dtype) / 4, chunks=(4, 3), scaleoffset=3)
        filled = f.create_dataset("scaleoffset_filled", (4, 6), ">i4", chunks=(4, 3), scaleoffset=0, fillvalue=-1)
        filled[1:3] = grid(4, 6, ">i4")[1:3]
        narrow = h5py.h5t.STD_I32BE.copy()
        narrow.set_precision(12)
        narrow.set_offset(3)
        dataset(f, "nbit_narrow", (4, 6), narrow, chunks=(2, 6), nbit=True)
        f["nbit_narrow"][...] = grid(4, 6, "i4")
        dataset(f, "nbit_big_f4", (4, 6), ">f4", chunks=(2, 6), nbit=True)
        f["nbit_big_f4"][...] = grid(4, 6, "f4") / 8
        pair = np.dtype([("a", ">i4"), ("b", "<f8"), ("c", ">u2", (2,))])
        dataset(f, "nbit_compound", (6,), pair, chunks=(4,), nbit=True)
        values = np.zeros(6, pair)
        values["a"], values["b"] = np.arange(6) - 3, np.arange(6) / 4
        values["c"] = np.arange(12).reshape(6, 2)
        f["nbit_compound"][...] = values
        # Groups that contain each other, links that lead in circles and out of the file.
        inner = f.create_group("loop/inner")
        inner["back"] = f["loop"]
        f["circle_a"] = h5py.SoftLink("/circle_b")
        f["circle_b"] = h5py.SoftLink("/circle_a")
        f["outside"] = h5py.ExternalLink("traps.h5", "/outside")
        # Petabytes that were never written.
        f.create_dataset("vast", (1 << 40, 1 << 10), "f8", chunks=(1 << 10, 1 << 7), fillvalue=1.5)
        # Sources that are there, that are missing, and that grow.
        layout = h5py.VirtualLayout((3, 4), "i4", maxshape=(None, 4))
        layout[0] = h5py.VirtualSource("traps_part.h5", "row", (4,))
        layout[1] = h5py.VirtualSource("traps_absent.h5", "row", (4,))
        f.create_virtual_dataset("virtual", layout, fillvalue=-5)
        unlimited = h5py.h5s.UNLIMITED
        target = h5py.h5s.create_simple((4, 4), (unlimited, 4))
        source = h5py.h5s.create_simple((3, 4), (unlimited, 4))
        target.select_hyperslab((0, 0), (unlimited, 1), (1, 4), (1, 4))
        source.select_hyperslab((0, 0), (unlimited, 1), (1, 4), (1, 4))
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_virtual(target, b"traps_part.h5", b"rows", source)
        space = h5py.h5s.create_simple((4, 4), (unlimited, 4))
        h5py.h5d.create(f.id, b"virtual_growing", h5py.h5t.STD_I32LE, space, plist)
    with h5py.File(PART, "w", libver="latest") as f:
        f["row"] = np.arange(4, dtype="i4")
        f.create_dataset("rows", data=grid(3, 4, "i4"), maxshape=(None, 4), chunks=(2, 4))


def old_layouts():
    """Layout messages of versions 1 and 2 and a compound of version 1 whose member has dimensions of its own."""
    path = os.path.join(HERE, "traps_old.h5")
    with h5py.File(path, "w", libver="earliest") as f:
        for version in (1, 2):
            f.create_dataset(f"contiguous_{version}", data=np.arange(6, dtype="<i4") * version)
            f.create_dataset(f"chunked_{version}", data=np.arange(7, dtype="<i4") * version, chunks=(4,))
        kind = np.dtype({"names": ["a", "b"], "formats": ["<i4", "<i4"], "offsets": [0, 4], "itemsize": 12})
        f.create_dataset("compound_1", data=np.zeros(2, kind))
        places = {name: h5py.h5o.get_info(f[name].id).addr for name in f}
        where = f["compound_1"].id.get_offset()
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for name, address in places.items():
        version = int(name[-1])
        for at, kind, size in messages(data, address):
            if kind == 8 and data[at] == 3 and name != "compound_1":
                cls = data[at + 1]
                if cls == 1:
                    (place,) = struct.unpack_from("<Q", data, at + 2)
                    dims = (6, 4)
                else:
                    (place,) = struct.unpack_from("<Q", data, at + 3)
                    dims = (4, 4)
                new = struct.pack("<BBB5xQII", version, 2, cls, place, *dims)
                assert len(new) == size, (name, size)
                data[at:at + size] = new
            if kind == 3 and name == "compound_1":
                assert data[at] == 0x16, hex(data[at])
                # Each member: its name in eight bytes, offset, dimensionality, and four sizes, then its type.
                second = at + 8 + 8 + 4 + 12 + 16 + 12
                assert data[second:second + 2] == b"b\0"
                data[second + 12] = 1
                struct.pack_into("<I", data, second + 24, 2)
    struct.pack_into("<6i", data, where, 1, 2, 3, 4, 5, 6)
    with open(path, "wb") as f:
        f.write(data)
    with h5py.File(path) as f:
        for version in (1, 2):
            assert (f[f"contiguous_{version}"][...] == np.arange(6) * version).all()
            assert (f[f"chunked_{version}"][...] == np.arange(7) * version).all()
        assert f["compound_1"].dtype["b"].shape == (2,), f["compound_1"].dtype
        assert f["compound_1"][1]["b"].tolist() == [5, 6]


def messages(data, address):
    """Offset, type and size of each message body of a version 1 object header, continuations included."""
    (count,) = struct.unpack_from("<H", data, address + 2)
    (length,) = struct.unpack_from("<I", data, address + 8)
    pieces = [(address + 16, length)]
    while pieces:
        at, left = pieces.pop(0)
        while left >= 8 and count:
            kind, size = struct.unpack_from("<HH", data, at)
            yield at + 8, kind, size
            if kind == 0x10:
                pieces.append(struct.unpack_from("<QQ", data, at + 8))
            at, left, count = at + 8 + size, left - 8 - size, count - 1


def main():
    latest()
    old_layouts()
    os.chdir(HERE)
    with h5py.File(MADE) as f:
        assert (f["second_unlimited"][...] == grid(5, 7, "i4")).all()
        assert f["virtual"][...].tolist() == [[0, 1, 2, 3], [-5] * 4, [-5] * 4]
        assert f["virtual_growing"].shape == (3, 4)
        assert f["shrunk"][...].tolist()[0] == [0, 1, 2, 3, 4, -7, -7, -7]
        assert f["nbit_compound"][5].tolist()[:2] == (2, 1.25)
        assert np.abs(f["scaleoffset_big_f8"][...] - grid(4, 6, "f8") / 4).max() < 0.001


if __name__ == "__main__":
    main()
