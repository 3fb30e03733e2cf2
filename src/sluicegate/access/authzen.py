"""An AuthZEN service as the decision point: Authorization API 1.0 over HTTP (SPEC ACC-1, ACC-2).

Only a plain JSON ``true`` allows, and only without obligations. Each question has a connection of
its own, as the http adapter's calls have: no late answer of one question can reach the next.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx2

from sluicegate.access.authzen_answers import NoAnswer, read_answer
from sluicegate.access.authzen_exchange import load_transport, post, trust
from sluicegate.access.decision_ids import new_decision_id
from sluicegate.gates.authorizing import DECISION_TIMEOUT_S
from sluicegate.gates.ports import AccessQuery, Decision, Resource
from sluicegate.gates.readings import SharedReading

_ANSWER_S: Final = DECISION_TIMEOUT_S - 0.01
"""A little less than the gate waits, so that the refusal bears the id of the question."""

EVALUATION_PATH: Final = "/access/v1/evaluation"
"""Where a service answers that is named by its origin alone."""

SUBJECT_TYPE: Final = "caller"
TOOL_TYPE: Final = "tool"
"""The resource of a call that names none is its tool."""

# At DEBUG the transport logs every header that it sends, the credential among them (AUD-5).
logging.getLogger("httpcore2").setLevel(logging.INFO)


class AuthzenAuthorizer:
    """Asks the service at ``url``; the decision's id is the ``X-Request-ID`` that it was sent."""

    def __init__(
        self,
        url: str,
        *,
        read_credential: Callable[[], str] | None = None,
        ca_file: str | None = None,
        new_id: Callable[[], str] = new_decision_id,
    ) -> None:
        """``read_credential`` returns the bearer token, anew at each question.

        ``url`` is an origin, or the whole address of the evaluation endpoint, without query.
        Raises: ConfigurationError where ``ca_file`` cannot be used.
        """
        parts = urlsplit(url)
        path = parts.path if parts.path not in ("", "/") else EVALUATION_PATH
        self.url: Final = f"{parts.scheme}://{parts.netloc}{path}"
        self._credential: Final = (
            None
            if read_credential is None
            else SharedReading("credential of the decision service", read_credential)
        )
        self._tls: Final = trust(parts.scheme, ca_file)
        self._new_id = new_id
        load_transport()

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the service's decision; every fault of its answer is the decision's error.

        Raises what reading the credential raises, and UnicodeEncodeError where a name of the
        query is no text that could be sent.
        """
        decision_id = self._new_id()
        content = _shape(query)
        try:
            async with asyncio.timeout(_ANSWER_S):
                headers = await self._headers(decision_id)
                answered = await post(self.url, headers, content, self._tls)
                allow, obligations = read_answer(answered)
        except TimeoutError:
            return self._fail(decision_id, f"no answer within {_ANSWER_S:g} s")
        except NoAnswer as error:
            return self._fail(decision_id, str(error))
        except httpx2.TransportError as error:  # its text may quote what the service sent
            return self._fail(decision_id, f"the exchange failed: {type(error).__name__}")
        return Decision(
            allow=allow,
            decision_id=decision_id,
            reason="the service allows" if allow else "the service denies",
            policy_version=self.url,
            obligations=obligations,
        )

    async def _headers(self, decision_id: str) -> Mapping[str, str]:
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "connection": "close",
            "content-type": "application/json",
            "x-request-id": decision_id,
        }
        if self._credential is not None:
            secret = await self._credential.read()
            if not (secret.isascii() and secret.isprintable()):
                raise NoAnswer("the credential holds what no header can carry")
            headers["authorization"] = f"Bearer {secret}"
        return headers

    def _fail(self, decision_id: str, error: str) -> Decision:
        return Decision(
            allow=False, decision_id=decision_id, policy_version=self.url, errors=(error,)
        )


def _shape(query: AccessQuery) -> bytes:
    resource = query.resource or Resource(type=TOOL_TYPE, id=query.tool)
    subject: dict[str, object] = {"type": SUBJECT_TYPE, "id": query.subject.subject}
    if query.subject.tenant is not None:
        subject["properties"] = {"tenant": query.subject.tenant}
    asked = {
        "subject": subject,
        "action": {"name": query.action},
        "resource": {"type": resource.type, "id": resource.id},
        "context": dict(query.context),
    }
    # Not escaped: half a surrogate pair is no text, and must not arrive as another name.
    return json.dumps(asked, ensure_ascii=False, allow_nan=False).encode("utf-8")
