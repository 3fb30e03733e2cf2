"""Evidence is minted in its own module alone: what the type checker cannot see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sluicegate

SOURCE = Path(sluicegate.__file__ or "src/sluicegate/__init__.py").parent
EVIDENCE = {
    "Delivered": "delivery",
    "BoundedArguments": "bounds",
    "BoundedAnswer": "bounds",
    "Authentic": "authentication",
    "ParsedArguments": "parsing",
    "ParsedAnswer": "parsing",
    "Unwrapped": "unwrapping",
    "Narrowed": "narrowing",
    "ConformingArguments": "conformance",
    "ConformingData": "conformance",
    "Sound": "soundness",
    "Vouched": "meaning",
    "Selected": "selection",
}
MODULES = sorted((SOURCE / "checks").rglob("*.py")) + sorted((SOURCE / "gates").rglob("*.py"))


def names_in(annotation: ast.expr | None) -> set[str]:
    """Return the names in an annotation, also in one that is written as text."""
    if annotation is None:
        return set()
    found = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= names_in(ast.parse(node.value, mode="eval").body)
    return found


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def mints(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield (evidence, line) wherever a value could be given an evidence type.

    That is a variable that bears the type and a value, a call of the type, a cast to it, and a
    signature among several that one function bears.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            for name in names_in(node.annotation) & EVIDENCE.keys():
                yield name, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if "overload" in map(name_of, node.decorator_list):
                for name in names_in(node.returns) & EVIDENCE.keys():
                    yield name, node.lineno
        elif isinstance(node, ast.Call):
            called = name_of(node.func)
            if called in EVIDENCE:
                yield called, node.lineno
            elif called == "cast" and node.args:
                for name in names_in(node.args[0]) & EVIDENCE.keys():
                    yield name, node.lineno


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_mints_the_evidence_of_another(path: Path) -> None:
    here = path.stem if path.parent.name == "checks" else None
    strays = [
        f"{path.name}:{line} mints {name}"
        for name, line in mints(parse(path))
        if EVIDENCE[name] != here
    ]
    assert strays == []


@pytest.mark.parametrize(("name", "module"), EVIDENCE.items(), ids=EVIDENCE)
def test_each_evidence_is_an_independent_new_type_of_its_module(name: str, module: str) -> None:
    tree = parse(SOURCE / "checks" / f"{module}.py")
    bases = [
        node.value.args[1]
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) == "NewType"
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == [name]
    ]
    (base,) = bases
    # A chained NewType would admit a later rung's evidence where an earlier one is wanted.
    assert not names_in(base) & EVIDENCE.keys()
    assert not isinstance(base, ast.Name) or base.id in {"object", "bytes"}
    assert name in {minted for minted, _ in mints(tree)}


def test_every_new_type_of_the_checks_is_listed_here() -> None:
    declared = {
        target.id
        for path in MODULES
        if path.parent.name == "checks"
        for node in parse(path).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) == "NewType"
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert declared == set(EVIDENCE)


@pytest.mark.parametrize(
    "text",
    [
        "vouched: Vouched = minted",
        "def f(x):\n    vouched: Vouched | Rejected = minted",
        "Vouched(x)",
        "meaning.Vouched(x)",
        "cast(Vouched, x)",
        "typing.cast('Vouched', x)",
        "vouched: 'Vouched' = x",
        "vouched: meaning.Vouched = x",
        "@overload\ndef f(x: int) -> Vouched | Rejected: ...",
        "@typing.overload\ndef f(x: int) -> 'Vouched': ...",
    ],
)
def test_sees_the_ways_of_minting(text: str) -> None:
    assert [name for name, _ in mints(ast.parse(text))] == ["Vouched"]


@pytest.mark.parametrize(
    "text", ["def f(x: Vouched) -> Vouched: return x", "x: Vouched", "isinstance(x, Rejected)"]
)
def test_does_not_take_a_use_for_minting(text: str) -> None:
    assert list(mints(ast.parse(text))) == []
