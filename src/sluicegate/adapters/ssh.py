"""One fixed command on one pinned host (SPEC ADP-1, ADP-2, ADP-5, RES-1).

Host, user, command and key are constants of the contract; what the agent sent goes to the
command's stdin, and nowhere else. This module needs the extra ``ssh``; ``opening`` imports it
where a contract names ssh.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import asyncssh

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable, check_credential_name
from sluicegate.adapters.endpoints import tell_line
from sluicegate.adapters.provenance import PACKAGE_VERSION, Provenance
from sluicegate.adapters.ssh_exchange import Errand, SshExchange
from sluicegate.adapters.ssh_keys import ClientKeys, borrow_agent_keys, read_key, read_pins
from sluicegate.contracts.contract import SshFetch
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Dispatch
from sluicegate.values.names import show_name
from sluicegate.values.receipts import Fault, Receipt

_LOG: Final = logging.getLogger("sluicegate")

REQUEST_ID_VARIABLE: Final = "SLUICEGATE_REQUEST_ID"
"""Offered to the server, which takes it where its AcceptEnv says so (SPEC ENV-3)."""

AGENT_VARIABLE: Final = "SSH_AUTH_SOCK"


class SshAdapter:
    """Runs one command over ssh. Nothing that an argument holds chooses what is run, or where."""

    name: Final = "ssh"
    version: Final = f"{PACKAGE_VERSION} asyncssh/{asyncssh.__version__}"

    def __init__(
        self,
        fetch: SshFetch,
        credentials: Credentials,
        known_hosts: bytes,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Take ``known_hosts`` as the file's bytes: what was pinned at the start stays pinned.

        Raises: ConfigurationError for a credential name of no use, neither or both of credential
        and agent, and for a file that pins no key of the host.
        """
        if (fetch.credential is None) == (not fetch.agent):
            raise ConfigurationError("ssh takes a credential or `agent: true`, one of them")
        if fetch.credential is not None:
            check_credential_name(fetch.credential)
        self._fetch = fetch
        self._credentials = credentials
        self._environ = os.environ if environ is None else environ
        self._errand: Final = Errand(
            host=fetch.host,
            port=fetch.port,
            user=fetch.user,
            command=fetch.command,
            pins=read_pins(known_hosts, fetch.host, fetch.port),
        )
        self.endpoint: Final = f"{fetch.user}@{fetch.host}:{fetch.port} {tell_line(fetch.command)}"
        self._provenance: Final = Provenance(self.name, self.version, self.endpoint)

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Run the command once within ``dispatch.timeout_s``, from connect to the last byte."""
        exchange = SshExchange(self._provenance, dispatch.max_bytes)
        try:
            async with asyncio.timeout(dispatch.timeout_s), self._keys() as keys:
                receipt = await exchange.complete(
                    self._errand,
                    keys,
                    environment={REQUEST_ID_VARIABLE: dispatch.request_id},
                    feed=dispatch.arguments_text if self._fetch.stdin == "arguments" else None,
                )
        except TimeoutError:
            receipt = exchange.fail(Fault.TIMEOUT, "the deadline passed")
        except CredentialUnreadable as error:
            receipt = exchange.fail(Fault.CREDENTIAL, str(error))
        if receipt.fault is Fault.HOST_KEY:
            _LOG.error(
                "call %s: %s:%d shows no key that %s pins: another host may stand in its place",
                dispatch.request_id,
                show_name(self._fetch.host),
                self._fetch.port,
                show_name(self._fetch.known_hosts),
            )
        return self._credentials.without_secrets(receipt)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is open between two calls; a call in flight ends by its own deadline."""

    @asynccontextmanager
    async def _keys(self) -> AsyncIterator[ClientKeys]:
        if self._fetch.credential is None:
            async with borrow_agent_keys(self._environ.get(AGENT_VARIABLE, "")) as keys:
                yield keys
        else:
            name = self._fetch.credential
            text = await asyncio.to_thread(self._credentials.read, name, has_lines=True)
            yield (read_key(text, name),)
