"""What an HTTP contract fixes: the file of authorities is a regular one that holds some."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sluicegate.access.authzen_exchange import trust
from sluicegate.adapters.http_settings import tls_context
from sluicegate.errors import ConfigurationError

TRUSTING: dict[str, Callable[[str], object]] = {
    "a contract": lambda name: tls_context("https://ci.example", name),
    "a decision service": lambda name: trust("https", name),
}
PLACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "fifo": (os.mkfifo, "it is no regular file"),
    "folder": (Path.mkdir, "Is a directory"),
    "nothing": (Path.exists, "No such file or directory"),
    "no certificate": (Path.touch, "[X509: NO_CERTIFICATE_OR_CRL_FOUND]"),
}


@pytest.mark.requirement("ADP-2", "ACC-2")
@pytest.mark.parametrize("trusting", TRUSTING.values(), ids=TRUSTING)
@pytest.mark.parametrize(("make", "says"), PLACES.values(), ids=PLACES)
def test_authorities_that_cannot_be_read_are_told_at_once(
    make: Callable[[Path], object], says: str, trusting: Callable[[str], object], tmp_path: Path
) -> None:
    path = tmp_path / "ca.pem"
    make(path)
    with pytest.raises(ConfigurationError) as refused:
        trusting(str(path))
    assert str(refused.value).startswith(f"ca_file {path} cannot be used: {says}")


@pytest.mark.parametrize("trusting", TRUSTING.values(), ids=TRUSTING)
def test_a_name_that_no_file_can_bear_is_told_as_one(trusting: Callable[[str], object]) -> None:
    with pytest.raises(ConfigurationError, match="no file can bear this name"):
        trusting("a\0b")
