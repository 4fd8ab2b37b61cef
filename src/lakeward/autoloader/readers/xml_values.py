"""XML elements to values of Spark types, or to the text that is rescued (AL-1.5, AL-4.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import value_parser
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.batch_builder import join_json_object, to_json
from lakeward.autoloader.readers.xml_records import Element, Item

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,15})?")


@dataclass(frozen=True)
class XmlRules:
    """How elements map to fields."""

    attribute_prefix: str = "_"
    value_tag: str = "_VALUE"
    exclude_attributes: bool = False
    null: str | None = None
    trim: bool = True
    case_sensitive: bool = True
    wildcard: str = "xs_any"

    @classmethod
    def of(cls, options: Options) -> XmlRules:
        """Create the rules from the options."""
        return cls(
            str(options.text("attributePrefix")),
            str(options.text("valueTag")),
            options.flag("excludeAttribute"),
            options.raw.get("nullvalue"),
            options.flag("ignoreSurroundingSpaces"),
            options.flag("readerCaseSensitive"),
            str(options.text("wildcardColName")),
        )

    def fields(self, element: Element) -> dict[str, list[Item]]:
        """Return attributes, elements and texts by field name in document order."""
        fields: dict[str, list[Item]] = {}
        if not self.exclude_attributes:
            for name, value in element.attributes.items():
                fields.setdefault(self.attribute_prefix + name, []).append(value)
        for member in element.members:
            if isinstance(member, Element):
                fields.setdefault(member.name, []).append(member)
            elif member.strip():
                fields.setdefault(self.value_tag, []).append(member)
        return fields

    def scalar(self, text: str) -> str | None:
        """Return a text as a value, None for `nullValue`."""
        text = text.strip() if self.trim else text
        return None if text == self.null else text


def rescued_xml_value(items: list[Item], rules: XmlRules) -> str:
    """Return field values for the rescued column: leaves as text, others as XML, several as an array."""
    texts = [_rescued_text(item, rules) for item in items]
    return to_json(texts[0] if len(texts) == 1 else texts)


def _rescued_text(item: Item, rules: XmlRules) -> str | None:
    if isinstance(item, str):
        return rules.scalar(item)
    if item.text is None or (item.attributes and not rules.exclude_attributes):
        return item.outer
    return rules.scalar(item.text)


def to_plain_values(element: Element, rules: XmlRules) -> Any:
    """Return an element as Python values: dictionaries, lists for repeated elements, typed leaves."""
    if element.text is not None and (not element.attributes or rules.exclude_attributes):
        return _typed_leaf(element.text, rules)
    out = {}
    for name, items in rules.fields(element).items():
        values = [
            to_plain_values(item, rules) if isinstance(item, Element) else _typed_leaf(item, rules)
            for item in items
        ]
        out[name] = values[0] if len(values) == 1 else values
    return out


def _typed_leaf(text: str, rules: XmlRules) -> Any:
    shown = rules.scalar(text)
    if not shown:
        return None
    if shown in ("true", "false"):
        return shown == "true"
    # JSON numbers round-trip; other spellings stay strings.
    if _NUMBER.fullmatch(shown):
        return json.loads(shown)
    return shown


class Outcome(NamedTuple):
    """A value, the JSON text of what does not fit, and whether a text had another type."""

    value: Any
    rest: str | None = None
    misfit: bool = False


Read = Callable[[Item], Outcome]


def xml_value_reader(dtype: DataType, formats: TextFormats, rules: XmlRules) -> Read:
    """Return a function from an element or text to its outcome for the type."""
    name = dtype.typeName()
    if name == "struct":
        return _struct(dtype, formats, rules)
    if name == "map":
        return _map(xml_value_reader(dtype.valueType, formats, rules), rules)  # type: ignore[attr-defined]
    if name == "array":
        element = xml_value_reader(dtype.elementType, formats, rules)  # type: ignore[attr-defined]
        return lambda item: _array_outcome([element(item)], [item], rules)
    return _leaf(_text if name == "string" else _typed(dtype, formats), rules)


def _array_outcome(outcomes: list[Outcome], items: list[Item], rules: XmlRules) -> Outcome:
    """Combine elements into an array; all of it is rescued if one element does not fit."""
    misfit = any(outcome.misfit for outcome in outcomes)
    left = misfit or any(outcome.rest is not None for outcome in outcomes)
    value = None if misfit else [outcome.value for outcome in outcomes]
    return Outcome(value, rescued_xml_value(items, rules) if left else None, misfit)


def _leaf(parse: Callable[[str | None, Item, XmlRules], tuple[Any, bool]], rules: XmlRules) -> Read:
    """Return a reader of single values; an element with attributes is rescued as a whole."""

    def read(item: Item) -> Outcome:
        text = item if isinstance(item, str) else item.text
        value, misfit = parse(None if text is None else rules.scalar(text), item, rules)
        attributed = isinstance(item, Element) and item.attributes and not rules.exclude_attributes
        return Outcome(value, rescued_xml_value([item], rules) if misfit or attributed else None, misfit)

    return read


def _text(text: str | None, item: Item, _: XmlRules) -> tuple[Any, bool]:
    """Return the text of a leaf, or the XML of an element with child elements."""
    if isinstance(item, Element) and item.text is None:
        return item.inner.strip(), False
    return text, False


def _typed(dtype: DataType, formats: TextFormats) -> Callable[[str | None, Item, XmlRules], tuple[Any, bool]]:
    parse: Callable[[str], Any] = value_parser(dtype, formats)
    if dtype.typeName() == "boolean":
        parse = {"true": True, "1": True, "false": False, "0": False}.get

    def typed(text: str | None, item: Item, _: XmlRules) -> tuple[Any, bool]:
        if not text:
            return None, isinstance(item, Element) and item.text is None
        value = parse(text.lower() if dtype.typeName() == "boolean" else text)
        return value, value is None

    return typed


def _struct(dtype: Any, formats: TextFormats, rules: XmlRules) -> Read:
    read_record = XmlValueReader.of({f.name: f.dataType for f in dtype.fields}, formats, rules)

    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            item = Element("", {}, b"", 0, 0, [item])
        result = read_record(rules.fields(item))
        rest = join_json_object(result.rest.items()) if result.rest else None
        return Outcome(result.value, rest, result.misfit)

    return read


def _map(item_of: Read, rules: XmlRules) -> Read:
    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            return Outcome(None, rescued_xml_value([item], rules), misfit=True)
        outcomes = {name: item_of(items[-1]) for name, items in rules.fields(item).items()}
        whole = _array_outcome(list(outcomes.values()), [item], rules)
        value = [(name, outcome.value) for name, outcome in outcomes.items()]
        return whole._replace(value=None if whole.misfit else value)

    return read


@dataclass(frozen=True)
class XmlRecordValues:
    """Values by column, rescued JSON texts by field, and the names of unknown fields."""

    value: dict[str, Any]
    rest: dict[str, str]
    unknown: list[str]
    misfit: bool


@dataclass(frozen=True)
class XmlValueReader:
    """Maps fields to the columns of the schema."""

    types: Mapping[str, DataType]
    reads: Mapping[str, Read]
    rules: XmlRules
    spelled: Mapping[str, str]
    wildcard: str | None = None

    @classmethod
    def of(cls, types: Mapping[str, DataType], formats: TextFormats, rules: XmlRules) -> XmlValueReader:
        """Create a reader for these columns."""
        items = {n: t.elementType if t.typeName() == "array" else t for n, t in types.items()}  # type: ignore[attr-defined]
        reads = {name: xml_value_reader(dtype, formats, rules) for name, dtype in items.items()}
        any_column = items.get(rules.wildcard)
        wildcard = rules.wildcard if any_column is not None and any_column.typeName() == "string" else None
        return cls(types, reads, rules, {name.lower(): name for name in types}, wildcard)

    def __call__(self, fields: Mapping[str, list[Item]]) -> XmlRecordValues:
        """Map the fields of a record. Of repeated elements for a scalar column the last one is used."""
        result = XmlRecordValues({}, {}, [], misfit=False)
        misfit = False
        if self.wildcard is not None:
            fields = self._collect_unmatched(fields, self.wildcard)
        for key, items in fields.items():
            name = key if key in self.types else self.spelled.get(key.lower())
            if name is None or (name != key and self.rules.case_sensitive):
                if name is None:
                    result.unknown.append(key)
                result.rest[key] = rescued_xml_value(items, self.rules)
                continue
            outcome = self._read(name, items)
            result.value[name] = outcome.value
            misfit = misfit or outcome.misfit
            if outcome.rest is not None:
                result.rest[key] = outcome.rest
        return replace(result, misfit=misfit)

    def _collect_unmatched(self, fields: Mapping[str, list[Item]], wildcard: str) -> Mapping[str, list[Item]]:
        """Move the elements that match no column to the wildcard column, in document order."""
        matched: dict[str, list[Item]] = {}
        collected: list[Element] = []
        for key, items in fields.items():
            name = key if key in self.types else self.spelled.get(key.lower())
            is_column = name is not None and (name == key or not self.rules.case_sensitive)
            if is_column and name != wildcard:
                matched[key] = items
                continue
            collected += (item for item in items if isinstance(item, Element))
            texts: list[Item] = [item for item in items if isinstance(item, str)]
            if texts:
                matched[key] = texts
        if collected:
            collected.sort(key=lambda element: element.start)
            matched[wildcard] = [*matched.get(wildcard, ()), *collected]
        return matched

    def _read(self, name: str, items: list[Item]) -> Outcome:
        read = self.reads[name]
        if self.types[name].typeName() == "array":
            return _array_outcome([read(item) for item in items], items, self.rules)
        outcome = read(items[-1])
        return outcome if len(items) == 1 else outcome._replace(rest=rescued_xml_value(items, self.rules))
