"""``sluicegate call TOOL``: what an agent would see of one call."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path
from typing import Final

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    HUMAN,
    demand_folder,
    folder_option,
    format_option,
    note,
    put,
    put_object,
    tell_problems,
    warn_unsettled,
)

_MAX_BYTES: Final = 16_777_216


@click.command()
@click.argument("tool")
@click.option(
    "--arguments",
    default="{}",
    metavar="JSON|@FILE|-",
    help="The arguments as the model would write them.  [default: {}]",
)
@click.option("--caller", required=True, help="The account on whose behalf the call runs.")
@click.option("--tenant", help="The tenant of that account.")
@click.option("--session", help="The conversation that the call belongs to.")
@click.option("--call-id", help="The host's own id of the call.")
@click.option("--deadline-s", type=click.FloatRange(min=0, min_open=True), help="A shorter end.")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@folder_option
@format_option()
def call(
    *,
    tool: str,
    arguments: str,
    caller: str,
    tenant: str | None,
    session: str | None,
    call_id: str | None,
    deadline_s: float | None,
    no_python: bool,
    folder: str,
    form: str,
) -> int:
    """Call TOOL through the gate, for real, and print the envelope that the agent would get.

    The call is recorded as any other. Exit 0 on success, 1 on failure or refusal, 2 no gate opens
    with the settings or there is nothing to call, 4 the folder does not load, 5 there is no such
    folder.
    """
    from sluicegate.contracts.contract import HostFetch
    from sluicegate.errors import ContractFolderError
    from sluicegate.gates.answers import Answer
    from sluicegate.gates.envelopes import shape_envelope
    from sluicegate.opening.folder import open_gate
    from sluicegate.rendering.escaping import escape_json
    from sluicegate.values.callers import Caller
    from sluicegate.values.json import JsonValue

    if not caller.strip():
        raise click.BadParameter("an account has a name", param_hint="--caller")
    if deadline_s is not None and not math.isfinite(deadline_s):
        raise click.BadParameter("is a number of seconds", param_hint="--deadline-s")
    demand_folder(folder, "name it with --folder")
    text = _read(arguments)
    who = Caller(subject=caller, tenant=tenant, session=session)

    async def ask() -> Answer[JsonValue]:
        async with open_gate(Path(folder), python=not no_python) as gate:
            warn_unsettled(folder)
            contract = gate.contracts.contracts.get(tool)
            if contract is not None and isinstance(contract.fetch, HostFetch):
                raise click.UsageError(
                    f"the host fetches for {tool} itself (`fetch: {{host: {{}}}}`), so there is"
                    " nothing to call here; judge an answer with"
                    " `sluicegate judge --contract C.yaml ANSWER.json`"
                )
            if tool in gate.withdrawn:
                note(f"{tool} is not served: {gate.withdrawn[tool]}")
            return await gate.call(tool, text, caller=who, call_id=call_id, deadline_s=deadline_s)

    try:
        answer = asyncio.run(ask())
    except ContractFolderError as error:
        tell_problems(folder, error.problems)
        return Exit.DOES_NOT_LOAD
    if form != HUMAN:
        put_object("call", {"envelope": shape_envelope(answer.envelope)})
    elif sys.stdout.isatty():
        put(escape_json(shape_envelope(answer.envelope)) + "\n")
    else:
        put(answer.to_json() + "\n")
    if answer.display is not None:
        note(f"for people: {escape_json(answer.display)}")
    if answer.outcome != "success":
        if _is_on_record(folder, answer.request_id):
            named = "" if folder == DEFAULT_FOLDER else f" --folder {folder}"
            note(f"sluicegate why {answer.request_id}{named}")
        else:
            note(f"no record holds {answer.request_id}: the log says what kept it out")
        return Exit.REJECTED
    return Exit.ACCEPTED


def _is_on_record(folder: str, request_id: str) -> bool:
    """Whether ``why`` will know the call: what kept it from its record may still do so."""
    from sluicegate.errors import ConfigurationError
    from sluicegate.gates.ports import AuditUnavailable
    from sluicegate.opening.standing import open_standing_store

    try:
        store = open_standing_store(Path(folder))
        try:
            return any(True for _ in store.events(request_id=request_id))
        finally:
            asyncio.run(store.close())
    except (ConfigurationError, AuditUnavailable, OSError):
        return False


def _read(arguments: str) -> str | bytes:
    from sluicegate.cli.reading import read_input

    if arguments == "-":
        return read_input("-", _MAX_BYTES)
    if arguments.startswith("@"):
        return read_input(arguments[1:], _MAX_BYTES)
    return arguments
