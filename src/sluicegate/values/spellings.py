"""One text has many spellings in JSON: whether bytes hold it in any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

_ESCAPE: Final = re.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    rb'|u([0-9a-fA-F]{4})|(["\\/bfnrt]))'
)
_SHORT: Final = {
    b'"': b'"',
    b"\\": b"\\",
    b"/": b"/",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
}
_MAX_LAYERS: Final = 3
"""A document may hold the text of another one: an MCP result, its text, a member of that."""


def holds_text(raw: bytes, *texts: str) -> bool:
    r"""Whether ``raw`` holds one of the ``texts``, as it stands or as JSON may escape it.

    Every escape of RFC 8259 section 7 counts, whichever characters are escaped: ``\/``, ``\n``,
    ``\u0061``, surrogate pairs; also in JSON that stands inside a JSON text, up to three layers.
    ``raw`` need not be JSON. The empty text is held by nothing. Linear in the length of ``raw``.
    """
    wanted = {spelt for text in texts if text for spelt in _encode(text)}
    if not wanted:
        return False
    for _ in range(_MAX_LAYERS):
        if any(text in raw for text in wanted):
            return True
        if b"\\" not in raw:
            return False
        raw = _ESCAPE.sub(_decode, raw)
    return any(text in raw for text in wanted)


def _encode(text: str) -> Iterator[bytes]:
    yield text.encode("utf-8", "surrogatepass")
    if not text.isascii():
        # A byte of the environment that is not UTF-8 comes as a surrogate, and is sent as a byte.
        with suppress(UnicodeEncodeError):
            yield text.encode("utf-8", "surrogateescape")


def _decode(escape: re.Match[bytes]) -> bytes:
    high, low, unit, short = escape.groups()
    if short is not None:
        return _SHORT[short]
    if unit is not None:
        return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
    code = 0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00)
    return chr(code).encode("utf-8")
