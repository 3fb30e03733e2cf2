"""What an adapter hands over is admitted only whole and in the declared form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluicegate.checks.delivery import accept_delivery
from sluicegate.contracts.contract import TextRule, UpstreamPart
from sluicegate.values.codes import Code, Stage
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.rejections import Rejected

HTTP = Receipt(
    adapter="http",
    adapter_version="1",
    endpoint="https://ci.example/runs/{/run_id}",
    raw=b"{}",
    status=200,
    content_type="application/json",
)
COMMAND = Receipt(adapter="command", adapter_version="1", endpoint="ci", raw=b"{}", exit_code=0)
UPSTREAM = UpstreamPart(
    status={"404": "NOT_FOUND", "4xx": "REFUSED", "5xx": "DOWN"}, exit_code={3: "NOT_FOUND"}
)
BARE = UpstreamPart()


def verdict(receipt: Receipt, upstream: UpstreamPart = BARE) -> tuple[str, str, str | None]:
    outcome = accept_delivery(receipt, upstream)
    assert isinstance(outcome, Rejected)
    assert outcome.findings[0].code is outcome.code
    return str(outcome.stage), str(outcome.code), outcome.mapped_code


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    "receipt",
    [
        pytest.param(HTTP, id="http"),
        pytest.param(COMMAND, id="a command has no media type"),
        pytest.param(replace(HTTP, content_encoding="gzip"), id="undone by the adapter"),
        pytest.param(replace(HTTP, content_type="Application/JSON"), id="case of the media type"),
        pytest.param(
            replace(HTTP, content_type="application/json; charset=UTF-8"), id="charset utf-8"
        ),
        pytest.param(
            replace(HTTP, content_type='application/json;charset="utf-8"'), id="quoted charset"
        ),
    ],
)
def test_a_whole_answer_in_the_declared_form_is_admitted_as_it_is(receipt: Receipt) -> None:
    assert accept_delivery(receipt, BARE) is receipt.raw


@pytest.mark.requirement("RES-1", "CODES")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.UNREACHABLE, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.TIMEOUT, ("fetch", "UPSTREAM_TIMEOUT", None)),
        (Fault.SHORT, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.TOO_LARGE, ("bound", "TOO_LARGE", None)),
        (Fault.BAD_ENCODING, ("fetch", "BAD_ENCODING", None)),
        (Fault.TOO_MANY_HEADERS, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.RAISED, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.NOT_JSON, ("parse", "NOT_JSON", None)),
        (Fault.BAD_ARGUMENT, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.CREDENTIAL, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.DENIED, ("fetch", "UPSTREAM_DENIED", None)),
        (Fault.HOST_KEY, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
        (Fault.CERTIFICATE, ("fetch", "UPSTREAM_UNAVAILABLE", None)),
    ],
)
def test_every_fault_has_its_stage_and_code(fault: Fault, expected: tuple[str, str, None]) -> None:
    assert verdict(replace(HTTP, fault=fault)) == expected


def test_no_fault_is_forgotten() -> None:
    rejected = [accept_delivery(replace(HTTP, fault=fault), BARE) for fault in Fault]
    assert all(isinstance(outcome, Rejected) for outcome in rejected)


@pytest.mark.requirement("RES-1", "CODES")
@pytest.mark.parametrize(
    ("status", "upstream", "expected"),
    [
        pytest.param(404, UPSTREAM, ("UPSTREAM_STATUS", "NOT_FOUND"), id="404 beats 4xx"),
        pytest.param(410, UPSTREAM, ("UPSTREAM_STATUS", "REFUSED"), id="4xx"),
        pytest.param(503, UPSTREAM, ("UPSTREAM_STATUS", "DOWN"), id="5xx mapped"),
        pytest.param(401, UPSTREAM, ("UPSTREAM_STATUS", "REFUSED"), id="401 mapped"),
        pytest.param(404, BARE, ("UPSTREAM_STATUS", None), id="404 unmapped"),
        pytest.param(401, BARE, ("UPSTREAM_DENIED", None), id="401 unmapped"),
        pytest.param(403, BARE, ("UPSTREAM_DENIED", None), id="403 unmapped"),
        pytest.param(408, BARE, ("UPSTREAM_STATUS", None), id="408 unmapped"),
        pytest.param(429, BARE, ("UPSTREAM_STATUS", None), id="429 unmapped"),
        pytest.param(500, BARE, ("UPSTREAM_STATUS", None), id="500 unmapped"),
        pytest.param(302, BARE, ("UPSTREAM_STATUS", None), id="a redirect is no answer"),
        pytest.param(204, BARE, ("UPSTREAM_STATUS", None), id="success the contract lacks"),
    ],
)
def test_a_status_means_what_the_contract_says(
    status: int, upstream: UpstreamPart, expected: tuple[str, str | None]
) -> None:
    assert verdict(replace(HTTP, status=status), upstream) == ("fetch", *expected)


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    ("exit_code", "mapped"), [(1, None), (3, "NOT_FOUND"), (-9, None)], ids=str
)
def test_an_exit_code_that_is_no_success_is_refused(exit_code: int, mapped: str | None) -> None:
    assert verdict(replace(COMMAND, exit_code=exit_code), UPSTREAM) == (
        "fetch",
        "EXIT_STATUS",
        mapped,
    )


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/html",
        "application/problem+json",
        "application/jsonp",
        "application/json, text/html",
        "application/json; charset=latin-1",
        "application/json; charset=utf-8; charset=utf-16",
        "application/json; boundary=x",
    ],
    ids=str,
)
def test_another_media_type_is_refused(content_type: str | None) -> None:
    assert verdict(replace(HTTP, content_type=content_type)) == ("fetch", "CONTENT_TYPE", None)


NO_CONTENT = replace(HTTP, raw=b"", status=204, content_type=None)
PLAIN = UpstreamPart(
    text=TextRule(kind="plain"), content_type=("text/plain",), success_status=frozenset({204})
)


@pytest.mark.requirement("RES-1", "RES-10")
def test_no_content_is_an_empty_text_where_a_text_was_declared() -> None:
    assert accept_delivery(NO_CONTENT, PLAIN) == b""


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    ("receipt", "upstream"),
    [
        (NO_CONTENT, replace(PLAIN, text=None)),
        (NO_CONTENT, replace(PLAIN, text=TextRule(kind="json"))),
        (replace(NO_CONTENT, raw=b" "), PLAIN),
        (replace(NO_CONTENT, content_type="text/html"), PLAIN),
    ],
    ids=["data", "a JSON text", "a byte without a type", "another type"],
)
def test_nothing_else_goes_without_its_media_type(receipt: Receipt, upstream: UpstreamPart) -> None:
    assert verdict(receipt, upstream) == ("fetch", "CONTENT_TYPE", None)


@pytest.mark.requirement("RES-1")
def test_an_encoding_that_was_not_asked_for_is_refused() -> None:
    assert verdict(replace(HTTP, content_encoding="br")) == ("fetch", "BAD_ENCODING", None)


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    ("receipt", "expected"),
    [
        pytest.param(
            replace(HTTP, fault=Fault.TOO_LARGE, status=404),
            ("fetch", "UPSTREAM_STATUS", "NOT_FOUND"),
            id="a large error page is still a 404",
        ),
        pytest.param(
            replace(HTTP, fault=Fault.TOO_LARGE, content_type="text/html"),
            ("fetch", "CONTENT_TYPE", None),
            id="media type before size",
        ),
        pytest.param(
            replace(HTTP, fault=Fault.SHORT, status=404),
            ("fetch", "UPSTREAM_UNAVAILABLE", None),
            id="half an answer says nothing, its status included",
        ),
    ],
)
def test_fetch_is_judged_before_size(
    receipt: Receipt, expected: tuple[str, str, str | None]
) -> None:
    assert verdict(receipt, UPSTREAM) == expected


def test_the_refusal_tells_what_was_wanted_and_never_what_was_received() -> None:
    outcome = accept_delivery(replace(HTTP, content_type="text/evil"), BARE)
    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.FETCH
    assert outcome.findings[0].code is Code.CONTENT_TYPE
    assert outcome.findings[0].expected == "application/json"
    assert "evil" not in repr(outcome)
