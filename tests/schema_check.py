"""A checker for the part of JSON Schema that `agent.schema` uses, so that no package is needed for it."""

from __future__ import annotations

import json
from typing import Any

_TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "null": lambda v: v is None,
}
_KNOWN = {
    *("description", "type", "properties", "required", "additionalProperties"),
    *("items", "minItems", "maxItems", "minimum", "maximum", "enum"),
}


def assert_fits(answer: Any, schema: dict[str, Any]) -> None:
    """Asserts that an answer is what a schema describes, after a trip through JSON text."""
    _check(json.loads(json.dumps(answer, allow_nan=False)), schema, "answer")


def _check(value: Any, schema: dict[str, Any], path: str) -> None:
    assert set(schema) <= _KNOWN, f"{path}: the checker knows no {set(schema) - _KNOWN}"
    if "enum" in schema:
        assert value in schema["enum"], path
        return
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(_TYPES[t](value) for t in types), f"{path} is {value!r}, not {types}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value), f"{path} is {value}"
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), (
            f"{path}: {len(value)} items"
        )
        for row, item in enumerate(value):
            _check(item, schema["items"], f"{path}[{row}]")
    if isinstance(value, dict):
        _check_object(value, schema, path)


def _check_object(value: dict[str, Any], schema: dict[str, Any], path: str) -> None:
    fields = schema.get("properties", {})
    missing = set(schema.get("required", ())) - set(value)
    assert not missing, f"{path} lacks {missing}"
    rest = schema.get("additionalProperties")
    for name, item in value.items():
        if name in fields:
            _check(item, fields[name], f"{path}.{name}")
        else:
            assert isinstance(rest, dict), f"{path} has {name}, which the schema does not name"
            _check(item, rest, f"{path}.{name}")
