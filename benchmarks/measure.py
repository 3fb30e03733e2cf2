"""Measure one variant on one document in this process; print the timing as one line of JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from documents import read_document
from peers import PEERS
from timing import FULL, QUICK, compare


def main(variant: str, name: str, effort: str) -> None:
    document = read_document(name)
    _, build = PEERS[variant]
    try:
        work = build(document)
    except ImportError as error:
        print(json.dumps({"missing": error.name}))
        return
    raw = document.raw
    timing = compare(work, lambda: json.loads(raw), QUICK if effort == "quick" else FULL)
    print(json.dumps(asdict(timing)))


if __name__ == "__main__":
    main(*sys.argv[1:])
