"""Writes virtual/*.h5 and virtual/expected.txt: virtual datasets and what h5py reads of them.

Run where h5py is: python make_virtual.py
"""

import os
import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "virtual")
UNLIMITED = h5s.UNLIMITED


def space(shape, maximum=None):
    return h5s.create_simple(shape, maximum or shape)


def slab(shape, start, count, stride=None, block=None, maximum=None):
    made = space(shape, maximum)
    made.select_hyperslab(start, count, stride, block)
    return made


def virtual(group, name, dtype, shape, mappings, maximum=None, fill=None):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_layout(h5d.VIRTUAL)
    if fill is not None:
        plist.set_fill_value(np.array(fill, dtype))
    for here, file, dataset, there in mappings:
        plist.set_virtual(here, file.encode(), dataset.encode(), there)
    dtype = dtype if isinstance(dtype, h5t.TypeID) else h5t.py_create(np.dtype(dtype))
    h5d.create(group.id, name.encode(), dtype, space(shape, maximum), plist)


def sources(libver):
    with h5py.File(f"a_{libver}.h5", "w", libver=libver) as f:
        f["x"] = np.arange(24, dtype="<i4").reshape(4, 6)
        f["f"] = np.array([1.5, -2.5, 3e9, -1e20, 70000.75, 0.1], ">f8")
        f["text"] = np.array([b"abc", b"defgh", b""], "S5")
        f["pair"] = np.array([(1, 2.5), (3, 4.5)], [("a", "<i2"), ("b", "<f4")])
        f.create_dataset("sparse", (4, 6), "<i2", chunks=(2, 3), fillvalue=-7)[0:2, 0:3] = 5
        grown = f.create_dataset("grown", (3, 2), "<i4", maxshape=(None, 2), chunks=(2, 2))
        grown[...] = [[1, 2], [3, 4], [5, 6]]
        long = f.create_dataset("long", (7,), "<i4", maxshape=(None,), chunks=(3,))
        long[...] = range(7)
        f.create_dataset("words", data=["one", "two", "three"], dtype=h5py.string_dtype())
    for number in (0, 1, 3):
        with h5py.File(f"part_{libver}-{number}.h5", "w", libver=libver) as f:
            f["x"] = np.arange(4, dtype="<u2") + 10 * number


