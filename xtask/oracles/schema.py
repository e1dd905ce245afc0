"""Tests the JSON Schema of NDL with documents: good ones must be valid, bad ones invalid.

    schema.py SCHEMA GOOD… BAD

GOOD is a file, or a directory whose files ending in .yaml, .yml, .json and .md are read. In a Markdown page, the blocks
fenced as exactly `yaml` or `json` are documents. BAD is a file of documents separated by `---`, each below a comment that
states what is wrong with it; good documents may be written in the same way.

From the root of the project:

    schema.py crates/ndl/schema/ndl.schema.json crates/ndl/schema/good crates/ndl/tests/golden \
        crates/cli/tests/golden docs/ndl.md crates/ndl/schema/bad.yaml

The schema itself must be valid, its definitions must not contain references without a target, and its examples must be valid.
"""

import itertools
import json
import os
import re
import sys

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tally import Tally


class CoreLoader(yaml.SafeLoader):
    """The core schema of YAML 1.2: keys are names as written, and dates are strings."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        mapping = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key that is not a name", key.start_mark)
            if key.value in mapping:
                raise yaml.constructor.ConstructorError(None, None, "a key that comes twice", key.start_mark)
            mapping[key.value] = self.construct_object(value, deep=True)
        return mapping

    def construct_map(self, node):
        return self.construct_mapping(node)

    def construct_text(self, node):
        return self.construct_scalar(node)

    def construct_integer(self, node):
        text = self.construct_scalar(node)
        base = {"0x": 16, "0o": 8}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)

    def construct_number(self, node):
        text = self.construct_scalar(node).lower()
        return float(re.sub(r"\.(inf|nan)$", r"\1", text))


CORE = [
    ("null", r"|~|null|Null|NULL", ["", "~", "n", "N"]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", list("-+.0123456789")),
]
for tag, pattern, first in CORE:
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), first)
CoreLoader.add_constructor("tag:yaml.org,2002:map", CoreLoader.construct_map)
CoreLoader.add_constructor("tag:yaml.org,2002:int", CoreLoader.construct_integer)
CoreLoader.add_constructor("tag:yaml.org,2002:float", CoreLoader.construct_number)
CoreLoader.add_constructor("tag:yaml.org,2002:binary", CoreLoader.construct_text)


def load(name, text):
    return json.loads(text) if name.endswith(".json") else yaml.load(text, CoreLoader)


def files(place):
    if os.path.isfile(place):
        return [place]
    found = (os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names)
    return sorted(path for path in found if path.endswith((".yaml", ".yml", ".json", ".md")))


def documents(path):
    """The name and the text of each document in a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        fences = re.finditer(r"^```(yaml|json)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for fence in fences:
            yield f"{path}:{text.count(chr(10), 0, fence.start()) + 1}.{fence[1]}", fence[2]
    elif path.endswith(".json"):
        yield path, text
    else:
        for part in re.split(r"^---\n(?=# )", text, flags=re.MULTILINE):
            comment = part.removeprefix("#").partition("\n")[0].strip() if part.startswith("#") else ""
            yield f"{path}: {comment}" if comment else path, part


def why(validator, document):
    error = best_match(validator.iter_errors(document))
    return f"{error.json_path}: {error.message}" if error else None


def examples(schema):
    """The examples of the schema and of every definition, each with the schema that validates it."""
    for index, example in enumerate(schema["examples"]):
        yield f"example {index} of the document", schema, example
    for name, definition in schema["$defs"].items():
        judge = {"$defs": schema["$defs"], "$ref": f"#/$defs/{name}"}
        for index, example in enumerate(definition.get("examples", [])):
            yield f"example {index} of {name}", judge, example


def unresolved(schema):
    """References without a target."""
    stack = [schema]
    while stack:
        node = stack.pop()
        stack.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else [])
        target = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(target, str) and target != "#" and target.removeprefix("#/$defs/") not in schema["$defs"]:
            yield target


def main(schema_path, *places):
    *good, bad = places
    tally = Tally()
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    broken = [error.message for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)]
    broken += unresolved(schema)
    tally.check(not broken, schema_path, broken)
    if broken:
        tally.close()
    validator = Draft202012Validator(schema)
    for name, judge, example in examples(schema):
        reason = why(Draft202012Validator(judge), example)
        tally.check(reason is None, name, [reason])
    for path in itertools.chain.from_iterable(map(files, good)):
        for name, text in documents(path):
            try:
                reason = why(validator, load(name, text))
            except (yaml.YAMLError, ValueError) as error:
                reason = f"cannot be read: {error}"
            tally.check(reason is None, f"good: {name}", [reason])
    for name, text in documents(bad):
        try:
            document = load(name, text)
        except yaml.YAMLError as error:
            tally.check(False, f"bad: {name}", [f"cannot be read: {error}"])
            continue
        tally.check(why(validator, document) is not None, f"bad: {name}", ["it is valid"])
    tally.close()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
