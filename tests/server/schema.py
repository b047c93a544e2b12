"""Checks answers of the API against docs/http-api.schema.json, strictly: an object has no members that the
schema lacks, a tuple no more items. What was seen of the schema is kept in the folder CAIRN_SEEN, so that
test_schema.py finds what no test ever saw."""
import atexit
import json
import os
import pathlib
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "http-api.schema.json").read_text(encoding="utf-8"))
DEFINITIONS = SCHEMA["$defs"]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SEEN = set()


class Mismatch(AssertionError):
    pass


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def definition_of(reference):
    name = reference.rpartition("/")[2]
    return name, DEFINITIONS[name]


def members_of(name, schema):
    """The members of an object with those of what it extends: name -> (where it is defined, rule)."""
    members = {}
    for base in schema.get("allOf", []):
        members.update(members_of(*definition_of(base["$ref"])))
    members.update({member: (name, rule) for member, rule in schema.get("properties", {}).items()})
    return members


def required_of(schema):
    bases = (definition_of(base["$ref"])[1] for base in schema.get("allOf", []))
    return set(schema.get("required", [])).union(*map(required_of, bases))


def check_one_of(value, rules, where, seen):
    failures = []
    for rule in rules:
        try:
            tried = set()
            check(value, rule, where, tried)
            seen |= tried
            return
        except Mismatch as mismatch:
            failures.append(str(mismatch))
    raise Mismatch("; or ".join(failures))


def check_object(value, name, schema, where, seen):
    members = members_of(name, schema)
    for member in required_of(schema) - value.keys():
        raise Mismatch(f"{where} lacks {member}")
    for member, inner in value.items():
        if member not in members:
            raise Mismatch(f"{where}.{member} is not in docs/http-api.schema.json")
        home, rule = members[member]
        seen.add(f"{home}.{member}")
        check(inner, rule, f"{where}.{member}", seen)


def check_array(value, schema, where, seen):
    first = schema.get("prefixItems", [])
    rest = schema.get("items")
    if len(value) < schema.get("minItems", len(first)) or (rest is None and len(value) > len(first)):
        raise Mismatch(f"{where} has {len(value)} items, not {len(first)}")
    for i, item in enumerate(value):
        check(item, first[i] if i < len(first) else rest, f"{where}[{i}]", seen)


def check(value, schema, where="answer", seen=SEEN, name=None):
    """Raises Mismatch at the first mistake."""
    if "$ref" in schema:
        name, schema = definition_of(schema["$ref"])
    if "oneOf" in schema:
        return check_one_of(value, schema["oneOf"], where, seen)
    if "enum" in schema and value not in schema["enum"]:
        raise Mismatch(f"{where} is {value!r:.60}, none of {schema['enum']}")
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, one) for one in names):
        raise Mismatch(f"{where} is {value!r:.60}, not {' or '.join(names)}")
    if isinstance(value, dict):
        check_object(value, name, schema, where, seen)
    elif isinstance(value, list):
        check_array(value, schema, where, seen)
    return None


def schema_of(address, kind_of):
    """That of the answer to a question; `kind_of` tells the kind of a source by its number."""
    path, _, query = address.partition("?")
    parts = path.split("/")[3:]  # after "/api/v1"
    if parts[0] == "diff":
        form = urllib.parse.parse_qs(query).get("form", ["explain"])[0]
        return SCHEMA["questions"]["diff"][form]["answer"]
    if len(parts) == 1:
        return SCHEMA["questions"]["all"][parts[0]]["answer"]
    group = "store" if kind_of(int(parts[1])) == "store" else "data"
    return SCHEMA["questions"][group][parts[2]]["answer"]


def check_answer(address, status, body, kind_of):
    """Check what the server answered."""
    answer = json.loads(body)
    schema = {"$ref": "#/$defs/Failure"} if status >= 400 else schema_of(address, kind_of)
    check(answer, schema, address)


def keep_seen():
    folder = os.environ.get("CAIRN_SEEN")
    if folder and SEEN:
        os.makedirs(folder, exist_ok=True)
        name = os.path.basename(sys.argv[0])
        pathlib.Path(folder, f"{name}.txt").write_text("\n".join(sorted(SEEN)) + "\n", encoding="utf-8")


atexit.register(keep_seen)
