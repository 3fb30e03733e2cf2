"""What libpq refuses of an address before it asks any server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sluicegate.errors import ConfigurationError
from sluicegate.stores.postgres_terms import demand_terms

REFUSED = {
    "no port": ("h:99999/d", "names a port that is none: write one from 1 to 65535"),
    "the port behind the last": ("h:65536/d", "names a port that is none"),
    "port nought": ("h:0/d", "names a port that is none"),
    "a port of very many digits": (f"h:{'9' * 5_000}/d", "names a port that is none"),
    "one of two ports": ("a:5432,b:99999/d", "names a port that is none"),
    "no mode": ("h/d?sslmode=bogus", "has an sslmode that is none: write one of disable, allow,"),
    "a weak mode": (
        "h/d?sslmode=require&sslrootcert=system",
        "has sslrootcert=system, which goes with sslmode=verify-full alone",
    ),
    "an encoding that is none": ("h/%zz", "is not understood as a PostgreSQL URL"),
    "a byte that is no UTF-8": ("h/%ff", "is not understood as a PostgreSQL URL"),
    "two chains": ("h/d?chain=a&chain=b", ": after ? stands chain=NAME alone"),
    "a FIFO of authorities": ("h/d?sslrootcert=fifo", "names with sslrootcert what is no regular"),
    "a FIFO of a certificate": ("h/d?sslcert=fifo", "names with sslcert what is no regular file"),
    "a FIFO of a key": ("h/d?sslkey=fifo", "names with sslkey what is no regular file"),
}


@pytest.fixture(autouse=True)
def beside_a_fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("ca.pem").touch()


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("rest", "says"), REFUSED.values(), ids=REFUSED)
def test_an_address_that_libpq_refuses_is_told_before_it_is_asked(rest: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        demand_terms(f"postgresql://test@{rest}")
    assert str(refused.value).startswith(f"audit.store{'' if says[0] == ':' else ' '}{says}")


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://test@127.0.0.1:5432/test?chain=a",
        "postgresql://test@127.0.0.1:65535/test",
        "postgresql://test@a:1,b:2/test",
        "postgresql://test@a:05432,b/test",
        "postgresql://test@a,b:/test",
        "postgresql://h/d?sslmode=verify-full&sslrootcert=system",
        "postgresql://h/d?sslmode=verify-ca&sslrootcert=ca.pem",
        "postgresql://h/d?sslrootcert=absent.pem",
        f"postgresql://h/d?sslrootcert={'a' * 300}",
        "postgresql://h/d?passfile=/dev/null",
        "postgresql:env:NOT_SET",
        "postgresql:service=record?chain=a",
        "postgresql:///test",
    ],
)
def test_what_takes_a_server_to_be_refused_is_left_to_it(store: str) -> None:
    demand_terms(store)
