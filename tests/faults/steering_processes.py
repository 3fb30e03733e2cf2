"""A child process that switches tools off in FOLDER, one act after another."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from sluicegate.opening.folder import open_folder_store
from sluicegate.opening.steering import disable


def main(folder: Path, tools: list[str]) -> None:
    store = open_folder_store(folder)
    for tool in tools:
        disable(folder, store, tool, who="op", reason="drift", now=datetime.now(UTC))
    asyncio.run(store.close())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
