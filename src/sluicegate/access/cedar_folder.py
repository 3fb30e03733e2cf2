"""A folder of Cedar documents → a decision point, or every problem in it (SPEC ACC-2, CON-3).

Everything is read and judged here, once: policies without a schema, policies that do not fit it,
and entities that do not fit it are never asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sluicegate.access.cedar import CedarAuthorizer, CedarPolicies
from sluicegate.access.cedar_statements import (
    MAX_NESTING,
    Statement,
    find_excess,
    nests_too_deep,
    split_statements,
)
from sluicegate.contracts.json_reading import MAX_BYTES, decode_text, read_json
from sluicegate.contracts.problems import Problem
from sluicegate.values.codes import Code
from sluicegate.values.digests import digest_of_bytes, digest_of_json
from sluicegate.values.names import show_sentence

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
            text = decode_text(name, documents[name], MAX_BYTES)
            if isinstance(text, Problem):
                problems.append(text)
            else:
                statements += split_statements(name, text)
    if not statements and not problems:
        return (
            _problem(
                folder,
                "The folder holds no policy.",
                "Write one into a file of it that ends in .cedar; what none permits is denied.",
            ),
        )
    problems += _judge(statements, schema)
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
) -> CedarAuthorizer | tuple[Problem, ...]:
    from cedarpy import PolicySet

    policies = PolicySet.from_str("\n".join(each.text for each in statements))
    if len(policies) != len(statements):  # each was one policy by itself
        return (
            _problem(
                statements[0].document,
                "The engine counts other policies than stand here.",
                "Write each policy by itself, with its semicolon.",
            ),
        )
    return CedarAuthorizer(
        CedarPolicies(
            policies=policies,
            schema=schema,
            entities=entities,
            statements=tuple(statements),
            version=digest_of_json({name: digest_of_bytes(raw) for name, raw in documents.items()}),
        )
    )


def _read_schema(folder: str, documents: Mapping[str, bytes]) -> Schema | Problem:
    from cedarpy import Schema

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
    text = decode_text(name, documents[name], MAX_BYTES)
    if isinstance(text, Problem):
        return text
    if nests_too_deep(text):
        return _problem(name, f"It nests deeper than {MAX_NESTING} levels.", "Name inner types.")
    build = Schema.from_json_str if name.endswith(JSON_SCHEMA) else Schema.from_str
    try:
        return build(text)
    except ValueError as error:
        return _problem(name, f"It is no Cedar schema: {_said(error)}.", "Mend the schema.")


def _judge(statements: list[Statement], schema: Schema) -> list[Problem]:
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
        return None
    said = _NUMBER.sub("", judged.errors[0].error) if judged.errors else "it gives no reason"
    return (
        f"The policy that begins here does not fit the schema: {show_sentence(said)}.",
        "Mend the policy or the schema.",
    )


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
