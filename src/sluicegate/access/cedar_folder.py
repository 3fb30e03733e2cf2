"""A folder of Cedar documents → a decision point, or every problem in it (SPEC ACC-2, CON-3).

Everything is read and judged here, once: policies without a schema, policies that do not fit it,
and entities that do not fit it are never asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sluicegate.access.cedar import CedarAuthorizer, CedarPolicies
from sluicegate.access.cedar_statements import (
    MAX_NESTING,
    Statement,
    find_excess,
    nests_too_deep,
    plant_at_end,
    plant_behind_has,
    split_statements,
)
from sluicegate.checks.meaning_text import FORBIDDEN_IN_FREE_TEXT
from sluicegate.contracts.json_reading import MAX_BYTES, decode_text, fault_of, locate, read_json
from sluicegate.contracts.problems import Problem
from sluicegate.values.codes import Code
from sluicegate.values.digests import digest_of_bytes, digest_of_json
from sluicegate.values.names import show_name, show_sentence

if TYPE_CHECKING:
    from cedarpy import Entities, Schema

POLICY_SUFFIX: Final = ".cedar"
TEXT_SCHEMA: Final = "schema.cedarschema"
JSON_SCHEMA: Final = "schema.json"
ENTITIES: Final = "entities.json"
_NUMBER: Final = re.compile(r"^for policy `policy\d+`, ")


def load_cedar(
    folder: str, documents: Mapping[str, bytes]
) -> CedarAuthorizer | tuple[Problem, ...]:
    """Return the decision point of ``folder``, or all that is wrong with its ``documents``.

    ``documents`` maps names that begin with ``folder`` to bytes: ``*.cedar``, one of
    ``schema.cedarschema`` and ``schema.json``, perhaps ``entities.json``.
    Raises: ImportError where cedarpy is not installed.
    """
    folder = folder.rstrip("/")
    schema = _read_schema(folder, documents)
    if isinstance(schema, Problem):
        return (schema,)
    statements: list[Statement] = []
    problems: list[Problem] = []
    for name in sorted(documents):
        if name.endswith(POLICY_SUFFIX):
            text = _read_text(name, documents[name])
            if isinstance(text, Problem):
                problems.append(text)
            else:
                found = tuple(split_statements(name, text))
                problems += _judge(found, schema) or _count(name, text, found)
                statements += found
    if not statements and not problems:
        return (
            _problem(
                folder,
                "The folder holds no policy.",
                "Write one into a file of it that ends in .cedar; what none permits is denied.",
            ),
        )
    entities = _read_entities(f"{folder}/{ENTITIES}", documents, schema)
    if isinstance(entities, Problem):
        problems.append(entities)
    if problems or isinstance(entities, Problem):
        return tuple(problems)
    return _build(statements, schema, entities, documents)


def _build(
    statements: list[Statement],
    schema: Schema,
    entities: Entities,
    documents: Mapping[str, bytes],
) -> CedarAuthorizer:
    from cedarpy import PolicySet

    return CedarAuthorizer(
        CedarPolicies(
            policies=PolicySet.from_str("\n".join(each.text for each in statements)),
            schema=schema,
            entities=entities,
            statements=tuple(statements),
            version=digest_of_json({name: digest_of_bytes(raw) for name, raw in documents.items()}),
        )
    )


def _read_schema(folder: str, documents: Mapping[str, bytes]) -> Schema | Problem:
    names = [
        name for each in (TEXT_SCHEMA, JSON_SCHEMA) if (name := f"{folder}/{each}") in documents
    ]
    if len(names) != 1:
        message = "holds two schemas" if names else "holds no schema"
        return _problem(
            folder,
            f"The folder {message}: a policy that misspells a name would decide by accident.",
            f"Keep one of {TEXT_SCHEMA} and {JSON_SCHEMA}.",
        )
    (name,) = names
    if name.endswith(JSON_SCHEMA):
        read = read_json(name, documents[name])
        if isinstance(read, tuple):
            return read[0]
        return _build_schema(name, documents[name].decode("utf-8"))
    text = _read_text(name, documents[name])
    return text if isinstance(text, Problem) else _build_schema(name, text)


def _build_schema(name: str, text: str) -> Schema | Problem:
    from cedarpy import Schema

    if nests_too_deep(text):
        return _problem(name, f"It nests deeper than {MAX_NESTING} levels.", "Name inner types.")
    build = Schema.from_json_str if name.endswith(JSON_SCHEMA) else Schema.from_str
    try:
        return build(text)
    except ValueError as error:
        return _problem(name, f"It is no Cedar schema: {_said(error)}.", "Mend the schema.")


def _read_text(name: str, raw: bytes) -> str | Problem:
    """Return a text in which a reader and the engine see the same lines and the same words."""
    text = decode_text(name, raw, MAX_BYTES)
    if isinstance(text, Problem):
        return text
    for found in FORBIDDEN_IN_FREE_TEXT.finditer(text):
        if not text.startswith("\r\n", found.start()):
            return fault_of(
                name,
                f"holds the character {show_name(found[0])}: a reader and the engine may see "
                "different lines or words.",
                "End lines with LF or CR LF; in a string, write the character as \\u{…}.",
                locate(text, found.start()),
            )
    return text


def _judge(statements: Sequence[Statement], schema: Schema) -> list[Problem]:
    problems = []
    for statement in statements:
        fault = _find_fault(statement.text, schema)
        if fault is not None:
            message, mend = fault
            problems.append(
                Problem(
                    code=Code.CONTRACT_INVALID,
                    document=statement.document,
                    message=message,
                    mend=mend,
                    line=statement.line,
                    column=statement.column,
                )
            )
    return problems


def _count(name: str, text: str, statements: Sequence[Statement]) -> tuple[Problem, ...]:
    """Hold the statements, each of which is one policy, against what the engine finds in all."""
    from cedarpy import PolicySet

    try:
        counted = len(PolicySet.from_str(text))
    except ValueError as error:
        return (_problem(name, f"It cannot be read: {_said(error)}.", "Mend the policies."),)
    if counted == len(statements):
        return ()
    return (
        _problem(
            name,
            f"The engine counts {counted} policies here, and {len(statements)} are told apart.",
            "Write each policy by itself, with its semicolon.",
        ),
    )


def _find_fault(text: str, schema: Schema) -> tuple[str, str] | None:
    from cedarpy import PolicySet, validate_policies

    excess = find_excess(text)
    if excess is not None:
        return f"The policy that begins here {excess}.", "Split it into several policies."
    try:
        found = PolicySet.from_str(text)
    except ValueError as error:
        return f"The policy that begins here cannot be read: {_said(error)}.", "Mend the policy."
    if found.templates():
        return (
            "The policy that begins here is a template, and a template decides nothing.",
            "Write the principal or resource in the place of its slot.",
        )
    if len(found) != 1:
        return "Here is not one policy.", "Write each policy by itself, with its semicolon."
    judged = validate_policies(text, schema)
    if judged.validation_passed:
        return _find_idle_part(text, schema)
    said = _NUMBER.sub("", judged.errors[0].error) if judged.errors else "it gives no reason"
    return (
        f"The policy that begins here does not fit the schema: {show_sentence(said)}.",
        "Mend the policy or the schema.",
    )


def _find_idle_part(text: str, schema: Schema) -> tuple[str, str] | None:
    """Find what no question can meet: the engine warns of it, and its binding drops warnings.

    The validator passes over what stands behind a condition that is never true, so a mistake that
    it does not see there tells. A name that is misspelt after `has` makes such a condition.
    """
    from cedarpy import validate_policies

    for membership, planted in plant_behind_has(text):
        if validate_policies(planted, schema).validation_passed:
            return (
                f"The policy that begins here asks `{show_name(membership)}`: never true there.",
                "Mend the name, or declare the attribute in the schema; or drop the condition.",
            )
    if validate_policies(plant_at_end(text), schema).validation_passed:
        return (
            "The policy that begins here can never apply under the schema.",
            "Mend its conditions, or drop the policy.",
        )
    return None


def _read_entities(name: str, documents: Mapping[str, bytes], schema: Schema) -> Entities | Problem:
    """Without the document there are the actions of the schema alone."""
    from cedarpy import Entities

    if name not in documents:
        return Entities.from_json_str("[]", schema)
    read = read_json(name, documents[name])
    if isinstance(read, tuple):
        return read[0]
    if not isinstance(read.value, list):
        return read.problem("", "The entities must be a list.", "Write [ … ] around them.")
    try:
        return Entities.from_json_str(documents[name].decode("utf-8"), schema)
    except ValueError as error:
        said = _said(error)
    for index, entity in enumerate(read.value):  # the engine does not say which one
        try:
            Entities.from_json_str(json.dumps([entity]), schema)
        except ValueError as error:
            return read.problem(
                f"/{index}",
                f"This entity cannot be used: {_said(error)}.",
                "Write uid, attrs and parents as the schema declares them.",
            )
    return _problem(name, f"The entities cannot be used: {said}.", "Mend them.")


def _said(error: ValueError) -> str:
    return show_sentence(str(error)).rstrip(".")


def _problem(document: str, message: str, mend: str) -> Problem:
    return Problem(code=Code.CONTRACT_INVALID, document=document, message=message, mend=mend)
