"""Describes files and reads the text with PyYAML (YAML 1.1) and ruamel.yaml (YAML 1.2), which must agree.

    yaml_agrees.py HYPERSLAB DIRECTORY

Every file and every Zarr store below DIRECTORY is described, the small ones also with their values.
"""

import datetime
import io
import math
import multiprocessing
import os
import subprocess
import sys

import ruamel.yaml
import yaml

from corpus import Refused, stores
from tally import Tally

SMALL = 100_000
# The libyaml reader is 20 times as fast. PyYAML's own reader is sometimes stricter and reads short texts.
SHORT = 20_000


def describe(hyperslab, path, *options):
    done = subprocess.run([hyperslab, "describe", *options, path], capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def agree(text):
    """The first difference between the parsers, or None."""
    loaders = [yaml.CSafeLoader] + ([yaml.SafeLoader] if len(text) <= SHORT else [])
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    other = reader.load(io.BytesIO(text))
    for loader in loaders:
        difference = differ(yaml.load(text, loader), other, "")
        if difference:
            return f"{loader.__name__} and ruamel.yaml {difference}"
    return None


def differ(a, b, where):
    if isinstance(a, (datetime.date, datetime.datetime)) or isinstance(b, (datetime.date, datetime.datetime)):
        return f"read a date at {where}: {a!r}"
    if type(a) is not type(b):
        return f"read {a!r} and {b!r} at {where}"
    if isinstance(a, dict):
        if list(map(repr, a)) != list(map(repr, b)):
            return f"read other keys at {where}: {sorted(set(map(repr, a)) ^ set(map(repr, b)))[:4]}"
        for key in a:
            if not isinstance(key, str):
                return f"read the key {key!r} at {where} as no text"
            found = differ(a[key], b[key], f"{where}/{key}")
            if found:
                return found
        return None
    if isinstance(a, list):
        if len(a) != len(b):
            return f"read {len(a)} and {len(b)} items at {where}"
        return next(filter(None, (differ(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)
    same = a == b or isinstance(a, float) and math.isnan(a) and math.isnan(b)
    return None if same else f"read {a!r} and {b!r} at {where}"


def judge(job):
    hyperslab, path, options = job
    try:
        code, text, said = describe(hyperslab, path, *options)
    except subprocess.TimeoutExpired:
        return path, options, "described for more than 120 s"
    if code == 2 and said and not text:
        return path, options, None
    if code not in (0, 1) or not text:
        return path, options, f"exit code {code}, {len(text)} bytes: {said[:200]}"
    try:
        return path, options, agree(text) or ""
    except (yaml.YAMLError, ruamel.yaml.YAMLError, ValueError, RecursionError) as error:
        return path, options, " ".join(str(error).split())[:300]


def main():
    hyperslab, directory = sys.argv[1:]
    jobs = []
    for path in stores(directory):
        jobs.append((hyperslab, path, ()))
        if size(path) < SMALL:
            jobs.append((hyperslab, path, ("--values=200",)))
    tally = Tally()
    refused = Refused(tally, directory)
    with multiprocessing.Pool(2) as pool:
        for path, options, reason in pool.imap_unordered(judge, jobs):
            what = " ".join(("describe", *options))
            if not refused.check(path, reason is None, what):
                tally.check(not reason, f"{what} {os.path.relpath(path, directory)}", [reason])
    refused.close()
    tally.close()


def size(path):
    """The size in bytes of a file, or of all files of a store."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)


if __name__ == "__main__":
    main()
