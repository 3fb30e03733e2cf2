"""The child process of ``opening/proving.py``: run by path; it takes the proof from the package.

Reads one JSON array of [old, new, assumed] from standard input and writes one line of JSON for each
pair that it finished. Whatever goes wrong ends the process before the line is written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

MEMORY_BYTES: Final = 1024 * 1024 * 1024
CPU_S: Final = 20

# An isolated interpreter knows no PYTHONPATH, so the package may not be importable by itself.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from sluicegate.lifecycle.diff.containment import prove  # noqa: E402
from sluicegate.opening.child_limits import limit_process, limit_processor_time  # noqa: E402
from sluicegate.values.pointers import Nothing  # noqa: E402


def main() -> None:
    """Prove every pair on standard input; exit 0 when all are through."""
    raw = sys.stdin.buffer.read()
    limit_process(MEMORY_BYTES)
    for old, new, assumed in json.loads(raw):
        limit_processor_time(CPU_S)
        proof = prove(old, new, assumed)
        found = {
            "new_covers_old": proof.new_covers_old,
            "old_covers_new": proof.old_covers_new,
            "witnesses": {
                name: value
                for name, value in (("lost", proof.lost), ("gained", proof.gained))
                if not isinstance(value, Nothing)
            },
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
