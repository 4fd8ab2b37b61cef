"""XML text → the elements that are records, found by `rowTag` wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from lakeward.autoloader.options import Options

__all__ = ["Broken", "Element", "Item", "XmlText"]

# A tag as it stands; its attributes may hold a `>`.
_TAG = re.compile(rb"<(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>")
_PROLOG = re.compile(rb"\s*<\?xml[^>]*\?>")
_ROOT = b"<lakeward.root>"


@dataclass(slots=True)
class Element:
    """An element: its members are its texts and elements, in order; `source[start:end]` is all of it."""

    name: str
    attributes: dict[str, str]
    source: bytes
    start: int
    end: int = 0
    members: list[Item] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """What a leaf holds; None for an element with elements in it."""
        if any(isinstance(member, Element) for member in self.members):
            return None
        return "".join(member for member in self.members if isinstance(member, str))

    @property
    def outer(self) -> str:
        """The element as it stands in the file."""
        return self.source[self.start : self.end].decode()

    @property
    def inner(self) -> str:
        """What stands between its tags."""
        opening = _TAG.match(self.source, self.start)
        whole = self.source[self.start : self.end]
        if opening is None or whole.rstrip().endswith(b"/>"):
            return ""
        return self.source[opening.end() : self.start + whole.rindex(b"</")].decode()


Item = str | Element


@dataclass(frozen=True)
class Broken:
    """A record that is not well-formed, as it stands in the file."""

    text: bytes
    reason: str


@dataclass(frozen=True)
class XmlText:
    """How XML files of one stream are written."""

    row_tag: str
    encoding: str
    ignore_namespace: bool

    @classmethod
    def of(cls, options: Options) -> XmlText:
        """As the options say."""
        return cls(
            str(options.text("rowTag")),
            options.given.get("charset") or str(options.text("encoding")),
            options.flag("ignoreNamespace"),
        )

    def records(self, data: bytes) -> list[Element | Broken]:
        """The records of a file, in order. Text outside of records says nothing, were it broken."""
        text = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
        if self.encoding.upper().replace("-", "") != "UTF8":
            text = text.decode(self.encoding, "replace").encode()
        prolog = _PROLOG.match(text)
        text = text[prolog.end() :] if prolog else text
        try:
            return list(_Parser(self).parse(text))
        except expat.ExpatError:
            return list(self._one_by_one(text))

    def _one_by_one(self, text: bytes) -> Iterator[Element | Broken]:
        """A file that is not well-formed as a whole: every record by itself."""
        tag = re.escape(self.row_tag.encode())
        opening = re.compile(rb"<(?:[\w.-]+:)?" + tag + rb"(?=[\s/>])")
        closing = re.compile(rb"</(?:[\w.-]+:)?" + tag + rb"\s*>")
        at = 0
        while (start := opening.search(text, at)) is not None:
            tag_end = _TAG.match(text, start.start())
            closed = closing.search(text, start.end())
            if tag_end is not None and tag_end[0].endswith(b"/>"):
                end = tag_end.end()
            elif closed is not None:
                end = closed.end()
            else:
                yield Broken(text[start.start() :], "the record has no end")
                return
            part = text[start.start() : end]
            try:
                yield from _Parser(self).parse(part)
            except expat.ExpatError as error:
                yield Broken(part, str(error))
            at = end


class _Parser:
    """One pass over a text; namespaces are part of names as they are written."""

    def __init__(self, how: XmlText) -> None:
        self._how = how
        self._open: list[Element] = []
        self._found: list[Element] = []
        self._text = b""

    def parse(self, text: bytes) -> list[Element]:
        """The outermost records. Raises ExpatError."""
        self._parser: Any = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Several roots, or none: Spark looks for records alone. A document type has to come first.
        self._rooted = b"<!DOCTYPE" not in text[:2000]
        self._text = text
        if self._rooted:
            self._parser.Parse(_ROOT, False)
            self._parser.Parse(text, False)
            self._parser.Parse(_ROOT.replace(b"<", b"</"), True)
        else:
            self._parser.Parse(text, True)
        return self._found

    @property
    def _at(self) -> int:
        return int(self._parser.CurrentByteIndex) - (len(_ROOT) if self._rooted else 0)

    def _name(self, name: str) -> str:
        return name.rpartition(":")[2] if self._how.ignore_namespace else name

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = self._name(name)
        if not self._open and name != self._how.row_tag:
            return
        own = {
            self._name(key): value
            for key, value in attributes.items()
            if key != "xmlns" and not key.startswith("xmlns:")
        }
        element = Element(name, own, self._text, self._at)
        if self._open:
            self._open[-1].members.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        if not self._open:
            return
        element = self._open.pop()
        end = self._text.find(b">", self._at)
        if self._text[self._at : self._at + 2] != b"</":
            opening = _TAG.match(self._text, element.start)
            end = opening.end() - 1 if opening else end
        element.end = end + 1
        if not self._open:
            self._found.append(element)

    def _characters(self, text: str) -> None:
        if self._open:
            members = self._open[-1].members
            if members and isinstance(members[-1], str):
                members[-1] += text
            else:
                members.append(text)
