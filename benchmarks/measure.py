"""Measure one variant on one document in this process; print the timing as one line of JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from documents import Document, read_document
from peers import PEERS
from timing import FULL, QUICK, Timer, compare, timer_of


def build(variant: str, document: Document) -> Timer:
    if variant in PEERS:
        return timer_of(PEERS[variant][1](document))
    from ladders import LADDERS

    return LADDERS[variant][1](document)


def main(variant: str, name: str, effort: str) -> None:
    document = read_document(name)
    raw = document.raw
    try:
        work = build(variant, document)
    except ModuleNotFoundError as error:
        print(json.dumps({"missing": error.name}))
        return
    baseline = timer_of(lambda: json.loads(raw))
    timing = compare(work, baseline, QUICK if effort == "quick" else FULL)
    print(json.dumps(asdict(timing)))


if __name__ == "__main__":
    main(*sys.argv[1:])
