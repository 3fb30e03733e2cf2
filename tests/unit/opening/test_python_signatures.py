"""A function that cannot take what its contract's schema admits keeps the folder from loading."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from sluicegate import Caller, ContractFolderError, open_blocking

pytestmark = pytest.mark.requirement("ADP-4", "CON-2")

PROPERTIES = {"run_id": {"type": "string", "maxLength": 9}, "deep": {"type": "boolean"}}
SCHEMA = {
    "type": "object",
    "properties": PROPERTIES,
    "required": ["run_id"],
    "additionalProperties": False,
}
COMPOSED = {**SCHEMA, "allOf": [{"required": ["deep"]}]}

TAKEN = {
    "an optional one has a default": ("run_id, deep=False", {}),
    "by keyword alone": ("*, run_id, deep=False", {}),
    "whatever comes": ("**arguments", {}),
    "what the gate adds": ("run_id, deep", {"on_absent": {"/deep": False}}),
    "what must come is said elsewhere": ("run_id, deep", {"schema": COMPOSED}),
    "one that can never come": (
        "run_id",
        {"schema": {**SCHEMA, "properties": {**PROPERTIES, "deep": False}}},
    ),
}
MISFITS = {
    "an optional one is needed": (
        "run_id, deep",
        "when only what is required is given, missing a required argument: 'deep'",
    ),
    "an optional one is not known": (
        "run_id",
        "when every argument is given, got an unexpected keyword argument 'deep'",
    ),
    "by position alone": ("run_id, /, deep=False", "when only what is required is given, "),
    "one that the schema has not": (
        "run_id, tenant, deep=False",
        "when only what is required is given, missing a required argument: 'tenant'",
    ),
}


def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, parameters: str, **arguments: object
) -> Path:
    module = tmp_path / "acme_signed.py"
    module.write_text(f"def job_status({parameters}):\n    {body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_signed", raising=False)
    importlib.invalidate_caches()
    home = tmp_path / "contracts" / "job_status"
    home.mkdir(parents=True)
    contract = {
        "sluicegate": 1,
        "tool": "job_status",
        "version": "1.0.0",
        "owner": "ci",
        "description": "State of one run.",
        "effect": "read",
        "arguments": {"schema": SCHEMA, **arguments},
        "fetch": {"python": {"function": "acme_signed:job_status", "timeout_s": 5}},
        "result": {"schema": SCHEMA, "agent": ["/run_id"]},
    }
    (home / "contract.yaml").write_text(json.dumps(contract))
    (home.parent / "sluicegate.yaml").write_text(
        'sluicegate: 1\npython: [acme_signed]\naudit: {store: "memory:"}\n'
        "access: [{caller: svc, action: call, tool: job_status}]\n"
    )
    return home.parent


@pytest.mark.parametrize("case", TAKEN)
def test_a_function_that_takes_all_of_them_is_called(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, arguments = TAKEN[case]
    contracts = folder(tmp_path, monkeypatch, 'return {"run_id": "r1"}', parameters, **arguments)
    given = '{"run_id": "r1", "deep": true}' if "schema" in arguments else '{"run_id": "r1"}'
    given = '{"run_id": "r1"}' if case == "one that can never come" else given
    with open_blocking(contracts) as gate:
        assert gate.call("job_status", given, caller=Caller(subject="svc")).outcome == "success"


@pytest.mark.parametrize("case", MISFITS)
def test_a_function_that_cannot_take_them_keeps_the_folder_from_loading(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, why = MISFITS[case]
    contracts = folder(tmp_path, monkeypatch, "return {}", parameters)
    with pytest.raises(ContractFolderError) as raised:
        open_blocking(contracts)
    (problem,) = raised.value.problems
    assert problem.pointer == "/fetch/python"
    assert "`acme_signed:job_status` does not take the arguments of the schema as keywords: " + (
        why
    ) in (problem.message)


@pytest.mark.parametrize(
    ("body", "parameters"),
    [("return {}", "run_id, deep, more"), ("raise ValueError(run_id)", "run_id, deep")],
    ids=["a composed schema that only a call shows", "a function that raises"],
)
def test_what_only_a_call_shows_is_unavailable(
    body: str, parameters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contracts = folder(tmp_path, monkeypatch, body, parameters, schema=COMPOSED)
    with open_blocking(contracts) as gate:
        text = '{"run_id": "r1", "deep": true}'
        given = gate.call("job_status", text, caller=Caller(subject="svc"))
    assert (given.outcome, given.code) == ("failure", "UPSTREAM_UNAVAILABLE")
