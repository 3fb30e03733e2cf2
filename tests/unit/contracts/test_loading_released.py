"""A release is read by its own terms: what the folder admits today is no matter of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.lifecycle.diff.test_policies import contract

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading_released import load_released
from sluicegate.contracts.settings import FolderLimits, Settings
from sluicegate.values.limits import Limits

pytestmark = pytest.mark.requirement("LIF-3")

LOWER = Settings(limits=FolderLimits(max_call_bytes=64, max_bytes=64, max_depth=2))


def read(content: str, settings: Settings = LOWER) -> Contract | tuple[Any, ...]:
    return load_released("job/contract.json", content.encode(), settings)


def test_limits_and_python_names_are_those_that_it_was_released_with() -> None:
    found = read(freeze(contract(("limits.max_call_bytes", 4096))))
    assert isinstance(found, Contract)
    assert found.call_limits == Limits(max_bytes=4096, max_depth=8)
    assert list(map(str, found.arguments.checks)) == ["acme.checks:one"]
    assert found.fingerprints == contract(("limits.max_call_bytes", 4096)).fingerprints


def test_what_it_does_not_say_is_as_the_folder_says() -> None:
    document = json.loads(freeze(contract()))
    del document["limits"]
    found = read(json.dumps(document))
    assert isinstance(found, Contract)
    assert found.limits == Limits(max_bytes=64, max_depth=2)


@pytest.mark.parametrize("content", ["{", json.dumps({"sluicegate": 1})])
def test_what_is_no_contract_is_a_problem_of_its_file(content: str) -> None:
    found = read(content)
    assert isinstance(found, tuple)
    assert {problem.document for problem in found} == {"job/contract.json"}
