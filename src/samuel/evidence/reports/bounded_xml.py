"""Reading XML that a project wrote: within limits of size and depth, and without entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

MAX_BYTES = 64 << 20
MAX_DEPTH = 64
_BLOCK = 64 << 10
_SPACE = re.compile(rb"\s*")
_ROOT = re.compile(rb"<[A-Za-z_:]")

Element = ElementTree.Element


class UnreadableXml(ValueError):
    """The content is not XML, or is XML that no test runner writes."""


def elements(content: bytes, names: frozenset[str]) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    """Each element with one of these names (without its namespace), and the elements around it, outermost first.

    An element is complete when it comes, and is emptied afterwards: a large report takes little more memory than
    one of its tests. The elements around it have their attributes. Raises UnreadableXml, perhaps after some came.

    A document type is refused: its entities could grow without end, and no runner writes one. So is UTF-16, in
    which it would not be noticed.
    """
    if not content or len(content) > MAX_BYTES or b"\0" in content or not _has_plain_prolog(content):
        raise UnreadableXml("not the XML of a test report")
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    around: list[Element] = []
    inside = 0  # how many of the elements around have one of the names
    try:
        for start in range(0, len(content), _BLOCK):
            parser.feed(content[start : start + _BLOCK])
            for event, element in _events(parser):
                is_wanted = element.tag.rpartition("}")[2] in names
                if event == "start":
                    around.append(element)
                    inside += is_wanted
                    if len(around) > MAX_DEPTH:
                        raise UnreadableXml("nested too deeply")
                    continue
                around.pop()
                inside -= is_wanted
                if is_wanted:
                    yield element, tuple(around)
                if not inside:
                    element.clear()
        parser.close()
    except (ElementTree.ParseError, LookupError) as error:
        raise UnreadableXml(str(error)) from None


def _events(parser: ElementTree.XMLPullParser[Element]) -> Iterator[tuple[str, Element]]:
    for event in parser.read_events():
        if len(event) == 2 and isinstance(event[1], ElementTree.Element):
            yield event[0], event[1]


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _has_plain_prolog(content: bytes) -> bool:
    """Whether only comments and instructions come before the root: a document type is allowed nowhere else."""
    position = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    while True:
        position = _SPACE.match(content, position).end()  # type: ignore[union-attr]  # it matches nothing as well
        if content.startswith(b"<?", position):
            end = content.find(b"?>", position) + 2
        elif content.startswith(b"<!--", position):
            end = content.find(b"-->", position + 4) + 3
        else:
            return _ROOT.match(content, position) is not None
        if end <= position + 2:
            return False
        position = end
