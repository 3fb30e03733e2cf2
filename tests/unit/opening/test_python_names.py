"""A Python name that leads to nothing says which part of it does, and never what was raised."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.contracts.contract import PythonName
from sluicegate.errors import ConfigurationError
from sluicegate.opening.python_names import UnknownNameError, resolve

pytestmark = pytest.mark.requirement("CON-1", "AUD-5")

SECRET = "hunter2"
MODULE = f"""
class Argument:
    class Inner: pass
_hidden = "{SECRET}"
"""
MODULES = {
    "named_whole": MODULE,
    "named_needy": "import module_that_is_absent",
    "named_stale": f"from named_whole import absent_{SECRET}",
    "named_raising": f"raise RuntimeError('{SECRET}')",
    "named_leaving": f"raise SystemExit('{SECRET}')",
    "named_clumsy": f"import named_whole; named_whole.absent_{SECRET}",
}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put modules where they can be imported."""
    for name, text in MODULES.items():
        tmp_path.joinpath(f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("module", "attribute", "why", "mend"),
    [
        ("absent_one", "A", "there is no module `absent_one`.", "on PYTHONPATH."),
        ("absent_one.models", "A", "there is no module `absent_one`.", "on PYTHONPATH."),
        ("json.absent", "A", "there is no module `json.absent`.", "on PYTHONPATH."),
        (
            "named_needy",
            "A",
            "`named_needy` imports `module_that_is_absent`, which is not installed.",
            "Install it where sluicegate runs.",
        ),
        ("named_stale", "A", "`named_stale` raises ImportError as it is imported.", "works."),
        ("named_raising", "A", "`named_raising` raises RuntimeError as it is imported.", "works."),
        ("named_leaving", "A", "`named_leaving` raises SystemExit as it is imported.", "works."),
        ("named_clumsy", "A", "`named_clumsy` raises AttributeError as it is imported.", "works."),
        ("named_whole", "Arguments", "defines no `Arguments`.", "Did you mean `Argument`?"),
        ("named_whole", "Zzzz", "`named_whole` defines no `Zzzz`.", "Define it there,"),
        (
            "named_whole",
            "Argument.Iner",
            "`named_whole.Argument` defines no `Iner`.",
            "Did you mean `Inner`?",
        ),
    ],
)
def test_what_is_missing_is_named(module: str, attribute: str, why: str, mend: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(PythonName(module, attribute))
    assert isinstance(caught.value, ConfigurationError)
    assert caught.value.why.startswith(f"`{module}:{attribute}` cannot be imported: ")
    assert why in caught.value.why
    assert mend in caught.value.mend
    assert str(caught.value) == f"{caught.value.why} {caught.value.mend}"
    assert SECRET not in str(caught.value)


def test_a_name_that_is_there_is_found() -> None:
    assert getattr(resolve(PythonName("named_whole", "Argument.Inner")), "__name__", "") == "Inner"
