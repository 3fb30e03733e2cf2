"""What the first gate makes: a keyring that holds no key is told from one that does not answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.opening.examining.beginnings import examine_beginnings
from sluicegate.stores.keys import KeyringEmpty


@pytest.mark.parametrize(
    ("error", "well"),
    [
        pytest.param(KeyringEmpty("in other words"), True, id="it holds no key yet"),
        pytest.param(ConfigurationError("the keyring holds no entry"), False, id="another fault"),
    ],
)
def test_a_keyring_is_well_where_the_first_gate_puts_the_key_into_it(
    error: ConfigurationError, well: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sluicegate.opening.examining.beginnings.open_keys", refuse)
    (look,) = examine_beginnings(AuditSettings(keys="keyring:acme"), tmp_path)
    assert (look.name, look.well) == ("keys", well)
