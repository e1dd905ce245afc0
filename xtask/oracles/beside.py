"""Compares content in other files with h5py: mappings of virtual datasets, and external links that are followed.

    beside.py HYPERSLAB

The files resemble those written by detectors: a master file with external links to image files, links to links, links to
groups, and virtual datasets of every kind of selection. Mappings that `describe` lists must be those of h5py; in a
conversion that follows links, zarr-python must find what h5py finds behind the links.
"""

import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import zarr

from tally import Tally

# Links of the master file that lead nowhere: h5py cannot open them, and the conversion must name them.
BROKEN = {"/entry/data/data_000009": "missing file", "/entry/data/nothing": "no object in its file"}


def images(folder, number):
    with h5py.File(os.path.join(folder, f"series_data_{number:06}.h5"), "w") as file:
        data = np.arange(60, dtype="u2").reshape(3, 4, 5) + 1000 * number
        images = file.create_dataset("entry/data/data", data=data, chunks=(1, 4, 5), compression="gzip")
        images.attrs["image_nr_low"] = np.int32(3 * number - 2)
        file["again"] = h5py.ExternalLink("series_meta.h5", "/detector/gain")


def make(folder):
    for number in (1, 2, 3):
        images(folder, number)
    with h5py.File(os.path.join(folder, "series_meta.h5"), "w") as file:
        file["detector/gain"] = np.float32([1, 2, 3])
        file["detector/mask"] = np.eye(4, 5, dtype="i1")
        file["detector"].attrs["NX_class"] = "NXdetector"
    master = os.path.join(folder, "series_master.h5")
    with h5py.File(master, "w") as file:
        data = file.create_group("entry/data")
        for number in (1, 2, 3, 9):
            data[f"data_{number:06}"] = h5py.ExternalLink(f"series_data_{number:06}.h5", "/entry/data/data")
        data["nothing"] = h5py.ExternalLink("series_meta.h5", "/no/such/object")
        data["soft"] = h5py.SoftLink("/entry/data/data_000002")
        data["chain"] = h5py.ExternalLink("series_data_000003.h5", "/again")
        file["entry/detector"] = h5py.ExternalLink("series_meta.h5", "/detector")
        file["entry/own"] = np.arange(3)
    return master


def virtual(folder):
    path = os.path.join(folder, "virtual.h5")
    source = lambda number: h5py.VirtualSource(f"series_data_{number:06}.h5", "entry/data/data", (3, 4, 5))
    with h5py.File(path, "w", libver="latest") as file:
        def put(name, shape, fill, parts):
            layout = h5py.VirtualLayout(shape, "u2")
            for where, of in parts:
                layout[where] = of
            file.create_virtual_dataset(name, layout, fillvalue=fill)

        whole = np.s_[:]
        put("stacked", (9, 4, 5), 7, [(np.s_[3 * at : 3 * at + 3], source(at + 1)) for at in range(3)])
        put("strided", (6, 4, 5), 7, [(np.s_[::2], source(1)), (np.s_[1::2], source(2))])
        put("part", (2, 2, 5), 7, [(whole, source(3)[1:3, 1:4:2])])
        put("gap", (5, 4, 5), 7, [(np.s_[1:4], source(1))])
        put("lost", (6, 4, 5), 7, [(np.s_[:3], source(1)), (np.s_[3:], source(9))])
    return path


def elements(selection, shape):
    """The elements that a selection in our description covers, as a mask."""
    mask = np.zeros(shape, bool)
    if selection == "all":
        return ~mask
    if "blocks" in selection:
        for block in selection["blocks"]:
            mask[tuple(slice(low, high + 1) for low, high in zip(block["start"], block["opposite"]))] = True
        return mask
    hyperslab = selection["hyperslab"] if "hyperslab" in selection else selection
    axes = []
    for start, stride, count, block in zip(*(hyperslab[key] for key in ("start", "stride", "count", "block"))):
        axes.append([start + stride * at + within for at in range(count) for within in range(block)])
    mask[np.ix_(*axes)] = True
    return mask


