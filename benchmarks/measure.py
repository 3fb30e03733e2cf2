"""Measure one variant on one document in this process; print the timing as one line of JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from documents import Document, read_document
from peers import PEERS
from timing import FULL, QUICK, Timer, compare, timer_of


def build(variant: str, document: Document) -> Timer | None:
    """Return the timer of a variant; None for a peer whose library is not installed."""
    if variant not in PEERS:
        from ladders import LADDERS

        return LADDERS[variant][1](document)
    try:
        return timer_of(PEERS[variant][1](document))
    except ModuleNotFoundError:
        return None


def main(variant: str, name: str, effort: str) -> None:
    document = read_document(name)
    raw = document.raw
    work = build(variant, document)
    if work is None:
        print("null")
        return
    baseline = timer_of(lambda: json.loads(raw))
    timing = compare(work, baseline, QUICK if effort == "quick" else FULL)
    print(json.dumps(asdict(timing)))


if __name__ == "__main__":
    main(*sys.argv[1:])
