"""``fixtures/equivalents.yaml``: mutants that an author says are no other answer (SPEC LIF-2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.lifecycle.scoring import MAX_EQUIVALENTS, Equivalent
from sluicegate.opening.collecting import EQUIVALENTS, FIXTURES
from sluicegate.opening.situations import read_fixture
from sluicegate.values.names import show_name

_KEYS: Final = ("mutant", "pointer", "reason")


def read_equivalents(home: Path) -> tuple[Equivalent, ...]:
    """Return what a contract's folder declares; nothing where there is no such file.

    The file is a list of ``{mutant, pointer, reason}``, at most five, each with a reason.
    Raises: OSError where it cannot be read; ValueError naming what is wrong with it.
    """
    path = home / FIXTURES / EQUIVALENTS
    if not path.exists():
        return ()
    read = read_document(path.name, read_fixture(home, path))
    if not isinstance(read, Document):
        raise ValueError(str(read[0]))
    if not isinstance(read.value, list | tuple):
        raise ValueError(f"{path.name} must be a list of {{{', '.join(_KEYS)}}}")
    if len(read.value) > MAX_EQUIVALENTS:
        raise ValueError(
            f"{path.name} declares {len(read.value)} mutants; at most {MAX_EQUIVALENTS} may be "
            "equivalent: close the holes, or narrow the schema"
        )
    return tuple(_read_one(path.name, each) for each in read.value)


def _read_one(name: str, value: object) -> Equivalent:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: each entry must be {{{', '.join(_KEYS)}}}")
    for key in value:
        if key not in _KEYS:
            raise ValueError(f"{name}: {show_name(str(key))} is none of {', '.join(_KEYS)}")
    texts = {key: value.get(key) for key in _KEYS}
    for key, text in texts.items():
        if not isinstance(text, str) or (not text.strip() and key != "pointer"):
            raise ValueError(f"{name}: each entry needs `{key}`, a text")
    return Equivalent(
        mutant=str(texts["mutant"]), pointer=str(texts["pointer"]), reason=str(texts["reason"])
    )


def find_unproven(
    declared: Iterable[Equivalent], tried: Mapping[tuple[str, str], bool], *, cut: bool
) -> Iterator[str]:
    """Yield a sentence for each declaration that is not true.

    ``tried`` maps (mutant, pointer) to whether it was proven equivalent somewhere. Where a run was
    ``cut``, what it did not come to is neither true nor false.
    """
    for each in declared:
        proven = tried.get((each.mutant, each.pointer))
        if proven is False or (proven is None and not cut):
            yield (
                f"{show_name(each.mutant)} at {show_name(each.pointer) or '/'} is declared "
                "equivalent and is not: no such mutant survives with the very output of its example"
            )
