"""A finding: one violation, described without ever echoing a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sluicegate.values.codes import Code

MAX_FINDINGS: Final = 20
"""Findings on one document, at most (SPEC ARG-3)."""

MAX_ENGINE_MESSAGE: Final = 2_000
"""Characters of an engine's or a check's own text that custody keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation.

    ``pointer`` is relative to the arguments or the data; ``expected`` and ``hint`` come from the
    contract, ``received`` is a JSON type name, never a value; ``offset`` counts bytes from 0,
    ``line`` and ``column`` from 1 (column in bytes). Names in ``pointer`` and ``hint`` that the
    other side made have passed ``show_name``. Source: SPEC ARG-3.
    """

    code: Code
    pointer: str = ""
    schema_pointer: str | None = None
    keyword: str | None = None
    expected: str | None = None
    received: str | None = None
    received_size: int | None = None
    limit: str | None = None
    hint: str | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
