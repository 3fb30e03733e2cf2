"""Content codings taken apart while the bytes arrive, so that the limit bites inside a bomb."""

from __future__ import annotations

import zlib
from typing import Final

ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""What a request asks for; every other coding, and two at once, is BAD_ENCODING (SPEC ADP-2)."""

_WINDOW_BITS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_STEP: Final = 65_536


class BrokenEncoding(Exception):  # noqa: N818  (named as its fault)
    """The coding is unknown, or the compressed bytes are damaged or incomplete."""


class Overflow(Exception):  # noqa: N818  (named as its fault)
    """There are more decoded bytes than the limit, or far more coded ones."""


class Decoder:
    """Collects at most ``max_bytes`` decoded bytes in ``content``.

    ``deflate`` is the zlib format (RFC 9110 8.4.1.2); raw deflate is refused. Several gzip members
    are one content (RFC 1952 2.2).
    """

    def __init__(self, encoding: str | None, max_bytes: int) -> None:
        """Raises: BrokenEncoding for a coding that was not asked for."""
        coding = "identity" if encoding is None else encoding.strip().lower()
        if coding not in ("identity", *_WINDOW_BITS):
            raise BrokenEncoding("the content coding is not one that was asked for")
        self.content: Final = bytearray()
        self._bits = _WINDOW_BITS.get(coding)
        self._max_bytes = max_bytes
        # Stored blocks and empty members add to the coded side: leave room, but not without end.
        self._max_coded = max_bytes + max_bytes // 256 + 4096
        self._coded = 0
        self._inflater = None if self._bits is None else zlib.decompressobj(self._bits)
        self._is_between_members = True

    def feed(self, chunk: bytes) -> None:
        """Take received bytes. Raises: Overflow, BrokenEncoding."""
        self._coded += len(chunk)
        if self._bits is None:
            self._append(chunk)
            return
        if self._coded > self._max_coded:
            raise Overflow
        self._inflate(chunk, self._bits)

    def finish(self) -> None:
        """See that the coded content is whole. Raises: BrokenEncoding."""
        if self._bits is not None and self._coded and not self._is_between_members:
            raise BrokenEncoding("the compressed content breaks off")

    def _inflate(self, chunk: bytes, bits: int) -> None:
        while chunk:
            if self._inflater is None:
                if bits != _WINDOW_BITS["gzip"]:
                    raise BrokenEncoding("something stands behind the compressed content")
                self._inflater = zlib.decompressobj(bits)
            self._is_between_members = False
            try:
                self._append(self._inflater.decompress(chunk, _STEP))
                chunk = self._inflater.unconsumed_tail
                if self._inflater.eof:
                    chunk = self._inflater.unused_data
                    self._inflater, self._is_between_members = None, True
            except zlib.error as error:
                raise BrokenEncoding("the compressed content is damaged") from error

    def _append(self, decoded: bytes) -> None:
        room = self._max_bytes - len(self.content)
        self.content.extend(decoded[:room])
        if len(decoded) > room:
            raise Overflow
