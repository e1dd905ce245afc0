"""Writes arrays with an old tiledb-py, under a Python of its time.

    tiledb_old.py PACKAGES DIRECTORY

Prints the name of each array, with the reason if that tiledb-py cannot write it yet.
"""

import os
import sys

sys.path.insert(0, sys.argv[1])

import numpy as np
import tiledb


def dimension(name, first, last, tile, dtype="int32"):
    dtype = np.dtype(dtype).type
    return tiledb.Dim(name=name, domain=(dtype(first), dtype(last)), tile=dtype(tile), dtype=dtype)


def filters(*all):
    return tiledb.FilterList(list(all))


def dense(path):
    """Two orders, several filters, and a fragment over another."""
    domain = tiledb.Domain(dimension("y", -3, 8, 5), dimension("x", 1, 10, 4))
    attributes = [
        tiledb.Attr(name="i", dtype="int16", filters=filters(tiledb.BitWidthReductionFilter(), tiledb.ZstdFilter(5))),
        tiledb.Attr(name="f", dtype="float64", filters=filters(tiledb.ByteShuffleFilter(), tiledb.GzipFilter(4))),
        tiledb.Attr(name="u", dtype="uint64", filters=filters(tiledb.DoubleDeltaFilter())),
        tiledb.Attr(name="r", dtype="int32", filters=filters(tiledb.RleFilter())),
    ]
    schema = tiledb.ArraySchema(domain=domain, attrs=attributes, cell_order="col-major", tile_order="row-major")
    tiledb.DenseArray.create(path, schema)
    # Slices with negative ends count from the end, so that the first part is the whole.
    for place, shape, first in ((slice(None), (12, 10), 0), ((slice(0, 4), slice(2, 9)), (4, 7), 1000)):
        cells = np.arange(first, first + np.prod(shape)).reshape(shape)
        with tiledb.DenseArray(path, "w") as array:
            array[place] = {"i": cells.astype("int16"), "f": cells / 7, "u": cells.astype("uint64"),
                            "r": (cells // 9).astype("int32")}


def partly(path):
    """An array with a part that is not written."""
    schema = tiledb.ArraySchema(domain=tiledb.Domain(dimension("x", 0, 19, 6, "uint8")), attrs=[tiledb.Attr(name="a", dtype="float32")])
    tiledb.DenseArray.create(path, schema)
    with tiledb.DenseArray(path, "w") as array:
        array[5:9] = np.float32([1, -0.0, np.nan, np.inf])


def anonymous(path):
    """The attribute has no name."""
    tiledb.DenseArray.create(path, tiledb.ArraySchema(domain=tiledb.Domain(dimension("y", 1, 4, 2)), attrs=[tiledb.Attr(dtype="int64")]))
    with tiledb.DenseArray(path, "w") as array:
        array[:] = np.arange(4)


def anonymous_dimensions(path):
    """The dimensions have no names; tiledb-py can express this only by its default, and calls them __dim_0 and __dim_1."""
    domain = tiledb.Domain(*(tiledb.Dim(domain=(0, 100), tile=10, dtype="uint64") for _ in range(2)))
    schema = tiledb.ArraySchema(domain=domain, attrs=[tiledb.Attr(dtype="float32")], sparse=True)
    tiledb.SparseArray.create(path, schema)
    with tiledb.SparseArray(path, "w") as array:
        array[[1, 50, 3], [9, 9, 100]] = np.float32([1, 2, 3])


def from_numpy(path):
    tiledb.from_numpy(path, np.arange(24, dtype="uint16").reshape(2, 3, 4)).close()


def names(path):
    """Names that cannot be file names unchanged."""
    texts = ["a b", "x#y", "p%q", "c:d", "ä", "star*", "q?", 'quote"', "<>|", "dot.", "A", "a!$&'()+,;=@[]~`^{}"]
    schema = tiledb.ArraySchema(domain=tiledb.Domain(dimension("i", 0, 4, 5)),
                                attrs=[tiledb.Attr(name=name, dtype="int32") for name in texts])
    tiledb.DenseArray.create(path, schema)
    with tiledb.DenseArray(path, "w") as array:
        array[:] = {name: np.arange(5, dtype="int32") + at for at, name in enumerate(texts)}


def sparse(path, duplicates=False, cell_order="row-major"):
    """Fragments with cells in common."""
    domain = tiledb.Domain(dimension("x", -50, 50, 7), dimension("y", 0, 30, 8))
    attributes = [tiledb.Attr(name="i", dtype="int32", filters=filters(tiledb.DoubleDeltaFilter(), tiledb.LZ4Filter())),
                  tiledb.Attr(name="f", dtype="float32", filters=filters(tiledb.BitShuffleFilter(), tiledb.Bzip2Filter(3)))]
    schema = tiledb.ArraySchema(domain=domain, attrs=attributes, sparse=True, capacity=7, allows_duplicates=duplicates,
                                cell_order=cell_order, tile_order="row-major")
    tiledb.SparseArray.create(path, schema)
    for first in (0, 13):
        at = np.arange(first, first + 40)
        with tiledb.SparseArray(path, "w") as array:
            array[(at * 7) % 101 - 50, (at * 3) % 31] = {"i": (at * 2).astype("int32"), "f": (at / 3).astype("float32")}


def duplicates(path):
    sparse(path, duplicates=True)


def columns_first(path):
    sparse(path, cell_order="col-major")


def hilbert(path):
    sparse(path, cell_order="hilbert")


def consolidated(path):
    sparse(path)
    tiledb.consolidate(path)


def vacuumed(path):
    dense(path)
    tiledb.consolidate(path)
    tiledb.vacuum(path)


def texts(path):
    """Strings as dimension and as attributes, and lists of numbers."""
    domain = tiledb.Domain(tiledb.Dim(name="name", domain=(None, None), tile=None, dtype=np.bytes_))
    attributes = [tiledb.Attr(name="t", dtype=np.dtype("U0"), var=True, filters=filters(tiledb.ZstdFilter(3))),
                  tiledb.Attr(name="b", dtype=np.dtype("S0"), var=True), tiledb.Attr(name="v", dtype="int64", var=True)]
    tiledb.SparseArray.create(path, tiledb.ArraySchema(domain=domain, attrs=attributes, sparse=True, capacity=3))
    lists = np.empty(5, dtype=object)
    for at in range(5):
        lists[at] = np.arange(at + 1, dtype="int64") * 1000
    with tiledb.SparseArray(path, "w") as array:
        array[np.array([b"b", b"a", b"ccc", b"bb", b"zz"], dtype=object)] = {
            "t": np.array(["x", "ö", "long " * 9, "y", "q"], dtype=object),
            "b": np.array([b"1", b"22", b"333", b"x", b"y"], dtype=object), "v": lists}


def times(path):
    day = np.datetime64("2001-02-03", "D")
    x = tiledb.Dim(name="day", domain=(day, day + np.timedelta64(30, "D")), tile=np.timedelta64(7, "D"), dtype=day.dtype)
    attribute = tiledb.Attr(name="when", dtype="datetime64[ns]")
    tiledb.DenseArray.create(path, tiledb.ArraySchema(domain=tiledb.Domain(x), attrs=[attribute]))
    with tiledb.DenseArray(path, "w") as array:
        array[day : day + np.timedelta64(9, "D")] = np.arange(10).astype("datetime64[ns]")


def reals(path):
    """A floating-point dimension."""
    schema = tiledb.ArraySchema(domain=tiledb.Domain(dimension("x", -1, 1, 0.25, "float64")),
                                attrs=[tiledb.Attr(name="a", dtype="int8")], sparse=True)
    tiledb.SparseArray.create(path, schema)
    with tiledb.SparseArray(path, "w") as array:
        array[np.array([0.1, -1, 1, 0.5])] = np.int8([1, 2, 3, 4])


def metadata(path):
    partly(path)
    with tiledb.DenseArray(path, "w") as array:
        array.meta["text"], array.meta["int"], array.meta["float"] = "grüß", 7, 2.5
        array.meta["gone"] = array.meta["tuple"] = (1, 2, 3)
    with tiledb.DenseArray(path, "w") as array:
        array.meta["int"] = 8
        del array.meta["gone"]


def nullable(path):
    schema = tiledb.ArraySchema(domain=tiledb.Domain(dimension("x", 0, 9, 4)),
                                attrs=[tiledb.Attr(name="n", dtype="int32", nullable=True)])
    tiledb.DenseArray.create(path, schema)
    with tiledb.DenseArray(path, "w") as array:
        # The only way to write nulls that all versions have.
        array._setitem_impl(slice(0, 5), {"n": np.arange(5, dtype="int32")}, {"n": np.uint8([1, 0, 1, 1, 0])})


def evolved(path):
    partly(path)
    evolution = tiledb.ArraySchemaEvolution(tiledb.default_ctx())
    evolution.add_attribute(tiledb.Attr(name="later", dtype="int32"))
    evolution.array_evolve(path)
    with tiledb.open(path, "w") as array:
        array[7:11] = {"a": np.float32([4, 5, 6, 7]), "later": np.arange(4, dtype="int32")}


def deleted(path):
    sparse(path)
    with tiledb.open(path, "d") as array:
        array.query(cond="i > 30").submit() if tiledb.libtiledb.version() >= (2, 15) else array.query("i > 30").submit()


def enumerated(path):
    words = tiledb.Enumeration("words", False, ["a", "bc", "d"])
    schema = tiledb.ArraySchema(domain=tiledb.Domain(dimension("x", 0, 9, 4)), enums=[words],
                                attrs=[tiledb.Attr(name="e", dtype="uint8", enum_label="words")])
    tiledb.Array.create(path, schema)
    with tiledb.open(path, "w") as array:
        array[0:4] = np.uint8([0, 2, 1, 2])


ARRAYS = (dense, partly, anonymous, anonymous_dimensions, from_numpy, names, sparse, duplicates, columns_first, hilbert, consolidated,
          vacuumed, texts, times, reals, metadata, nullable, evolved, deleted, enumerated)


def main():
    for make in ARRAYS:
        path = os.path.join(sys.argv[2], make.__name__)
        try:
            make(path)
            print(make.__name__)
        except Exception as error:  # Exceptions of many kinds, because missing features fail in many ways.
            print(make.__name__, "-", type(error).__name__, str(error)[:150].replace("\n", " "))
        sys.stdout.flush()


main()
