"""XML text to record elements, located by `rowTag` at any depth."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from lakeward.autoloader.options.option_values import Options

# A tag; attribute values may contain `>`.
_TAG = re.compile(rb"<(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>")
_PROLOG = re.compile(rb"\s*<\?xml[^>]*\?>")
_ROOT = b"<lakeward.root>"


@dataclass(slots=True)
class Element:
    """An element with its texts and child elements in order; `source[start:end]` is its text."""

    name: str
    attributes: dict[str, str]
    source: bytes
    start: int
    end: int = 0
    members: list[Item] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """Return the text of a leaf, None for an element with child elements."""
        if any(isinstance(member, Element) for member in self.members):
            return None
        return "".join(member for member in self.members if isinstance(member, str))

    @property
    def outer(self) -> str:
        """Return the element as written in the file."""
        return self.source[self.start : self.end].decode()

    @property
    def inner(self) -> str:
        """Return the content as Spark reads it into a string: without comments, its texts unescaped."""
        return "".join(member if isinstance(member, str) else member._tagged() for member in self.members)

    def _tagged(self) -> str:
        attributes = "".join(f' {name}="{value}"' for name, value in self.attributes.items())
        return f"<{self.name}{attributes}>{self.inner}</{self.name}>"


Item = str | Element


@dataclass(frozen=True)
class BrokenRecord:
    """A record that is not well-formed, verbatim."""

    text: bytes
    reason: str


@dataclass(frozen=True)
class XmlText:
    """Row tag, encoding and namespace handling of the XML files of a stream."""

    row_tag: str
    encoding: str
    ignore_namespace: bool

    @classmethod
    def of(cls, options: Options) -> XmlText:
        """Create the settings from the options."""
        return cls(
            str(options.text("rowTag")),
            options.encoding,
            options.flag("ignoreNamespace"),
        )

    def records(self, data: bytes) -> list[Element | BrokenRecord]:
        """Return the records of a file in order. Text outside of records is ignored, even if malformed."""
        text = data.removeprefix(codecs.BOM_UTF8)
        if self.encoding != "utf-8":
            text = text.decode(self.encoding, "replace").encode()
        prolog = _PROLOG.match(text)
        text = text[prolog.end() :] if prolog else text
        try:
            return list(_Parser(self).parse(text))
        except expat.ExpatError:
            return list(self._one_by_one(text))

    def _one_by_one(self, text: bytes) -> Iterator[Element | BrokenRecord]:
        """Parse each record separately if the file is not well-formed as a whole."""
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
                yield BrokenRecord(text[start.start() :], "the end tag is missing")
                return
            part = text[start.start() : end]
            try:
                yield from _Parser(self).parse(part)
            except expat.ExpatError as error:
                yield BrokenRecord(part, str(error))
            at = end


class _Parser:
    """Parses a text in one pass; namespace prefixes are part of names."""

    def __init__(self, how: XmlText) -> None:
        self._how = how
        self._open: list[Element] = []
        self._found: list[Element] = []
        self._text = b""

    def parse(self, text: bytes) -> list[Element]:
        """Return the outermost records; raise ExpatError."""
        self._parser: Any = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Spark accepts several roots, so wrap the text in one, unless a document type must come first.
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
        # Declarations of namespaces are attributes to Spark, too.
        own = {self._name(key): value for key, value in attributes.items()}
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
