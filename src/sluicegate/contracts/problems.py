"""What is wrong in a contract folder: where, what, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault in one document. ``line`` and ``column`` count from 1.

    ``message`` says what is wrong, ``mend`` what to write instead; ``pointer`` is the place in
    the document. Texts from the document have passed ``show_name``. ``discreet``: a secret may
    stand at that place, so nobody shows it; ``comes_first``: it is about a key, and may be the
    cause of others in its document; ``at_value``: where it has a pointer and no line yet, the line
    is that of the value, not of its key. Source: SPEC CON-1, ADP-5.
    """

    code: Code
    document: str
    message: str
    mend: str
    pointer: str = ""
    line: int | None = None
    column: int | None = None
    discreet: bool = False
    comes_first: bool = False
    at_value: bool = False

    def __str__(self) -> str:
        at = self.document
        if self.line is not None:
            at += f":{self.line}:{self.column or 1}"
        return f"{at}: {self.code}: {self.message} {self.mend}".rstrip()
