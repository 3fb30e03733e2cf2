"""The four documents of the benchmark and the schemas they are valid under."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "documents"
NAMES = ("small", "medium", "medium_unicode", "large")
SIZES = {
    "small": "208 B",
    "medium": "4.8 KB",
    "medium_unicode": "5.1 KB, non-ASCII",
    "large": "1 MB",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """``envelope`` is the closed schema of ``raw``, ``data`` the one of its ``data`` member."""

    name: str
    raw: bytes
    envelope: dict[str, Any]

    @property
    def tool(self) -> str:
        tool: str = self.envelope["oneOf"][0]["properties"]["tool"]["const"]
        return tool

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = self.envelope["oneOf"][0]["properties"]["data"]
        return data


def read_document(name: str) -> Document:
    size = name.removesuffix("_unicode")
    return Document(
        name=name,
        raw=(FOLDER / f"doc_{name}.json").read_bytes(),
        envelope=json.loads((FOLDER / f"schema_{size}.json").read_bytes()),
    )
