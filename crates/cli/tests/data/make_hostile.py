"""Makes hostile.h5: every name and text in it would control a terminal, or hide what it says."""

import h5py
import numpy as np

NAME = "a\x1b[41m\u202eb\u2028\u200b\x9b5mc\nINJECTED"

with h5py.File("hostile.h5", "w", libver="latest") as f:
    f.attrs[NAME] = "value\x1b]0;title\x07\u202e"
    group = f.create_group(NAME)
    group.attrs["plain"] = 1
    data = group.create_dataset(NAME, data=np.arange(3, dtype="i4"))
    data.attrs[NAME] = np.arange(2)
    data.dims[0].label = NAME
    f["plain"] = ["\x1b[41mone\u202e", "two\x07"]
    f["struct"] = np.zeros(2, dtype=[(NAME, "i4"), ("y", "f4")])
    f["soft"] = h5py.SoftLink("/" + NAME)
    f["soft_to_nothing"] = h5py.SoftLink("/no\x1b[41m")
    f["external"] = h5py.ExternalLink("no\x1b[41m\nINJECTED.h5", "/x\u202e")
    f.create_dataset("raw", shape=(4,), dtype="i4", external=[("no\x1b[41m\nINJECTED.raw", 0, 16)])
    f[NAME + "type"] = np.dtype([(NAME, "i2")])
