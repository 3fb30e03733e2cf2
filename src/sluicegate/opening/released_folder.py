"""What was released of one contract, as it lies below its folder: documents, digests, fixtures.

``released/VERSION.yaml`` is a frozen document, ``released/DIGESTS`` has the digest of every frozen
file, and ``released/VERSION/fixtures`` judges that version. Source: SPEC 2, LIF-3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import DIGESTS_NAME, is_version, judge_frozen, read_digests
from sluicegate.opening.documents import read_inside
from sluicegate.values.codes import Code

RELEASED: Final = "released"
DOCUMENT: Final = ".yaml"
ROLLOUT: Final = ".rollout.txt"
REPLAYED: Final = ".replayed.txt"
WAIVED: Final = ".waived.json"
"""What a release keeps beside its document: how a major is rolled out, what a replay showed of a
narrower result, and which changes were accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedFolder:
    """``released`` below ``home``, the folder of a contract in the contract folder ``root``."""

    root: Path
    home: Path

    @property
    def path(self) -> Path:
        """The folder itself; it need not be there."""
        return self.home / RELEASED

    def document_path(self, version: str) -> Path:
        """Return where the frozen document of ``version`` lies."""
        return self.path / f"{version}{DOCUMENT}"

    def document_name(self, version: str) -> str:
        """Return the name of the frozen document of ``version``, as problems bear it."""
        return self._name(self.document_path(version))

    def fixtures(self, version: str) -> Path:
        """Return the folder of what was frozen with ``version``; its ``fixtures`` lie in it."""
        return self.path / version

    def versions(self) -> list[str]:
        """Return the versions whose documents lie here, in the order of their names."""
        return sorted(path.stem for path in self._documents() if is_version(path.stem))

    def strays(self) -> list[Path]:
        """Return the documents that bear the name of no version: nothing reads them."""
        return sorted(path for path in self._documents() if not is_version(path.stem))

    def document(self, version: str) -> bytes | Problem:
        """Return the frozen document of ``version``, its digest checked.

        One that was changed after its release is a problem, and so is one that ``release`` did not
        write.
        """
        path = self.document_path(version)
        content = read_inside(self.root, path)
        recorded = self.digests()
        if isinstance(content, Problem) or recorded is None:
            return content
        if isinstance(recorded, Problem):
            return recorded
        fault = judge_frozen(path.name, content, recorded)
        if fault is None:
            return content
        return self.problem(
            path, fault, "Restore the file as it was released; a change is a new version."
        )

    def digests(self) -> dict[str, str] | Problem | None:
        """Return the digests that were recorded, by file name; None where nothing was released.

        Without them nothing shows that a document here is as it was released.
        """
        path = self.path / DIGESTS_NAME
        mend = "Restore the file as `sluicegate release` wrote it."
        if not path.exists() and not path.is_symlink():
            versions = self.versions()
            if not versions:
                return None
            beside = f"{versions[0]}{DOCUMENT}"
            return self.problem(
                path, f"It is gone: `sluicegate release` writes it beside {beside}.", mend
            )
        content = read_inside(self.root, path)
        if isinstance(content, Problem):
            return content
        try:
            return read_digests(content)
        except ValueError as error:
            return self.problem(path, f"It is damaged: {error}.", mend)

    def problem(self, path: Path, message: str, mend: str) -> Problem:
        """Return what is wrong with the file ``path`` here."""
        return Problem(
            code=Code.CONTRACT_INVALID, document=self._name(path), message=message, mend=mend
        )

    def _documents(self) -> list[Path]:
        return list(self.path.glob(f"*{DOCUMENT}"))

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()
