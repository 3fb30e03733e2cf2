"""The statements of the record, written once for both stores, as PostgreSQL reads them.

The questions of quotas, reservations, evidence, open calls and custody have one text, so that the
two stores cannot answer differently. It is SQLite's: ``?`` and ``:name`` stand for values, ``IS ?``
compares with NULL, and ``instr`` is true where it finds something. What of it PostgreSQL spells
differently stands here; one set of tests runs over both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORDS: Final = (
    (re.compile(r"\bIS NOT (?=[?:])"), "IS DISTINCT FROM "),
    (re.compile(r"\bIS (?=[?:])"), "IS NOT DISTINCT FROM "),
    (re.compile(r"\binstr\(([^()]*)\)"), r"(strpos(\1) > 0)"),
)
_PLACES: Final = (
    (re.compile(r"%"), "%%"),
    (re.compile(r"\?"), "%s"),
    (re.compile(r"(?<!:):([a-z_]+)"), r"%(\1)s"),
)


@lru_cache(maxsize=128)
def spell(statement: str) -> bytes:
    """Return ``statement`` with PostgreSQL's words and psycopg's places for values."""
    statement = spell_words(statement)
    for pattern, spelling in _PLACES:
        statement = pattern.sub(spelling, statement)
    return statement.encode()


def spell_words(text: str) -> str:
    """Return ``text`` with PostgreSQL's words, for a body that takes no values."""
    for pattern, spelling in _WORDS:
        text = pattern.sub(spelling, text)
    return text
