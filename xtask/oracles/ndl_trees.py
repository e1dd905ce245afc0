"""Reads generated documents with PyYAML (YAML 1.1), ruamel.yaml (1.2) and json, which must find the same in them.

    cargo run -p hyperslab-ndl --example generate -- DIRECTORY COUNT [FIRST-SEED]
    ndl_trees.py DIRECTORY [PROCESSES]

DIRECTORY contains the output of the first line: files of documents separated by NULs, `0000.yaml` in YAML and `0000.json`
with the same documents in JSON. For each document the two YAML parsers must read the same tree, and JSON must give that
tree except for what JSON writes out: groups by path, attributes and filters in long form, floats that are not finite,
bytes that are not text.
"""

import glob
import json
import math
import multiprocessing
import os
import sys

import ruamel.yaml
import yaml

from tally import Tally
from yaml_agrees import differ

SECTIONS = ("attributes", "datatypes", "dimcoords", "ndarrays", "cells", "links", "storage")


def judge(path):
    """The number of documents in a file, and the errors by document."""
    with open(path, encoding="utf-8", newline="") as file:
        texts = file.read().split("\0")[:-1]
    with open(path.removesuffix(".yaml") + ".json", encoding="utf-8", newline="") as file:
        others = file.read().split("\0")[:-1]
    wrong = [] if len(texts) == len(others) else [(path, f"{len(texts)} and {len(others)} documents")]
    for number, (text, other) in enumerate(zip(texts, others)):
        try:
            found = compare(text, other)
        except (yaml.YAMLError, ruamel.yaml.YAMLError, ValueError, RecursionError) as error:
            found = " ".join(str(error).split())[:300]
        if found:
            wrong.append((f"{os.path.basename(path)}, document {number}", found))
    return len(texts), wrong


def compare(text, other):
    one = yaml.load(text, yaml.CSafeLoader)
    two = ruamel.yaml.YAML(typ="safe", pure=False).load(text)
    found = differ(one, two, "")
    if found:
        return f"PyYAML and ruamel.yaml {found}"
    tree = json.loads(other, parse_constant=unexpected, object_pairs_hook=unique)
    if not isinstance(tree.pop("x-hyperslab", None), dict):
        return "JSON without x-hyperslab"
    tree = {path: long(group) for path, group in tree.items()}
    found = differ(bits(written_out(one), tree), tree, "")
    return f"YAML and JSON {found}" if found else None


def unexpected(constant):
    raise ValueError(f"JSON with {constant}")


def unique(pairs):
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise ValueError(f"JSON with a key twice: {[key for key, _ in pairs]}")
    return tree


def written_out(document):
    """A document in the form of JSON: groups by path, attributes and filters in long form."""
    bare = {key: value for key, value in document.items() if key in SECTIONS or key == "x-error"}
    groups = {"/": bare} if bare or not document else document
    return {path: long(group) for path, group in groups.items()}


def long(entity):
    """An object or a section with attributes, filters and values in long form."""
    tree = {}
    for key, value in entity.items():
        match key:
            case "attributes":
                tree[key] = {name: attribute(one) for name, one in value.items()}
            case "datatypes" | "dimcoords" | "ndarrays":
                tree[key] = {name: long(one) if isinstance(one, dict) else one for name, one in value.items()}
            case "storage":
                tree[key] = storage(value)
            case _:
                tree[key] = scalars(value)
    return tree


def attribute(value):
    if isinstance(value, dict):
        return long(value)
    kind = {int: integer, float: lambda _: "float64", str: lambda _: "string", bytes: lambda _: "string"}
    return scalars({"shape": [], "type": kind[type(value)](value), "value": value})


def integer(value):
    return "int32" if -(2**31) <= value < 2**31 else "int64" if -(2**63) <= value < 2**63 else "uint64"


def storage(directives):
    tree = scalars(directives)
    if "filter" in tree:
        tree["filter"] = [parameters(one) for one in tree["filter"]]
    return tree


def parameters(entry):
    """A filter in short form, with a single parameter without a name."""
    if isinstance(entry, str):
        return {entry: {}}
    only = {name: list(of.values()) if isinstance(of, dict) and len(of) == 1 else of for name, of in entry.items()}
    return {name: of if isinstance(of, (dict, list)) else [of] for name, of in only.items()}


def scalars(tree):
    """Converts bytes, infinities and NaN to the form of JSON."""
    if isinstance(tree, dict):
        return {key: scalars(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [scalars(value) for value in tree]
    if isinstance(tree, bytes):
        return {"x-bytes": "0x" + tree.hex()}
    if isinstance(tree, float) and not math.isfinite(tree):
        return "NaN" if math.isnan(tree) else "Infinity" if tree > 0 else "-Infinity"
    return tree


def bits(one, other):
    """The first tree with bit fields as hexadecimal text where the other tree has them."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: bits(value, other.get(key)) for key, value in one.items()}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [bits(a, b) for a, b in zip(one, other)]
    same = isinstance(one, int) and isinstance(other, str) and other.startswith("0x") and int(other, 16) == one
    return other if same else one


def main():
    directory = sys.argv[1]
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    paths = sorted(glob.glob(os.path.join(directory, "*.yaml")))
    tally, count = Tally(), 0
    with multiprocessing.Pool(processes) as pool:
        for documents, wrong in pool.imap_unordered(judge, paths):
            count += documents
            tally.passed += documents - len(wrong)
            for what, reason in wrong:
                tally.check(False, what, [reason])
    print(f"{count} documents read by PyYAML, ruamel.yaml and json")
    tally.close()


if __name__ == "__main__":
    main()