def of_h5py(space, shape):
    """The same for a dataspace."""
    if space.get_select_type() == h5py.h5s.SEL_ALL:
        return np.ones(shape, bool)
    mask = np.zeros(shape, bool)
    for low, high in np.asarray(space.get_select_hyper_blocklist()):
        mask[tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high))] = True
    return mask


def mappings(tally, hyperslab, path):
    done = subprocess.run([hyperslab, "describe", "--json", "--storage=full", path], capture_output=True)
    arrays = json.loads(done.stdout)["/"]["ndarrays"]
    with h5py.File(path) as file:
        for name, dataset in file.items():
            listed, wanted = arrays[name]["storage"]["hdf5"]["mappings"], dataset.virtual_sources()
            tally.check(len(listed) == len(wanted), f"mappings of {name}", [f"{len(listed)}, expected {len(wanted)}"])
            for one, other in zip(listed, wanted):
                names = (one["file"], one["dataset"]) == (other.file_name, other.dset_name)
                tally.check(names, f"source of {name}", [f"{one} for {other}"])
                same = np.array_equal(elements(one["virtual"], dataset.shape), of_h5py(other.vspace, dataset.shape))
                tally.check(same, f"selection of {name}", [str(one["virtual"])])
                same = np.array_equal(elements(one["source"], (3, 4, 5)), of_h5py(other.src_space, (3, 4, 5)))
                tally.check(same, f"selection in the source of {name}", [str(one["source"])])


def values(tally, hyperslab, path):
    """Virtual datasets as arrays; a missing source is an error without --allow-loss."""
    refused = f"{path}.refused.zarr"
    done = subprocess.run([hyperslab, "convert", path, refused], capture_output=True, text=True)
    tally.check(done.returncode == 1 and not os.path.exists(refused), "a missing source is an error", [str(done)])
    tally.check("series_data_000009.h5" in done.stdout + done.stderr, "a missing source is named", [str(done)])
    store = f"{path}.zarr"
    done = subprocess.run([hyperslab, "convert", "--allow-loss=unreadable", path, store], capture_output=True, text=True)
    tally.check("series_data_000009.h5" in done.stdout + done.stderr, "a loss is named", [str(done)])
    root = zarr.open(store, mode="r")
    with h5py.File(path) as file:
        for name in file:
            if name in root:
                tally.check(np.array_equal(file[name][...], root[name][...]), f"values of {name}")
            else:
                tally.check(name == "lost", f"{name} is in the target")


def followed(tally, hyperslab, master):
    store = f"{master}.zarr"
    command = [hyperslab, "convert", "--follow-links", "--allow-loss=links", master, store]
    done = subprocess.run(command, capture_output=True, text=True)
    tally.check(done.returncode == 0, "links are followed", [done.stderr])
    said = done.stdout + done.stderr
    for path, why in BROKEN.items():
        tally.check(path in said, f"{path}, {why}, is in the report", [said])
    root = zarr.open(store, mode="r")
    with h5py.File(master) as file:
        def compare(path):
            if path != "/" and isinstance(file.get(path, getlink=True), h5py.SoftLink):
                return
            try:
                item = file[path]
            except (KeyError, OSError):
                tally.check(path in BROKEN, f"h5py opens {path}")
                return
            node = root[path.strip("/")] if path != "/" else root
            attributes = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}
            found = {key: value for key, value in node.attrs.items() if key != "_nc_hyperslab"}
            tally.check(attributes == found, f"attributes of {path}", [f"{attributes} became {found}"])
            if isinstance(item, h5py.Dataset):
                same = node.dtype == item.dtype and np.array_equal(node[...], item[...])
                tally.check(same, f"values of {path}", [f"{item.dtype} {item.shape} became {node.dtype} {node.shape}"])
            else:
                for name in item:
                    compare(f"{path.rstrip('/')}/{name}")

        compare("/")


def main():
    hyperslab, tally = sys.argv[1], Tally()
    with tempfile.TemporaryDirectory() as folder:
        master = make(folder)
        followed(tally, hyperslab, master)
        path = virtual(folder)
        mappings(tally, hyperslab, path)
        values(tally, hyperslab, path)
    tally.close()


if __name__ == "__main__":
    main()
