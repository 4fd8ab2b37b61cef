"""XML elements → values of Spark's types, or what has to be rescued of them (auto-loader.md §1.5, §4.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.convert import Formats, parser_of
from lakeward.autoloader.readers.xml_records import Element, Item

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

__all__ = ["Taker", "XmlRules", "as_plain", "as_rescued"]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,15})?")
Outcome = tuple[Any, "str | None"]
Read = Callable[[Item], Outcome]


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
        """A text as a value; None for nothing, and for the word that stands for null."""
        text = text.strip() if self.trim else text
        return None if text == self.null else text


def as_rescued(items: list[Item], rules: XmlRules) -> str:
    """As fields stand in the rescued column: leaves as text, others as their XML; several as an array."""
    texts = [_shown(item, rules) for item in items]
    return json.dumps(texts[0] if len(texts) == 1 else texts, ensure_ascii=False)


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


def reader_of(dtype: DataType, formats: Formats, rules: XmlRules) -> Read:
    """An element or a text → (value, None), or (None or a partial value, JSON text of what did not fit)."""
    name = dtype.typeName()
    if name == "struct":
        return _struct(dtype, formats, rules)
    if name == "map":
        return _map(reader_of(dtype.valueType, formats, rules), rules)  # type: ignore[attr-defined]
    if name == "array":
        element = reader_of(dtype.elementType, formats, rules)  # type: ignore[attr-defined]
        return lambda item: _alone(element(item))
    if name == "string":
        return lambda item: (_text(item, rules), None)
    return _scalar(dtype, formats, rules)


def _alone(outcome: Outcome) -> Outcome:
    value, problem = outcome
    return (None if problem is not None else [value]), problem


def _text(item: Item, rules: XmlRules) -> str | None:
    """A leaf's text; an element with elements in it as its XML."""
    if isinstance(item, str):
        return rules.scalar(item)
    return item.inner.strip() if item.text is None else rules.scalar(item.text)


def _scalar(dtype: DataType, formats: Formats, rules: XmlRules) -> Read:
    parse: Callable[[str], Any] = parser_of(dtype, formats)
    if dtype.typeName() == "boolean":
        parse = {"true": True, "1": True, "false": False, "0": False}.get

    def read(item: Item) -> Outcome:
        text = item if isinstance(item, str) else item.text
        if text is None:
            return None, as_rescued([item], rules)
        shown = rules.scalar(text)
        if shown is None or not shown:
            return None, None
        value = parse(shown)
        return (value, None) if value is not None else (None, json.dumps(shown, ensure_ascii=False))

    return read


def _struct(dtype: Any, formats: Formats, rules: XmlRules) -> Read:
    take = Taker.of({f.name: f.dataType for f in dtype.fields}, formats, rules)

    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            item = Element("", {}, b"", 0, 0, [item])
        fields = rules.fields(item)
        if not fields:
            return None, None
        value, rest, _ = take(fields)
        if not rest:
            return value, None
        return value, "{" + ",".join(
            f"{json.dumps(k, ensure_ascii=False)}:{v}" for k, v in rest.items()
        ) + "}"

    return read


def _map(item_of: Read, rules: XmlRules) -> Read:
    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            return None, as_rescued([item], rules)
        outcomes = [(name, *item_of(items[-1])) for name, items in rules.fields(item).items()]
        if any(problem is not None for _, _, problem in outcomes):
            return None, as_rescued([item], rules)
        return [(name, value) for name, value, _ in outcomes], None

    return read


@dataclass(frozen=True)
class Taker:
    """Fields by name → values of the schema's columns, what is rescued, and which names are unknown."""

    types: Mapping[str, DataType]
    reads: Mapping[str, Read]
    rules: XmlRules
    spelled: Mapping[str, str]

    @classmethod
    def of(cls, types: Mapping[str, DataType], formats: Formats, rules: XmlRules) -> Taker:
        """For these columns."""
        items = {n: t.elementType if t.typeName() == "array" else t for n, t in types.items()}  # type: ignore[attr-defined]
        reads = {name: reader_of(dtype, formats, rules) for name, dtype in items.items()}
        return cls(types, reads, rules, {name.lower(): name for name in types})

    def __call__(
        self, fields: Mapping[str, list[Item]]
    ) -> tuple[dict[str, Any], dict[str, str], dict[str, list[Item]]]:
        """Of an element that comes several times where the column holds one, the last is taken."""
        value: dict[str, Any] = {}
        rest: dict[str, str] = {}
        unknown: dict[str, list[Item]] = {}
        for key, items in fields.items():
            name = key if key in self.types else self.spelled.get(key.lower())
            if name is None or (name != key and self.rules.case_sensitive):
                if name is None:
                    unknown[key] = items
                rest[key] = as_rescued(items, self.rules)
                continue
            read = self.reads[name]
            if self.types[name].typeName() == "array":
                outcomes = [read(item) for item in items]
                problems = any(problem is not None for _, problem in outcomes)
                value[name] = None if problems else [found for found, _ in outcomes]
                if problems:
                    rest[key] = as_rescued(items, self.rules)
                continue
            value[name], problem = read(items[-1])
            if len(items) > 1:
                problem = as_rescued(items, self.rules)
            if problem is not None:
                rest[key] = problem
        return value, rest, unknown
