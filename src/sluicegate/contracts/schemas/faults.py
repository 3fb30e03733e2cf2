"""What stands against a schema: a value, never an exception."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFault:
    """One fault in one schema document.

    ``pointer`` leads into the schema as it was handed in, or into the resource that ``resource``
    names; ``keyword`` is the one at fault, if it is one; ``message`` says what is wrong, ``mend``
    what to write instead. Names from the document have passed ``show_name``. Source: SPEC CON-2.
    """

    code: Code
    message: str
    mend: str
    pointer: str = ""
    keyword: str | None = None
    resource: str | None = None
