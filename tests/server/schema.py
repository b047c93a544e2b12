"""Checks of JSON against docs/http-api.schema.json: types, members, lengths, choices."""

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, where="answer"):
    """Raises AssertionError at the first mistake."""
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        raise AssertionError(f"{where} is {value!r:.60}, not {' or '.join(names)}")
    if "enum" in schema and value not in schema["enum"]:
        raise AssertionError(f"{where} is {value!r:.60}, none of {schema['enum']}")
    lengths = schema.get("length", [])
    lengths = [lengths] if isinstance(lengths, int) else lengths
    if lengths and len(value) not in lengths:
        raise AssertionError(f"{where} has {len(value)} items, not {schema['length']}")
    for name in schema.get("required", []):
        if name not in value:
            raise AssertionError(f"{where} lacks {name}")
    for name, rule in schema.get("properties", {}).items():
        if name in value:
            check(value[name], rule, f"{where}.{name}")
    if "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]")
