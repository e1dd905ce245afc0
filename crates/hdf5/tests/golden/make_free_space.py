"""Writes free_space_*.hex. Run with h5py 3.16 (HDF5 2.0.0)."""

import os
import tempfile

import h5py
import numpy

from hextext import offsets, uint, write


def written(fill, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.h5")
        with h5py.File(path, "w", libver="latest", **options) as file:
            fill(file)
        with open(path, "rb") as file:
            return file.read()


def heap(file):
    group = file.create_group("links")
    for i in range(40):
        group[f"link {i:03}" + "x" * (20 * i)] = h5py.SoftLink("/")
    for i in range(0, 40, 3):
        del group[f"link {i:03}" + "x" * (20 * i)]


def holes(file):
    for i in range(10):
        file[f"d{i}"] = numpy.arange(100 * (i // 3 + 1), dtype="i4")
    for i in range(0, 10, 2):
        del file[f"d{i}"]


def export(data, client, what):
    headers = [at for at in offsets(data, b"FSHD") if data[at + 5] == client]
    at = max(headers, key=lambda at: uint(data, at + 22, 8))
    write("free_space_header_" + what, f"header of the free space of a {what}", data[at : at + 82])
    sections, used = uint(data, at + 54, 8), uint(data, at + 62, 8)
    write("free_space_sections_" + what, "its sections", data[sections : sections + used])


export(written(heap), 0, "heap")
export(written(holes, fs_strategy="fsm", fs_persist=True), 1, "file")
