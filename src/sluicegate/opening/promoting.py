"""A surviving mutant becomes a fixture, so that the hole stays closed once it is (SPEC LIF-2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from sluicegate.contracts.json_reading import read_json
from sluicegate.contracts.marks import Document
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.opening.collecting import FIXTURES, SIDECAR
from sluicegate.opening.testing_contracts import Hole, probe_folder
from sluicegate.stores.whole_files import replace_file
from sluicegate.values.names import say_near, show_name

_ABOUT_VERDICT: Final = frozenset({"stage", "code", "pointer", "verdict"})


def promote(folder: Path, tool: str, name: str, *, python: bool = True) -> tuple[Path, Path]:
    """Write the mutant ``name`` of ``tool`` beside its fixtures; return fixture and sidecar.

    The bytes go to ``rejected``, or to ``accepted`` where the mutant is wrongly refused; the
    sidecar says what the example's said, with what the mutant changed, and the stage.
    Raises: ContractFolderError where the folder does not load; ConfigurationError where no such
    mutant survives, none can be written down, or a file is there already.
    """
    probe = probe_folder(folder, python=python, tool=tool)
    if probe.contracts is None:
        raise ContractFolderError(probe.problems)
    if not probe.contracts:
        raise ConfigurationError(f"no contract serves a tool {show_name(tool)!r} in {folder}")
    (probed,) = probe.contracts
    holes = {hole.name: hole for side in probed.sides.values() for hole in side.holes}
    hole = holes.get(name)
    if hole is None:
        way_on = say_near(name, holes) or "; `sluicegate test` lists those that do"
        raise ConfigurationError(f"no mutant {show_name(name)!r} of {tool} survives{way_on}")
    if hole.judged.fate == "seen":
        raise ConfigurationError(
            f"{name} is accepted as it must be, and shows the agent what it must not see: "
            "no fixture says so; mend result.agent"
        )
    if hole.judged.fate == "early":
        raise ConfigurationError(
            f"{name} is refused by an earlier rung, so no fixture shows the hole: require the "
            "member, or say by `x-lint` that it may be absent"
        )
    return _write((folder / probed.source).parent, hole)


def _write(home: Path, hole: Hole) -> tuple[Path, Path]:
    mutant, side = hole.judged.mutant, hole.example.side
    kind = "accepted" if hole.judged.fate == "refused" else "rejected"
    target = home / FIXTURES / side / kind
    stem = hole.name.removeprefix(f"{side}.")
    is_json = isinstance(read_json("mutant", mutant.raw), Document)
    fixture = target / f"{stem}{'.json' if is_json else '.bin'}"
    sidecar = target / f"{stem}{SIDECAR}"
    needs = {name: each for name, each in hole.example.needs.items() if name not in _ABOUT_VERDICT}
    needs.update(mutant.needs)
    if kind == "rejected":
        needs["stage"] = str(mutant.stage)
    lines = [f"{name}: {json.dumps(each, ensure_ascii=False)}\n" for name, each in needs.items()]
    said = "".join(lines).encode() or b"{}\n"
    try:
        # A sidecar that says just this is what a promotion left that broke off.
        is_left = sidecar.exists() and sidecar.read_bytes() == said
        for path in (fixture,) if is_left else (fixture, sidecar):
            if path.exists():
                raise ConfigurationError(f"{path} is there already; nothing was written")
        target.mkdir(parents=True, exist_ok=True)
        # The sidecar first: a fixture alone passes for whatever reason it is refused.
        replace_file(sidecar, said)
        replace_file(fixture, mutant.raw)
    except OSError as error:
        raise ConfigurationError(f"{target} cannot be written: {error.strerror}") from error
    return fixture, sidecar
