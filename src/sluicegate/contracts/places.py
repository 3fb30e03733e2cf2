"""A place in a read document, and the questions a reader asks of it.

Every question either answers with a value of the wanted shape, or notes a Problem with line and
column and answers None. Readers so collect all problems of a document, not the first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sluicegate.contracts.keys import DISCREET, GUARDED_SECTIONS, KEYS, LATER
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.quoting import (
    NUMBER,
    PLAIN,
    WORD,
    describe,
    describe_kind,
    is_quotable,
    is_shown_whole,
    quote_text,
    show_member,
)
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue
from sluicegate.values.names import find_near
from sluicegate.values.pointers import Pointer, escape_segment

MAX_TEXT: Final = 4000
MAX_SEGMENTS: Final = 100
"""A pointer leads no deeper: what is compiled from it nests as deep."""

_PLAIN_NAME: Final = re.compile(r"[\w.@+-]{1,100}")
"""What a name under a discreet place looks like that is surely no address and no `name=value`."""


@dataclass(frozen=True, slots=True)
class Place:
    """One value of a document; ``problems`` is shared by all places of one loading.

    A ``discreet`` place holds an address, a header or the like, and so do all below it: people
    write secrets there, so that no problem repeats what stands there. Source: SPEC ADP-5, AUD-5.
    """

    document: Document
    value: JsonValue
    pointer: str = ""
    problems: list[Problem] = field(default_factory=list)
    is_item: bool = False
    discreet: bool = False

    def fault(
        self,
        message: str,
        mend: str,
        *,
        code: Code = Code.CONTRACT_INVALID,
        at_key: bool = False,
        below: str = "",
        discreet: bool = False,
        named: bool = True,
    ) -> None:
        """Note a Problem here, or at the pointer text ``below`` this place.

        A member name that may be an address is in no pointer, and none that is not ``named``: the
        Problem has the pointer of what holds it, with the line and column of the place itself.
        """
        problem = self.document.problem(
            self.pointer + below,
            message,
            mend,
            code=code,
            at_key=at_key,
            discreet=discreet or self.discreet,
        )
        fit = self._fit_pointer if named else self.pointer.rpartition("/")[0]
        if fit != self.pointer:
            problem = replace(problem, pointer=fit, discreet=True)
        self.problems.append(problem)

    @property
    def name(self) -> str:
        """The member name or index that this place stands under, fit to be shown."""
        return show_member(self._own_name) if self.pointer else "the document"

    @property
    def _own_name(self) -> str:
        return _unescape(self.pointer.rpartition("/")[2])

    @property
    def _fit_pointer(self) -> str:
        """As much of the pointer as its names are fit to be shown."""
        first, *segments = self.pointer.split("/")
        is_fit = _PLAIN_NAME.fullmatch if self.discreet else is_shown_whole
        return "/".join([first, *itertools.takewhile(is_fit, segments)])

    def child(self, segment: str | int, value: JsonValue) -> Place:
        """Return the place one level deeper."""
        pointer = f"{self.pointer}/{escape_segment(str(segment))}"
        is_item = isinstance(segment, int)
        return Place(self.document, value, pointer, self.problems, is_item, self.discreet)

    def follow(self, segment: str) -> Place:
        """Return the member ``segment`` of a mapping that is known to have it."""
        members = self.value if isinstance(self.value, Mapping) else {}
        return self.child(segment, members[segment])

    def step(self, segment: str) -> Place:
        """Return the place one segment deeper, which exists."""
        if isinstance(self.value, list):
            return self.child(segment, self.value[int(segment)])
        return self.follow(segment)

    def members(self, section: str, required: Collection[str] = ()) -> dict[str, Place] | None:
        """Return the members of a mapping whose keys ``KEYS[section]`` names.

        Notes unknown keys with a near name, keys that this release does not serve, and missing
        ones; the known members are returned all the same, so that they are read too.
        """
        # In place of such a mapping people write the address or the command itself.
        is_odd = section in GUARDED_SECTIONS and not isinstance(self.value, Mapping)
        entries = (replace(self, discreet=True) if is_odd else self).entries()
        if entries is None:
            return None
        known = KEYS[section]
        for key in DISCREET.get(section, frozenset()) & entries.keys():
            entries[key] = replace(entries[key], discreet=True)
        for key, place in entries.items():
            if key not in known:
                is_named = is_quotable(key, WORD)
                said = f"`{key}`" if is_named else "this"
                place.fault(
                    f"{said} is not a key of {section}.",
                    suggest(key, {name for name in known if (section, name) not in LATER}),
                    at_key=True,
                    named=is_named,
                )
            elif (section, key) in LATER:
                place.fault(
                    f"`{key}` is not served by this release.",
                    f"For now {LATER[section, key]}.",
                    at_key=True,
                )
        for key in sorted(set(required) - entries.keys()):
            self.fault(f"`{key}` is missing in {section}.", f"Add `{key}:`.", at_key=True)
        return {
            key: place
            for key, place in entries.items()
            if key in known and (section, key) not in LATER
        }

    def entries(self) -> dict[str, Place] | None:
        """Return every member of a mapping, whatever its keys."""
        if not isinstance(self.value, Mapping):
            self._expected("a mapping", form=None)
            return None
        return {key: self.child(key, value) for key, value in self.value.items()}

    def items(self) -> list[Place] | None:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            self._expected("a list", form=None)
            return None
        return [self.child(index, value) for index, value in enumerate(self.value)]

    def text(
        self, pattern: str = "", wanted: str = "text", max_chars: int = MAX_TEXT
    ) -> str | None:
        """Return a text that is not blank; with ``pattern`` it must match as a whole."""
        if not isinstance(self.value, str):
            spelt = str(self.value) if _is_number(self.value) else ""
            fits = spelt and (not pattern or re.fullmatch(pattern, spelt, re.ASCII))
            mend = "Put it into quotation marks." if fits else ""
            self._expected(wanted, mend)
            return None
        if not self.value.strip() or len(self.value) > max_chars:
            self._expected(f"{wanted} of 1 to {max_chars} characters")
            return None
        if pattern and re.fullmatch(pattern, self.value, re.ASCII) is None:
            self._expected(wanted)
            return None
        return self.value

    def discreet_text(self, pattern: str, wanted: str, mend: str) -> str | None:
        """As ``text``; what is at fault is never shown, for it might be a secret."""
        if isinstance(self.value, str) and re.fullmatch(pattern, self.value, re.ASCII):
            return self.value
        self.fault(f"{self._about()} must be {wanted}.", mend, discreet=True)
        return None

    def is_named(self, pattern: str) -> bool:
        """Whether ``pattern`` matches the whole member name that this place stands under."""
        return re.fullmatch(pattern, self._own_name, re.ASCII) is not None

    def one_of(self, names: Collection[str]) -> str | None:
        """Return a text that is one of ``names``."""
        if isinstance(self.value, str) and self.value in names:
            return self.value
        near = suggest(self.value, names) if isinstance(self.value, str) else ""
        self._expected("one of " + ", ".join(sorted(names)), near)
        return None

    def boolean(self) -> bool | None:
        """Return true or false."""
        if isinstance(self.value, bool):
            return self.value
        self._expected("true or false", form=WORD)
        return None

    def integer(self, low: int, high: int) -> int | None:
        """Return an integer between ``low`` and ``high``, both admitted."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        wanted = f"an integer from {low} to {high}" if low < high else f"the integer {low}"
        spelt = isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value, re.ASCII)
        mend = "Write it without quotation marks." if spelt else ""
        self._expected(wanted, mend, form=NUMBER)
        return None

    def number(self, low: float, high: float) -> float | None:
        """Return a number beyond ``low`` and up to ``high``."""
        value = self.value
        if isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high:
            return float(value)
        unit = " of seconds" if self.pointer.endswith("_s") else ""
        beyond = f" above {low:g}" if low == 0 else f", more than {low:,.10g}"
        wanted = f"a number{unit}{beyond} and up to {high:,.10g}"
        self._expected(wanted, form=NUMBER)
        return None

    def at(self) -> Pointer | None:
        """Return the pointer that the text here spells."""
        if not isinstance(self.value, str):
            self._expected("a JSON Pointer such as /project_id")
            return None
        if self.discreet and not self.value.startswith("/"):
            self._expected("a JSON Pointer such as /project_id")
            return None
        return self.pointer_of(self.value)

    def pointer_of(self, text: str, *, at_key: bool = False) -> Pointer | None:
        """Return ``text`` as a pointer; ``at_key`` where it is this place's member name."""
        try:
            pointer = Pointer.parse(text)
        except ValueError as error:
            is_shown = is_quotable(text)
            is_telling = is_shown or text.startswith("/")  # the error of another quotes it
            self.fault(
                f"{quote_text(text)} is not a JSON Pointer.",
                _sentence(error) if is_telling else "Write one such as /project_id.",
                at_key=at_key,
                discreet=not is_shown,
                named=is_shown or not at_key,
            )
            return None
        if len(pointer.segments) > MAX_SEGMENTS:
            self.fault(
                f"{quote_text(text)} has {len(pointer.segments)} segments.",
                f"Name a place at most {MAX_SEGMENTS} levels below the root.",
                at_key=at_key,
            )
            return None
        return pointer

    def texts(self, pattern: str = "", wanted: str = "text") -> tuple[str, ...]:
        """Return the texts of a list without those at fault; a repeated one is a fault."""
        return tuple(text for _, text in self._unique(pattern, wanted))

    def _unique(self, pattern: str, wanted: str) -> Iterator[tuple[Place, str]]:
        seen: set[str] = set()
        for item in self.items() or ():
            text = item.text(pattern, wanted)
            if text is None:
                continue
            if text in seen:
                said = "what is written here" if item.discreet else quote_text(text)
                item.fault(f"{said} stands here twice.", "Keep one of them.")
            seen.add(text)
            yield item, text

    def _expected(
        self, wanted: str, mend: str = "", *, form: re.Pattern[str] | None = PLAIN
    ) -> None:
        """Say what must stand here; a text that stands there is quoted in ``form`` alone."""
        is_shown = form is not None and not self.discreet and is_quotable(self.value, form)
        kind = describe_kind(self.value, "another text" if form is PLAIN else "a text")
        self.fault(
            f"{self._about()} must be {wanted}; here stands "
            f"{describe(self.value) if is_shown else kind}.",
            mend or f"Write {wanted}.",
            discreet=not is_quotable(self.value, form or PLAIN),
        )

    def _about(self) -> str:
        if not self.is_item and not (self.discreet and not _PLAIN_NAME.fullmatch(self._own_name)):
            return f"`{self.name}`"
        holder = Place(self.document, None, self.pointer.rpartition("/")[0])
        return f"{'an item' if self.is_item else 'a member'} of `{holder.name}`"


def suggest(name: str, known: Collection[str]) -> str:
    """Return the sentence that names the known key nearest to ``name``, or all of them."""
    near = find_near(name, known)
    if near is not None:
        return f"Did you mean `{near}`?"
    return f"Write one of {', '.join(sorted(known))}; or remove it." if known else "Remove it."


def _unescape(segment: str) -> str:
    return segment.replace("~1", "/").replace("~0", "~")


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float)


def _sentence(error: ValueError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + "."
