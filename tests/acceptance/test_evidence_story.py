"""``why`` of a call that rested on another leads on to that one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder

NOW = 'time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())'
DATED = {
    "      note: {type: string, maxLength: 64}\n": (
        "      note: {type: string, maxLength: 64}\n"
        "      at: {type: string, format: date-time, maxLength: 32}\n"
    ),
    "required: [run_id, state, note]": "required: [run_id, state, note, at]",
    "agent: [/run_id, /state]": (
        "agent: [/run_id, /state, /at]\n  fresh: {at: /at, max_age_s: 60, max_ahead_s: 5}"
    ),
}
PROOF = (
    "evidence: [{tool: job_status, bind: {/run_id: /run_id}, where: {/state: failed},"
    " max_age_s: 60, once: true}]"
)


def write_tools(proof: str) -> None:
    """Write a folder whose tool `restart` rests on `job_status`, into the current one."""
    write_folder(Path("contracts"))
    script = Path("contracts/upstream.py")
    script.write_text(script.read_text().replace('"note":', f'"at": {NOW}, "note":'))
    for tool, more in (("job_status", ""), ("restart", f"{proof}\n")):
        contract = Path("contracts", tool, "contract.yaml")
        text = contract.read_text().replace("effect: write\n", f"effect: write\n{more}")
        for old, new in DATED.items():
            assert old in text
            text = text.replace(old, new)
        contract.write_text(text)


@pytest.mark.requirement("CLI", "EVI-1")
def test_a_value_that_a_proof_can_never_find_is_told_at_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sluicegate: Here
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tools(PROOF.replace("/state: failed", "/state: fail"))
    told = sluicegate("check").out.splitlines()
    (index,) = [at for at, line in enumerate(told) if "where: {/state: fail}" in line]
    assert told[index + 1].index("^") == told[index].index("fail}")
    assert "  hint: Write one of failed, succeeded, other." in told


@pytest.mark.requirement("CLI", "EVI-1")
def test_the_evidence_of_a_call_is_told_by_its_own_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sluicegate: Here
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tools(PROOF)

    def call(tool: str) -> str:
        asked = ("--arguments", '{"run_id": "run_1", "state": "failed"}', "--caller", "svc")
        done = sluicegate("call", tool, *asked)
        assert done.code == 0, done.err
        envelope = json.loads(done.out)
        assert envelope["outcome"] == "success"
        return str(envelope["request_id"])

    call("job_status")  # an older one, that nobody rests on
    proof, acted = call("job_status"), call("restart")
    told = sluicegate("why", acted).out
    assert f", spent by it: sluicegate why {proof}" in told
    shaped = json.loads(sluicegate("why", acted, "--format", "json-v1").out)
    assert [(each["request_id"], each["tool"]) for each in shaped["evidence"]] == [
        (proof, "job_status")
    ]
    (resting,) = shaped["evidence"]
    assert resting["event_id"] in sluicegate("audit", "show", proof).out
    assert json.loads(sluicegate("why", proof, "--format", "json-v1").out)["evidence"] == []
