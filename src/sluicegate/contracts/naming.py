"""Python names in a contract: allow-listed prefixes, and the resolver that imports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.places import Place

_NAME: Final = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"


class NamelessError(Exception):
    """A Python name leads to nothing: ``why``, and how to ``mend`` it.

    Neither holds what an exception said: its text may hold what no report should.
    """

    def __init__(self, why: str, mend: str) -> None:
        self.why = why
        self.mend = mend
        super().__init__(f"{why} {mend}")


@dataclass(frozen=True, slots=True)
class PythonNames:
    """``prefixes`` are those of sluicegate.yaml; ``resolve`` None: no Python at all."""

    prefixes: Sequence[str]
    resolve: Callable[[PythonName], object] | None

    def read(self, place: Place) -> PythonName | None:
        """Return the name at ``place`` where the settings admit its module."""
        text = place.text(_NAME, "a Python name such as acme.checks:run_belongs_to_project")
        if text is None:
            return None
        module, _, attribute = text.partition(":")
        if not any(_is_under(module, prefix) for prefix in self.prefixes):
            place.fault(
                f"the module `{module}` is under none of the allowed prefixes.",
                "Add its prefix to `python:` in sluicegate.yaml, or name another function.",
            )
            return None
        if self.resolve is None:
            place.fault(
                f"`{text}` is Python, which --no-python forbids.",
                "Open the folder with Python allowed, or write this without Python.",
            )
            return None
        return PythonName(module, attribute)

    def read_function(self, place: Place) -> PythonName | None:
        """Return the name of something that can be called."""
        name = self.read(place)
        if name is None:
            return None
        found = self.find(place, name)
        if found is None:
            return None
        if not callable(found[0]):
            place.fault(f"`{name}` cannot be called.", "Name a function.")
            return None
        return name

    def find(self, place: Place, name: PythonName) -> tuple[object] | None:
        """Return what ``name`` stands for (in a tuple of one), or note why it cannot be had."""
        if self.resolve is None:
            return None
        try:
            return (self.resolve(name),)
        except NamelessError as error:
            place.fault(error.why, error.mend)
            return None
        except Exception as error:  # noqa: BLE001  (whatever an import raises, nothing is served)
            place.fault(
                f"`{name}` cannot be imported ({type(error).__name__}).",
                "See that the module is installed, imports alone, and defines that name.",
            )
            return None


def _is_under(module: str, prefix: str) -> bool:
    if prefix.endswith("."):
        return module.startswith(prefix)
    return module == prefix or module.startswith(prefix + ".")
