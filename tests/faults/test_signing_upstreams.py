"""Upstreams on the loopback that sign for each request, and gates that open the real folder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.upstreams import Upstream, serve
from tests.unit.checks import signing
from tests.unit.gates.job_status import ARGUMENTS, answer
from tests.unit.opening.test_signatures import FORMS, write_folder

from sluicegate.opening.folder import open_gate
from sluicegate.testing import FixedClock
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("RES-6")
CI = Caller(subject="ci")
BODY = answer()
Sign = Callable[[Upstream], tuple[bytes, dict[str, str]]]

SIGNS: dict[str, Sign] = {
    "standard_webhooks": lambda up: (BODY, signing.webhook(BODY, name=f"msg_{up.connections}")),
    "jws in a header": lambda up: (BODY, signing.detached(BODY, jti=str(up.connections))),
    "jws as the body": lambda up: (signing.compact(BODY, jti=str(up.connections)).encode(), {}),
    "rfc9421": lambda up: (
        BODY,
        signing.message(BODY, request_id=up.header("x-request-id") or ""),
    ),
}


class Provider:
    """What the running upstream sends next; a test may change it."""

    def __init__(self, form: str) -> None:
        self.sign: Sign = SIGNS[form]
        self.kind = "application/jose" if form == "jws as the body" else "application/json"
        self.spoil: Callable[[bytes, dict[str, str]], tuple[bytes, dict[str, str]]] | None = None
        self.upstream: Upstream | None = None

    async def __call__(self, reader: Any, writer: Any) -> None:
        assert self.upstream is not None
        raw, headers = self.sign(self.upstream)
        if self.spoil is not None:
            raw, headers = self.spoil(raw, headers)
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join(
            ("HTTP/1.1 200 OK", f"content-type: {self.kind}", f"content-length: {len(raw)}", *lines)
        )
        writer.write(head.encode() + b"\r\n\r\n" + raw)
        await writer.drain()


def folder(root: Path, form: str, origin: str) -> Path:
    fetch = {"http": {"method": "GET", "url": origin + "/runs/{/run_id}", "timeout_s": 5}}
    write_folder(root, FORMS[form], fetch=fetch)
    settings = {
        "sluicegate": 1,
        "audit": {"store": "sqlite:state/audit.db"},
        "access": [
            {
                "caller": "ci",
                "action": "call",
                "tool": "job_status",
                "resource": {"type": "project", "in": ["bluebird"]},
            }
        ],
    }
    (root / "sluicegate.yaml").write_text(json.dumps(settings))
    return root


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_SECRET", "whsec_" + signing.SECRET)


async def call(root: Path, times: int = 1) -> list[str | None]:
    """Open the folder as a process of its own would, and return the code of each call."""
    codes: list[str | None] = []
    async with open_gate(root, clock=FixedClock(signing.NOW)) as gate:
        for _ in range(times):
            told = await gate.call("job_status", ARGUMENTS, caller=CI)
            *_, last = gate.audit.events(request_id=told.request_id)
            codes.append(last.code)
    return codes


@pytest.mark.parametrize("form", SIGNS)
async def test_each_signed_answer_is_accepted(form: str, tmp_path: Path) -> None:
    provider = Provider(form)
    async with serve(provider) as provider.upstream:
        assert await call(folder(tmp_path, form, provider.upstream.origin), 3) == [None] * 3


@pytest.mark.parametrize("form", SIGNS)
async def test_a_recorded_answer_is_refused_also_by_a_gate_that_opens_later(
    form: str, tmp_path: Path
) -> None:
    provider = Provider(form)
    async with serve(provider) as provider.upstream:
        root = folder(tmp_path, form, provider.upstream.origin)
        recorded: list[tuple[bytes, dict[str, str]]] = []

        def record(raw: bytes, headers: dict[str, str]) -> tuple[bytes, dict[str, str]]:
            recorded.append((raw, headers))
            return recorded[0]

        provider.spoil = record
        # A signature over the request id does not even fit another request.
        again = "BAD_SIGNATURE" if form == "rfc9421" else "REPLAYED"
        assert await call(root, 2) == [None, again]
        assert await call(root) == [again]


@pytest.mark.parametrize("form", SIGNS)
async def test_what_a_hop_changes_is_refused(form: str, tmp_path: Path) -> None:
    provider = Provider(form)
    spoils: dict[str, Callable[[bytes, dict[str, str]], tuple[bytes, dict[str, str]]]] = {
        "pretty": lambda raw, headers: (raw.replace(b": ", b":  ", 1), headers),
        "tail": lambda raw, headers: (raw[:-3] + b"AAA", headers),
        "twice": lambda raw, headers: (
            raw,
            {**headers, **{name.upper(): value for name, value in headers.items()}},
        ),
    }
    async with serve(provider) as provider.upstream:
        root = folder(tmp_path, form, provider.upstream.origin)
        for name, spoil in spoils.items():
            if form == "jws as the body" and name != "tail":
                continue  # no blanks in it, and no headers beside it
            provider.spoil = spoil
            assert await call(root) == ["BAD_SIGNATURE"], name


async def test_a_digest_that_is_signed_asks_for_content_without_an_encoding(
    tmp_path: Path,
) -> None:
    provider = Provider("rfc9421")
    async with serve(provider) as provider.upstream:
        root = folder(tmp_path, "rfc9421", provider.upstream.origin)
        assert await call(root) == [None]
        assert provider.upstream.header("accept-encoding") == "identity"
        provider.sign = lambda up: (
            gzip.compress(BODY),
            {
                **signing.message(gzip.compress(BODY), request_id=up.header("x-request-id") or ""),
                "content-encoding": "gzip",
            },
        )
        assert await call(root) == ["BAD_SIGNATURE"]


async def test_a_webhook_is_signed_over_the_body_whatever_encoding_carries_it(
    tmp_path: Path,
) -> None:
    provider = Provider("standard_webhooks")
    provider.spoil = lambda raw, headers: (
        gzip.compress(raw),
        {**headers, "content-encoding": "gzip"},
    )
    async with serve(provider) as provider.upstream:
        root = folder(tmp_path, "standard_webhooks", provider.upstream.origin)
        assert await call(root) == [None]


async def test_no_secret_and_no_signature_text_stands_in_the_record(tmp_path: Path) -> None:
    provider = Provider("standard_webhooks")
    provider.spoil = lambda raw, headers: (raw[:-1] + b" ", headers)
    async with serve(provider) as provider.upstream:
        root = folder(tmp_path, "standard_webhooks", provider.upstream.origin)
        assert await call(root) == ["BAD_SIGNATURE"]
    for path in (root / "state").iterdir():
        assert signing.SECRET.encode() not in path.read_bytes(), path
