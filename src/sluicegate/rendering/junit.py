"""For test dashboards: a report as JUnit XML, one test case a checked thing (SPEC LIF-5).

The shape is what Jenkins, GitLab and GitHub's reporters read: ``testsuites``, ``testsuite``,
``testcase``, ``failure``. An error fails its case; a warning or a remark is written beside it.
"""

from __future__ import annotations

from collections import defaultdict
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sluicegate.rendering.escaping import show_cells
from sluicegate.rendering.reports import Item, Report, tell_item, title_item


def render_junit(report: Report) -> str:
    """Return the XML document; it ends with a line feed.

    Items without a ``group`` among the report's cases are cases of their own.
    """
    cases = _cases(report)
    failures = sum(1 for items in cases.values() if any(item.severity == "error" for item in items))
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    root = Element("testsuites", {"name": "sluicegate", **counts})
    suite = SubElement(root, "testsuite", {"name": report.command, **counts})
    for name, items in cases.items():
        _add_case(suite, f"sluicegate.{report.command}", name, items)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _cases(report: Report) -> dict[str, list[Item]]:
    cases: dict[str, list[Item]] = defaultdict(list)
    for name in report.cases:
        cases[name] = []
    for item in report.items:
        cases[item.group or _name_of(item)].append(item)
    return cases


def _name_of(item: Item) -> str:
    return " ".join(part for part in (title_item(item), _place(item)) if part)


def _place(item: Item) -> str:
    return f"{item.file}#{item.pointer}" if item.pointer else item.file


def _add_case(suite: Element, classname: str, name: str, items: list[Item]) -> None:
    case = SubElement(suite, "testcase", {"classname": classname, "name": _legal(name)})
    file = next((item.file for item in items if item.file), "")
    if file:
        case.set("file", _legal(file))
    errors = [item for item in items if item.severity == "error"]
    rest = [item for item in items if item.severity != "error"]
    if errors:
        failure = SubElement(
            case, "failure", {"type": _legal(errors[0].rule), "message": _legal(errors[0].message)}
        )
        failure.text = _tell(errors)
    if rest:
        SubElement(case, "system-out").text = _tell(rest)


def _tell(items: list[Item]) -> str:
    return "\n".join(line for item in items for line in _lines(item))


def _lines(item: Item) -> list[str]:
    where = _place(item)
    if item.line is not None:
        where = f"{item.file}:{item.line}:{item.column or 1} {item.pointer}".rstrip()
    head = f"{where}: {item.severity} {title_item(item)}".removeprefix(": ")
    return [_legal(head), *(f"  {_legal(text)}" for text in tell_item(item))]


def _legal(text: str) -> str:
    """Return ``text`` as XML 1.0 can hold it: no control character, no lone surrogate."""
    return "\n".join(show_cells(line)[0] for line in text.split("\n"))
