"""The child process of ``opening/trial.py``: run by path; it compiles as a gate does.

Reads one JSON array of schemas from standard input, takes each through compilation and the
validation of probes made from it, and writes one line for each that it finished. Whatever goes
wrong ends the process before the line is written.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

MEMORY_BYTES: Final = 512 * 1024 * 1024
CPU_S: Final = 2
DOCUMENT_CPU_S: Final = 0.5
DEPTHS: Final = (1, 4, 16, 32)
MAX_VALUES: Final = 2_000
MAX_NAMES: Final = 40
TOO_SLOW: Final = 3

# An isolated interpreter knows no PYTHONPATH, so the package may not be importable by itself.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from sluicegate.contracts.schemas.compiling import compile_validator  # noqa: E402
from sluicegate.opening.child_limits import limit_process, limit_processor_time  # noqa: E402

_HOLDS_SCHEMA: Final = frozenset(
    {
        *("items", "contains", "additionalProperties", "propertyNames", "if", "then", "else"),
        *("not", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_HOLDS_SCHEMA_ARRAY: Final = frozenset({"prefixItems", "allOf", "anyOf", "oneOf"})
_HOLDS_SCHEMA_MAP: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs"}
)


def main() -> None:
    """Try every schema on standard input; exit 0 when all are through."""
    raw = sys.stdin.buffer.read()
    limit_process(MEMORY_BYTES)
    for schema in json.loads(raw):
        began = time.process_time()
        limit_processor_time(CPU_S)
        try_schema(schema)
        if time.process_time() - began > DOCUMENT_CPU_S:
            sys.exit(TOO_SLOW)
        sys.stdout.write(".\n")
        sys.stdout.flush()


def try_schema(schema: Any) -> None:
    """Compile ``schema`` as the gate does, and judge every probe by it."""
    validator = compile_validator(schema)
    for probe in probes(schema):
        validator.is_valid(probe)


def probes(schema: Any) -> Iterator[Any]:
    """Yield values that reach deep into ``schema``: what it may visit again and again."""
    names = list(dict.fromkeys(member_names(schema)))[:MAX_NAMES]
    yield from ({}, [], "", 0, None)
    yield {name: {} for name in names}
    for depth in DEPTHS:
        yield nest(None, depth)
        for name in names:
            yield nest(name, depth)
        budget = [MAX_VALUES]
        yield fill(names, depth, budget)


def nest(name: str | None, depth: int) -> Any:
    """A chain of objects with one member, or of arrays with one item."""
    value: Any = {} if name is not None else []
    for _ in range(depth):
        value = [value] if name is None else {name: value}
    return value


def fill(names: list[str], depth: int, budget: list[int]) -> Any:
    """An object with every name at every level, as far as the budget goes; arrays between."""
    budget[0] -= 1
    if depth == 0 or budget[0] <= 0:
        return {}
    return {name: [fill(names, depth - 1, budget)] for name in names if budget[0] > 0}


def member_names(schema: Any) -> Iterator[str]:
    """Yield every declared member name, outside in."""
    if not isinstance(schema, dict):
        return
    for keyword, member in schema.items():
        if keyword == "properties" and isinstance(member, dict):
            yield from member
        if keyword in _HOLDS_SCHEMA:
            yield from member_names(member)
        elif keyword in _HOLDS_SCHEMA_ARRAY and isinstance(member, list):
            for inner in member:
                yield from member_names(inner)
        elif keyword in _HOLDS_SCHEMA_MAP and isinstance(member, dict):
            for inner in member.values():
                yield from member_names(inner)


if __name__ == "__main__":
    main()
