"""Content codings are undone while the limit is watched on both sides."""

from __future__ import annotations

import gzip
import zlib

import pytest

from sluicegate.adapters.decoding import BrokenEncoding, Decoder, Overflow

pytestmark = pytest.mark.requirement("ADP-2", "RES-1")

DOCUMENT = b'{"state":"failed","log":"' + b"ab" * 500 + b'"}'


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


WHOLE = {
    "identity": ("identity", DOCUMENT),
    "no coding": (None, DOCUMENT),
    "gzip": ("gzip", gzip.compress(DOCUMENT)),
    "gzip in capitals": (" GZIP ", gzip.compress(DOCUMENT)),
    "x-gzip": ("x-gzip", gzip.compress(DOCUMENT)),
    "two gzip members": ("gzip", gzip.compress(DOCUMENT[:40]) + gzip.compress(DOCUMENT[40:])),
    "deflate": ("deflate", zlib.compress(DOCUMENT)),
}


@pytest.mark.parametrize("step", [1, 7, 65_536])
@pytest.mark.parametrize(("coding", "sent"), WHOLE.values(), ids=WHOLE)
def test_whole_content_is_decoded_however_it_is_cut(
    coding: str | None, sent: bytes, step: int
) -> None:
    decoder = Decoder(coding, len(DOCUMENT))
    for start in range(0, len(sent), step):
        decoder.feed(sent[start : start + step])
    decoder.finish()
    assert bytes(decoder.content) == DOCUMENT


def decode(coding: str, sent: bytes) -> bytes:
    decoder = Decoder(coding, 65_536)
    decoder.feed(sent)
    decoder.finish()
    return bytes(decoder.content)


BROKEN = {
    "cut gzip": ("gzip", gzip.compress(DOCUMENT)[:-9]),
    "gzip without its checksum": ("gzip", gzip.compress(DOCUMENT)[:-4]),
    "wrong checksum": ("gzip", gzip.compress(DOCUMENT)[:-8] + b"\0\0\0\0" + b"\0\0\0\0"),
    "no gzip at all": ("gzip", DOCUMENT),
    "garbage behind gzip": ("gzip", gzip.compress(DOCUMENT) + b"<html>"),
    "second member cut": ("gzip", gzip.compress(DOCUMENT) + gzip.compress(DOCUMENT)[:-1]),
    "raw deflate": ("deflate", raw_deflate(DOCUMENT)),
    "garbage behind deflate": ("deflate", zlib.compress(DOCUMENT) + b"x"),
}


@pytest.mark.parametrize(("coding", "sent"), BROKEN.values(), ids=BROKEN)
def test_damaged_or_incomplete_content_is_refused(coding: str, sent: bytes) -> None:
    with pytest.raises(BrokenEncoding):
        decode(coding, sent)


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "gzip,br", "", "bzip2"])
def test_a_coding_that_was_not_asked_for_is_refused(coding: str) -> None:
    with pytest.raises(BrokenEncoding):
        Decoder(coding, 65_536)


@pytest.mark.parametrize(("coding", "sent"), WHOLE.values(), ids=WHOLE)
def test_one_byte_more_than_the_limit_is_an_overflow(coding: str | None, sent: bytes) -> None:
    decoder = Decoder(coding, len(DOCUMENT) - 1)
    with pytest.raises(Overflow):
        decoder.feed(sent)
    assert DOCUMENT[:-1] == bytes(decoder.content)


def test_a_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 2_000_000)
    decoder = Decoder("gzip", 1000)
    with pytest.raises(Overflow):
        decoder.feed(bomb)
    assert len(decoder.content) == 1000


def test_endless_empty_members_are_an_overflow() -> None:
    decoder = Decoder("gzip", 1000)
    with pytest.raises(Overflow):
        decoder.feed(gzip.compress(b"") * 1000)


def test_no_content_at_all_is_whole() -> None:
    decoder = Decoder("gzip", 1000)
    decoder.finish()
    assert bytes(decoder.content) == b""