def main(libver, low):
    sources(low)
    a = f"a_{low}.h5"
    with h5py.File(f"vds_{libver}.h5", "w", libver=(libver, "latest")) as f:
        f["own"] = np.arange(5, dtype="<i8")
        for number in range(3):
            f[f"n{number}"] = np.full(3, number, "<i4")
        f["100%b"] = np.arange(2, dtype="<i4")
        f["soft"] = h5py.SoftLink("/own")
        whole = space((4, 6))
        # Beside each other with a gap, which is fill; other byte order and width.
        virtual(f, "gap", ">i8", (4, 14), [
            (slab((4, 14), (0, 0), (4, 6)), a, "/x", whole),
            (slab((4, 14), (0, 8), (4, 6)), a, "x", whole),
        ], fill=-1)
        # Every second row and column, in blocks; and the rest of another source.
        virtual(f, "woven", "<i4", (8, 12), [
            (slab((8, 12), (0, 0), (4, 6), (2, 2)), a, "/x", whole),
            (slab((8, 12), (1, 0), (2, 2), (4, 6), (2, 3)), a, "/x", slab((4, 6), (0, 0), (1, 1), None, (4, 6))),
        ], fill=99)
        # Of other shape: in the order of elements.
        virtual(f, "reshaped", "<i4", (3, 8), [(space((3, 8)), a, "/x", whole)])
        virtual(f, "flat", "<i4", (30,), [(slab((30,), (2,), (8,), (3,), (3,)), a, "/x", whole)], fill=-2)
        irregular = slab((4, 6), (0, 1), (1, 1), None, (2, 2))
        irregular.select_hyperslab((1, 2), (1, 1), None, (2, 3), op=h5s.SELECT_OR)
        virtual(f, "irregular", "<i4", (3, 3), [
            (slab((3, 3), (0, 0), (1, 1), None, (3, 3)), a, "/x", irregular)])
        virtual(f, "irregular here", "<i4", (4, 6), [(irregular, a, "/x", slab((4, 6), (1, 0), (1, 1), None, (3, 3)))], fill=7)
        # Overlapping mappings: the last one holds.
        virtual(f, "overlap", "<i4", (4, 6), [
            (space((4, 6)), a, "/x", whole),
            (slab((4, 6), (1, 1), (1, 1), None, (2, 2)), a, "/x", slab((4, 6), (0, 0), (1, 1), None, (2, 2)))])
        virtual(f, "own twice", "<i4", (10,), [
            (slab((10,), (0,), (5,)), ".", "/own", space((5,))),
            (slab((10,), (5,), (5,)), ".", "/soft", space((5,)))])
        virtual(f, "missing", "<f4", (6,), [
            (slab((6,), (0,), (3,)), "no such file.h5", "/x", space((3,))),
            (slab((6,), (3,), (3,)), a, "/no such dataset", space((3,)))], fill=2.5)
        virtual(f, "sparse", "<i4", (4, 6), [(whole, a, "/sparse", whole)], fill=1)
        virtual(f, "nested", "<f8", (2, 3), [
            (space((2, 3)), f".", "/gap", slab((4, 14), (1, 5), (2, 3), None, (1, 1)))])
        # Types: integers from floats and back, narrower ones, text, compounds by name.
        virtual(f, "integers", "<i4", (6,), [(space((6,)), a, "/f", space((6,)))])
        virtual(f, "unsigned", "<u2", (6,), [(space((6,)), a, "/f", space((6,)))])
        virtual(f, "singles", ">f4", (6,), [(space((6,)), a, "/f", space((6,)))])
        virtual(f, "halves", "<f2", (6,), [(space((6,)), a, "/f", space((6,)))])
        virtual(f, "bytes", "i1", (5,), [(space((5,)), ".", "/own", space((5,)))])
        virtual(f, "text", "S3", (3,), [(space((3,)), a, "/text", space((3,)))])
        virtual(f, "pair", np.dtype([("b", "<f8"), ("a", "<i8")]), (2,), [(space((2,)), a, "/pair", space((2,)))])
        # Numbered sources, of which number 2 is missing.
        blocks = slab((4, 4), (0, 0), (UNLIMITED, 1), (1, 4), (1, 4), maximum=(UNLIMITED, 4))
        virtual(f, "numbered", "<u2", (4, 4), [
            (blocks, f"part_{low}-%b.h5", "/x", space((4,)))], maximum=(UNLIMITED, 4), fill=8)
        blocks = slab((9,), (0,), (UNLIMITED,), (4,), (3,), maximum=(UNLIMITED,))
        virtual(f, "numbered here", "<i4", (9,), [(blocks, ".", "n%b", space((3,)))], maximum=(UNLIMITED,), fill=-3)
        blocks = slab((9,), (1,), (UNLIMITED,), (4,), (3,), maximum=(UNLIMITED,))
        virtual(f, "numbered beyond", "<i4", (9,), [
            (blocks, ".", "n%b", space((3,))),
            (slab((9,), (0,), (1,), maximum=(UNLIMITED,)), ".", "100%%b", slab((2,), (1,), (1,)))],
            maximum=(UNLIMITED,), fill=-3)
        # Without end: as far as the sources go.
        virtual(f, "unlimited", "<i4", (1, 2), [
            (slab((1, 2), (0, 0), (1, 1), (1, 1), (UNLIMITED, 2), maximum=(UNLIMITED, 2)), a, "/grown",
             slab((3, 2), (0, 0), (1, 1), (1, 1), (UNLIMITED, 2), maximum=(UNLIMITED, 2)))],
            maximum=(UNLIMITED, 2))
        virtual(f, "unlimited blocks", "<i4", (2, 20), [
            (slab((2, 20), (0, 1), (1, UNLIMITED), (1, 5), (1, 3), maximum=(2, UNLIMITED)), a, "/long",
             slab((7,), (0,), (UNLIMITED,), (1,), (1,), maximum=(UNLIMITED,))),
            (slab((2, 20), (1, 0), (1, UNLIMITED), (1, 2), (1, 1), maximum=(2, UNLIMITED)), a, "/long",
             slab((7,), (1,), (UNLIMITED,), (3,), (2,), maximum=(UNLIMITED,)))],
            maximum=(2, UNLIMITED), fill=-4)
        virtual(f, "unlimited missing", "<i4", (5,), [
            (slab((5,), (0,), (1,), (1,), (UNLIMITED,), maximum=(UNLIMITED,)), "no such file.h5", "/x",
             slab((5,), (0,), (1,), (1,), (UNLIMITED,), maximum=(UNLIMITED,)))], maximum=(UNLIMITED,))
        virtual(f, "nothing", "<i4", (3,), [], fill=4)
        virtual(f, "words", h5t.py_create(h5py.string_dtype(), logical=True), (4,), [
            (slab((4,), (1,), (3,)), a, "/words", space((3,)))])


