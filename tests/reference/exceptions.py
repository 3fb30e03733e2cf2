"""Where the reference gate may disagree, by name and with the reason; all else must agree.

``test_reference_agrees`` holds every list exact: an entry that agrees after all must go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TWO_FAULTS: Final = frozenset(
    {
        "n_string_1_surrogate_then_escape.json",
        "n_string_1_surrogate_then_escape_u.json",
        "n_string_1_surrogate_then_escape_u1.json",
        "n_string_1_surrogate_then_escape_u1x.json",
        "n_string_incomplete_surrogate.json",
        "n_string_incomplete_surrogate_escape_invalid.json",
    }
)
"""JSONTestSuite: half of a pair before a broken escape. Both refuse at parse; the reference meets
the escape first, and says SYNTAX where the gate says LONE_SURROGATE."""

PATTERNS: Final = "python-jsonschema matches with Python's re, which knows no \\p{…}"
SCHEMAS: Final[Mapping[tuple[str, str], str]] = {
    ("pattern.json", "pattern with Unicode property escape requires unicode mode"): PATTERNS,
    ("patternProperties.json", "patternProperties with Unicode property escape"): PATTERNS,
}
"""JSON-Schema-Test-Suite, main: (file, group)."""

FORMATS: Final[Mapping[str, str]] = {
    "duration": "isoduration takes weeks beside days, and fractions",
    "ecmascript-regex": "python-jsonschema reads `format: regex` with Python's re",
    "email": "python-jsonschema asks for an @ and nothing else",
    "hostname": "the fqdn library is laxer about hyphens and lengths",
    "idn-hostname": "the idna library follows another revision",
    "iri": "rfc3987 follows the grammar where it is laxer, and refuses a bracketed address",
    "relative-json-pointer": "python-jsonschema reads digits its own way",
    "time": "python-jsonschema knows no leap second and no lower case",
    "uri": "the grammar that python-jsonschema uses takes a bracket too many",
    "uri-reference": "as uri",
    "uri-template": "the library checks less than RFC 6570 asks",
    "uuid": "uuid.UUID takes digits of other scripts and underscores",
}
"""JSON-Schema-Test-Suite, optional/format: file name → reason."""

POLICY: Final[Mapping[str, str]] = {
    "SCHEMA_DEFAULT_INVALID": "a default that breaks its own schema is refused (CON-2)",
    "SCHEMA_DIALECT": "another dialect is refused (CON-2)",
    "SCHEMA_REMOTE_REF": "nothing is fetched, and a bare schema has no folder (CON-1)",
    "SCHEMA_UNKNOWN_FORMAT": "a format that nothing asserts is refused (CON-2)",
    "SCHEMA_UNKNOWN_KEYWORD": "a keyword that nothing enforces is refused (CON-2)",
    "SCHEMA_UNRESOLVED_REF": "found at load, also where no value would meet it (CON-2)",
}
"""Schemas that the gate does not register on purpose: code → reason."""

CHARACTERS: Final[Mapping[int, str]] = {
    0x2065: "unassigned, inside a block that shows nothing",
    **dict.fromkeys(range(0x13439, 0x13440), "format characters since Unicode 15"),
}
"""Forbidden by the gate, and not by the categories that this Python knows."""
