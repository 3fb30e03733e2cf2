"""Names that somebody made in order to be acted upon by whoever reads a report."""

from __future__ import annotations

HOSTILE: dict[str, str] = {
    "ansi": "\x1b[2J\x1b[31mACCEPTED\x1b[0m",
    "c1-control": "\x9b31mACCEPTED",
    "bidi": "\u202eDETPECCA\u2066",
    "carriage-return": "a\rACCEPTED",
    "new-line-command": "a\n::error file=x::b",
    "command": "::error file=x,line=1::owned",
    "old-command": "##[error]owned",
    "percent": "%0A::error::owned",
    "script": "</script><script>alert(1)</script>",
    "lone-surrogate": "a\ud800b",
    "tag-characters": "a\U000e0041\U000e0042",
    "zero-width": "a\u200b\u2060b",
    "line-separator": "a\u2028::error::b\u2029c\x85d",
    "combining": "a" + "\u0301" * 40,
}
"""By what they are; a test takes the items as its table."""
