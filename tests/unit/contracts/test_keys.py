"""A discreet key is known by its pointer as by its section."""

from __future__ import annotations

import pytest

from sluicegate.contracts.keys import DISCREET, GUARDED, KEYS, is_discreet

PLACES = [
    (document, at, section)
    for document, sections in GUARDED.items()
    for at, section in sections.items()
]


@pytest.mark.requirement("ADP-5", "AUD-5")
def test_every_section_with_a_discreet_key_has_its_place() -> None:
    sections = [section for _, _, section in PLACES]
    assert len(sections) == len(set(sections))
    assert set(DISCREET) <= set(sections) <= set(KEYS)


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize(("document", "at", "section"), PLACES)
def test_a_pointer_is_as_discreet_as_its_key_and_what_stands_below_it_too(
    document: str, at: str, section: str
) -> None:
    found = {key for key in KEYS[section] if is_discreet(document, f"{at}/{key}")}
    below = {key for key in KEYS[section] if is_discreet(document, f"{at}/{key}/0")}
    assert found == DISCREET.get(section, frozenset())
    assert is_discreet(document, f"{at}/nobody-knows-it")
    assert found <= below
