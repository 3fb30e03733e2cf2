"""The page of keys names every key that the reader takes, in its section, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sluicegate import Caller, open_blocking
from sluicegate.contracts.keys import KEYS
from sluicegate.opening.sidecars import SIDECAR_KEYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "contract.md"


def test_the_page_of_keys_is_the_table_of_keys() -> None:
    told: dict[str, set[str]] = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| ") and "`" in line:
            section, names, *_ = [cell.strip() for cell in line.strip("|").split("|")]
            told.setdefault(section, set()).update(re.findall(r"`([^`]+)`", names))
    assert told == {section: set(names) for section, names in KEYS.items()}


def test_the_page_names_every_key_of_a_sidecar_and_no_other() -> None:
    fixtures = PAGE.read_text("utf-8").partition("## Fixtures")[2]
    told: set[str] = set()
    for line in fixtures.splitlines():
        if line.startswith("- `"):
            told.update(re.findall(r"`([^`]+)`", line.partition(":")[0]))
    assert told == set(SIDECAR_KEYS)


@pytest.mark.requirement("ADP-4")
def test_the_python_function_of_the_page_is_called_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = PAGE.read_text("utf-8").partition("## A Python function as upstream")[2]
    section = section.partition("\n## ")[0]
    (module,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (contract,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "acme_jobs.py").write_text(module)
    home = tmp_path / "contracts" / "job_status"
    home.mkdir(parents=True)
    (home / "contract.yaml").write_text(contract)
    (home.parent / "sluicegate.yaml").write_text(
        'sluicegate: 1\npython: [acme_jobs]\naudit: {store: "memory:"}\n'
        "access: [{caller: svc, action: call, tool: job_status}]\n"
    )
    with open_blocking(home.parent) as gate:
        given = gate.call("job_status", '{"run_id": "run_a1b2"}', caller=Caller(subject="svc"))
        assert given.data == {"run_id": "run_a1b2", "state": "failed"}