def hostile():
    """What the library itself would follow without end."""
    one = space((2,))
    with h5py.File("cycle.h5", "w", libver="v110") as f:
        virtual(f, "own", "<i4", (2,), [(one, ".", "/own", one)])
        virtual(f, "here", "<i4", (2,), [(one, "cycle_b.h5", "/there", one)])
        # Each level doubles what is read.
        f["level 0"] = np.arange(2, dtype="<i4")
        for level in range(1, 30):
            virtual(f, f"level {level}", "<i4", (2,), [(one, ".", f"/level {level - 1}", one)] * 2)
        endless = slab((2,), (0,), (UNLIMITED,), (1,), (1,), maximum=(UNLIMITED,))
        virtual(f, "endless", "<i4", (1 << 62,), [(endless, "no-%b.h5", "/x", slab((1,), (0,), (1,)))],
                maximum=(UNLIMITED,))
        # A dataset as large as another mapping says, whose numbered sources are all missing.
        far = slab((40_000,), (39_999,), (1,), maximum=(UNLIMITED,))
        endless = slab((40_000,), (0,), (UNLIMITED,), (1,), (1,), maximum=(UNLIMITED,))
        virtual(f, "all missing", "<i4", (40_000,), [
            (endless, ".", "/no %b", space((1,))), (far, ".", "/level 0", slab((2,), (0,), (1,)))],
            maximum=(UNLIMITED,))
        virtual(f, "outside", "<i4", (2,), [(one, "../elements_that_are_outside", "/x", one)])
        virtual(f, "counts", "<i4", (2,), [(one, ".", "/three", space((2,)))])
        f["three"] = np.arange(3, dtype="<i4")
    with h5py.File("cycle_b.h5", "w", libver="v110") as f:
        virtual(f, "there", "<i4", (2,), [(one, "cycle.h5", "/here", one)])


def lines(libver):
    with h5py.File(f"vds_{libver}.h5") as f:
        for name in sorted(f):
            if f.get(name, getlink=True).__class__ is h5py.SoftLink or not f[name].is_virtual or name == "words":
                continue
            values = f[name][...]
            values = values.astype(values.dtype.newbyteorder("="))
            yield f"vds_{libver}.h5\t{name}\t{','.join(map(str, values.shape))}\t{values.tobytes().hex()}\n"


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    os.chdir(HERE)
    text = []
    for libver, low in (("v110", "earliest"), ("latest", "latest")):
        main(libver, low)
        text += lines(libver)
    hostile()
    with open("expected.txt", "w") as out:
        out.writelines(text)
