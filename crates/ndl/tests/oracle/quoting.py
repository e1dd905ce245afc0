"""Checks that PyYAML (YAML 1.1) and ruamel.yaml (1.2) read all texts and names of a document unchanged.

    cargo build --example quoting
    python quoting.py target/debug/examples/quoting [TEXTS]

Random texts of what is special to either version, 120,000 unless told otherwise, go through the emitter as names and
values, in block and flow, alone and in lists.
"""

import concurrent.futures
import json
import random
import subprocess
import sys

import ruamel.yaml
import yaml

BATCH = 40
PER_JOB = 25
WORDS = """no yes on off y n Y N true null ~ 1 0755 0o17 0x1F 1:30 1e3 1.5e3 1_000 2008-12-31 12:30:45 = << .inf .nan - ? : # a
å Ω , [ ] { } ' " \\ ! & * | > @ ` % + +1 .5 5. e -.inf --- ... 😀 / a:b http://x -a ?a :a 0b11 1,5 NaT !!str &a *a %YAML
""".split() + ["\n", "\t", " ", "  ", "\x85", "\u2028", "\u2029", "\x00", "\x1b", "\x7f", "\r", "\r\n", "\ufeff", "\u200d", "\xa0", "\xad",
               "\ue000", "\ufffe", "\U000e0001", "\U0010ffff", "b c", "key: v", "k #c", "\n\n", "\n ", " \n", "x" * 50, "two words ", "y" * 90, "z" * 1100]


def texts(rng, count):
    """Random texts: mostly short ones, some long enough to be folded or to fill a page."""
    return ["".join(rng.choice(WORDS) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4, 4, 30]))) for _ in range(count)]


def expected(batch):
    unique = list(dict.fromkeys(batch))
    names = [text for text in unique if text and "/" not in text]
    pairs = len(batch) // 2
    arrays = {
        "row": {"shape": [len(batch)], "type": "string", "value": batch},
        "rows": {"shape": [pairs, 2], "type": "string", "value": [batch[2 * i : 2 * i + 2] for i in range(pairs)]},
    }
    for i, text in enumerate(batch):
        arrays[f"scalar {i}"] = {"shape": [], "type": "string", "value": text}
    for i in range(0, len(unique), 3):
        few = unique[i : i + 3]
        members = {name: code for code, name in enumerate(few)}
        arrays[f"compound {i // 3}"] = {"shape": [], "type": {"compound": [{name: "string"} for name in few]}, "value": {name: name for name in few}}
        arrays[f"enum {i // 3}"] = {"shape": [], "type": {"enum": {"base": "uint8", "members": members}}, "value": few[0]}
    for name in names:
        arrays["zz" + name] = {"x-error": name}
    root = {
        "attributes": {**{text: text for text in unique}, "zz rows": {"shape": [len(batch)], "type": "string", "value": batch}},
        "ndarrays": arrays,
    }
    if names:
        root["links"] = {name: {"soft": name} for name in names}
    return {"/": root, **{"/" + name: {"x-error": name} for name in names}}


def differ(a, b, where=""):
    if type(a) is not type(b):
        return f"{where}: {a!r} against {b!r}"
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{where}: keys {set(a) ^ set(b)!r}"
        return next(filter(None, (differ(a[key], b[key], f"{where}/{key!r}") for key in a)), None)
    if isinstance(a, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} items against {len(b)}"
        return next(filter(None, (differ(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)
    return None if a == b else f"{where}: {a!r} against {b!r}"


def wrong_in(batch, document):
    """The first text that a parser reads differently, or None."""
    want = expected(batch)
    for name, load in (("YAML 1.1", yaml.safe_load), ("YAML 1.2", ruamel.yaml.YAML(typ="safe", pure=True).load)):
        try:
            found = differ(want, load(document))
        except (yaml.YAMLError, ruamel.yaml.error.YAMLError, ValueError) as error:
            found = " ".join(str(error).split())
        if found:
            return f"{name} {found[:500]}"
    return None


def judge(job):
    """The errors in the documents that `binary` writes from the texts of one seed."""
    binary, seed, count = job
    rng = random.Random(seed)
    batches = [texts(rng, BATCH) for _ in range(count)]
    done = subprocess.run([binary], input=json.dumps(batches).encode(), stdout=subprocess.PIPE, check=True)
    documents = done.stdout.decode("utf-8").split("\0")[:-1]
    if len(documents) != count:
        return [f"{len(documents)} documents for {count} batches"]
    return [found for found in map(wrong_in, batches, documents) if found]


def main():
    binary, total = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120_000
    jobs = [(binary, seed, PER_JOB) for seed in range(-(-total // (BATCH * PER_JOB)))]
    wrong = []
    # Unlike multiprocessing.Pool, this terminates when a worker is killed.
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for found in pool.map(judge, jobs):
            wrong += found
    print("\n".join(wrong[:5] + [f"{len(jobs) * PER_JOB * BATCH} texts in {len(jobs) * PER_JOB} documents, {len(wrong)} of them read back wrong"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
