"""The child process of ``opening/deciding.py``: run by path; it takes the engine's options from
the package.

Reads from standard input one JSON array of {document, questions: [{kind, left, right}, …]}.
Writes one JSON line for each question, in order: the answer, or null for not known.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from jsonschema_rs import Registry, canonicalize
from jsonschema_rs.canonical import (
    Containment,
    Satisfiability,
    UnsatisfiableReason,
    find_unsatisfiable,
)

MEMORY_BYTES: Final = 512 * 1024 * 1024
CPU_S: Final = 2
"""For one question."""

# An isolated interpreter knows no PYTHONPATH, so the package may not be importable by itself.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from sluicegate.contracts.schemas.compiling import ENGINE_OPTIONS, compile_validator  # noqa: E402
from sluicegate.lifecycle.lint.sets import HERE  # noqa: E402
from sluicegate.opening.child_limits import limit_process, limit_processor_time  # noqa: E402

_OPTIONS: Final[Any] = {
    "validate_formats": True,
    "offline": True,
    "pattern_options": ENGINE_OPTIONS["pattern_options"],
}


def main() -> None:
    """Answer every question on standard input; what the engine refuses is not known."""
    jobs = json.loads(sys.stdin.buffer.read())
    limit_process(MEMORY_BYTES)
    for job in jobs:
        for question in job["questions"]:
            limit_processor_time(CPU_S)
            sys.stdout.write(json.dumps(answer_if_known(question, job["document"])) + "\n")
            sys.stdout.flush()


def answer_if_known(question: Any, document: Any) -> Any:
    """Answer one question; None where the engine takes the schema, or the value, amiss."""
    try:
        return answer(question, document)
    except (ValueError, TypeError):
        return None


def answer(question: Any, document: Any) -> Any:
    """Answer one question: true, false, pointers, or None."""
    kind, left, right = question["kind"], question["left"], question["right"]
    if kind == "empty-places":
        found = find_unsatisfiable(document, **_OPTIONS)
        literal = UnsatisfiableReason.Literal
        return [at for at, reason in found.items() if not isinstance(reason, literal)]
    registry = Registry([(HERE, document)])
    if kind == "fits":
        return compile_validator(left, registry=registry).is_valid(right)
    one = canonicalize(left, registry=registry, **_OPTIONS)
    if kind == "is-empty":
        return {Satisfiability.NO: True, Satisfiability.YES: False}.get(one.satisfiability())
    other = canonicalize(right, registry=registry, **_OPTIONS)
    if kind == "overlap":
        both = one.intersect(other).satisfiability()
        return {Satisfiability.YES: True, Satisfiability.NO: False}.get(both)
    return {Containment.YES: True, Containment.NO: False}.get(one.covers(other))


if __name__ == "__main__":
    main()
