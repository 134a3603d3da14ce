"""JUnit XML read as strictly as Jenkins' own schema has it, which pytest's xunit2 follows, too."""

from __future__ import annotations

from xml.etree import ElementTree

_WORDS = (set(), {"type", "message"})
# Of each element its required and its other attributes, and what may stand in it.
_ELEMENTS: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package"},
        {"properties", "testcase"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname", "time"}, {"skipped", "error", "failure", "system-out"}),
    **{tag: (*_WORDS, set()) for tag in ("skipped", "error", "failure")},
}


def read_strictly(document: str) -> ElementTree.Element:
    """The only suite of a document, whose every element is one that readers know."""
    root = ElementTree.fromstring(document.encode())
    for one in root.iter():
        required, other, within = _ELEMENTS[one.tag]
        assert required <= one.attrib.keys() <= required | other, (one.tag, one.attrib)
        assert {child.tag for child in one} <= within, one.tag
    (suite,) = root
    tags = [child.tag for case in suite.iter("testcase") for child in case]
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(count) == str(tags.count(tag))
    assert suite.get("tests") == str(len(suite.findall("testcase")))
    return suite
