"""How XML elements become fields, and how they stand where no schema says a type (auto-loader.md §1.5)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.json_texts import json_text
from lakeward.autoloader.readers.xml_records import Element, Item

__all__ = ["XmlRules", "as_plain", "as_rescued"]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,15})?")


@dataclass(frozen=True)
class XmlRules:
    """How elements become fields."""

    attribute_prefix: str = "_"
    value_tag: str = "_VALUE"
    exclude_attributes: bool = False
    null: str | None = None
    trim: bool = True
    case_sensitive: bool = True

    @classmethod
    def of(cls, options: Options) -> XmlRules:
        """As the options say."""
        return cls(
            str(options.text("attributePrefix")),
            str(options.text("valueTag")),
            options.flag("excludeAttribute"),
            options.given.get("nullvalue"),
            options.flag("ignoreSurroundingSpaces"),
            options.flag("readerCaseSensitive"),
        )

    def fields(self, element: Element) -> dict[str, list[Item]]:
        """Attributes, elements and texts by the name of their field, in the order in which they come."""
        found: dict[str, list[Item]] = {}
        if not self.exclude_attributes:
            for name, value in element.attributes.items():
                found.setdefault(self.attribute_prefix + name, []).append(value)
        for member in element.members:
            if isinstance(member, Element):
                found.setdefault(member.name, []).append(member)
            elif member.strip():
                found.setdefault(self.value_tag, []).append(member)
        return found

    def scalar(self, text: str) -> str | None:
        """A text as a value; None for the word that stands for null."""
        text = text.strip() if self.trim else text
        return None if text == self.null else text


def as_rescued(items: list[Item], rules: XmlRules) -> str:
    """As fields stand in the rescued column: leaves as text, others as their XML; several as an array."""
    texts = [_shown(item, rules) for item in items]
    return json_text(texts[0] if len(texts) == 1 else texts)


def _shown(item: Item, rules: XmlRules) -> str | None:
    if isinstance(item, str):
        return rules.scalar(item)
    if item.text is None or (item.attributes and not rules.exclude_attributes):
        return item.outer
    return rules.scalar(item.text)


def as_plain(element: Element, rules: XmlRules) -> Any:
    """The element as Python's values: records, lists for what comes several times, typed leaves."""
    if element.text is not None and (not element.attributes or rules.exclude_attributes):
        return _plain_text(element.text, rules)
    out = {}
    for name, items in rules.fields(element).items():
        values = [
            as_plain(item, rules) if isinstance(item, Element) else _plain_text(item, rules) for item in items
        ]
        out[name] = values[0] if len(values) == 1 else values
    return out


def _plain_text(text: str, rules: XmlRules) -> Any:
    shown = rules.scalar(text)
    if not shown:
        return None
    if shown in ("true", "false"):
        return shown == "true"
    # JSON's numbers are just those that keep their value.
    if _NUMBER.fullmatch(shown):
        return json.loads(shown)
    return shown
